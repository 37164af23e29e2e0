// llama.cpp by way of node-llama-cpp: node llama.mjs FILE THREADS PROMPT REPLY ROUNDS
import {getLlama} from "node-llama-cpp";

const [file, threads, prompt, reply, rounds] = process.argv.slice(2).map((word, index) => index ? Number(word) : word);
const llama = await getLlama({gpu: false, build: "never", maxThreads: threads, logLevel: "error"});
const start = performance.now();
const model = await llama.loadModel({modelPath: file});
const context = await model.createContext({contextSize: prompt + reply + 64, threads, batchSize: prompt});
const load = performance.now() - start;
const ids = [...Array(prompt).keys()].map(index => 20 + index * 7919 % 40000);

async function round(reply) {
    const sequence = context.getSequence();
    const began = performance.now();
    let first, said = 0;
    for await (const _ of sequence.evaluate(ids, {temperature: 0, yieldEogToken: true})) {
        first ??= performance.now();
        if (++said > reply) break;
    }
    const end = performance.now();
    await sequence.dispose();
    return {first: first - began, decode: reply / (end - first) * 1e3};
}

const median = numbers => numbers.sort((a, b) => a - b)[numbers.length >> 1];
await round(8);
const all = [];
for (let n = 0; n < rounds; n++) all.push(await round(reply));
const first = median(all.map(one => one.first));
console.log(JSON.stringify({
    load_ms: load, prefill_tokens_s: prompt / first * 1e3, first_token_ms: first,
    decode_tokens_s: median(all.map(one => one.decode)), peak_mb: Math.round(process.resourceUsage().maxRSS * 1024 / 1e6),
}));
process.exit(0);
