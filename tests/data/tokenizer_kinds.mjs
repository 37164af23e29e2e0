// Reads {names, texts} from the file REQUEST and prints {name: [ids of each text]}, by llama.cpp's own tokenizer of
// NAME.gguf beside it, control tokens not parsed. `tokenizer_kinds.py` calls it.

import fs from "node:fs";
import path from "node:path";
import {getLlama} from "node-llama-cpp";

const request = process.argv[2];
const {names, texts} = JSON.parse(fs.readFileSync(request, "utf8"));
const llama = await getLlama({gpu: false, logLevel: "error"});
const ids = {};
for (const name of names) {
    const model = await llama.loadModel({modelPath: path.join(path.dirname(request), `${name}.gguf`), vocabOnly: true});
    ids[name] = texts.map((text) => (text === "" ? [] : Array.from(model.tokenize(text, false))));
    await model.dispose();
}
process.stdout.write(JSON.stringify(ids), () => process.exit(0));
