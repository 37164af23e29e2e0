// llama.cpp's side of agreement.py: node logits.mjs FILE THREADS TOKENS STEPS BATCH, questions as a JSON list on stdin.
// It answers each question with up to TOKENS tokens, each the likeliest, and prints the ids of prompts and replies. The
// logits that each token of a reply was chosen by become rows of f32: in STEPS computed token by token, in BATCH with
// prompt and reply given at once.
import {closeSync, openSync, readFileSync, writeSync} from "node:fs";
import {getLlama, JinjaTemplateChatWrapper} from "node-llama-cpp";

const [file, threads, tokens, steps, batch] = process.argv.slice(2);
const llama = await getLlama({gpu: false, build: "never", maxThreads: Number(threads), logLevel: "error"});
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: 1024, threads: Number(threads), batchSize: 1024});
const template = model.fileInfo.metadata.tokenizer.chat_template;
const wrapper = new JinjaTemplateChatWrapper({template, trimLeadingWhitespaceInResponses: false});
const vocabulary = model.fileInfo.metadata.tokenizer.ggml.tokens.length;

// The logits after each of the last `rows` of `ids`.
async function evaluate(sequence, ids, rows) {
    const asked = {generateNext: {logits: true}};
    const items = ids.map((id, index) => index < ids.length - rows ? id : [id, asked]);
    const results = await sequence.controlledEvaluate(items);
    return results.slice(-rows).map(({next}) => {
        const row = new Float32Array(vocabulary).fill(-Infinity);
        for (const [id, logit] of next.logits) row[id] = logit;
        return row;
    });
}

const greatest = row => row.reduce((best, value, id) => value > row[best] ? id : best, 0);
const [toSteps, toBatch] = [openSync(steps, "w"), openSync(batch, "w")];
const texts = [];
for (const question of JSON.parse(readFileSync(0, "utf8"))) {
    const chatHistory = [{type: "user", text: question}, {type: "model", response: []}];
    const prompt = wrapper.generateContextState({chatHistory}).contextText.tokenize(model.tokenizer);
    const reply = [];
    let sequence = context.getSequence();
    let [row] = await evaluate(sequence, prompt, 1);
    while (true) {
        writeSync(toSteps, row);
        reply.push(greatest(row));
        if (reply.length == Number(tokens) || model.isEogToken(reply.at(-1))) break;
        [row] = await evaluate(sequence, reply.slice(-1), 1);
    }
    await sequence.dispose();
    sequence = context.getSequence();
    const all = [...prompt, ...reply.slice(0, -1)];
    for (const row of await evaluate(sequence, all, reply.length)) writeSync(toBatch, row);
    await sequence.dispose();
    texts.push({prompt, reply});
}
[toSteps, toBatch].forEach(closeSync);
console.log(JSON.stringify(texts));
process.exit(0);
