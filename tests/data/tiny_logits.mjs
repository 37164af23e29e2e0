// Writes tiny_logits.json: what llama.cpp computes of the files that the test `tiny_models_are_written` leaves in FOLDER.
//
//     npm install node-llama-cpp && node tiny_logits.mjs FOLDER > tiny_logits.json

import fs from "node:fs";
import path from "node:path";
import {getLlama} from "node-llama-cpp";

const folder = process.argv[2];
const prompt = Array.from({length: 24}, (_, i) => 2 + ((i * 37) % 256));
const llama = await getLlama({gpu: false, logLevel: "error"});
const lines = [];
for (const file of fs.readdirSync(folder).sort()) {
    const model = await llama.loadModel({modelPath: path.join(folder, file)});
    const context = await model.createContext({contextSize: 64, flashAttention: false});
    const ask = [...prompt.slice(0, -1), [prompt.at(-1), {generateNext: {logits: true}}], [99, {generateNext: {logits: true}}]];
    const results = (await context.getSequence().controlledEvaluate(ask)).filter((result) => result != null);
    const logits = results.map(({next}) => Array.from({length: 258}, (_, id) => Number(next.logits.get(id).toFixed(4))));
    lines.push(`${JSON.stringify(path.basename(file, ".gguf"))}: ${JSON.stringify(logits)}`);
    await context.dispose();
    await model.dispose();
}
console.log(`{\n${lines.join(",\n")}\n}`);
process.exit(0);
