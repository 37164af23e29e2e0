// Pyodide in Node, a peer of sandbox.py: node pyodide.mjs ROWS-FOLDER, beside a `node_modules` that holds pyodide.
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {createInterface} from "node:readline";

const rows = process.argv[2];
const require = createRequire(process.cwd() + "/");
const {loadPyodide, version} = require("pyodide");
const quiet = {stdout: () => {}, stderr: () => {}};
const next = await loadPyodide(quiet);
next.runPython("x = 0");
console.log("ready", version);
for await (const row of createInterface({input: process.stdin})) {
    const code = readFileSync(`${rows}/${row}.py`, "utf8");
    const start = performance.now();
    try {
        const python = row === "next" ? next : await loadPyodide(quiet);
        if (row !== "next") await python.loadPackagesFromImports(code, {errorCallback: () => {}, messageCallback: () => {}});
        python.runPython(code);
        console.log((performance.now() - start) / 1e3);
    } catch (error) {
        const lines = String(error.message).trim().split("\n");
        console.log("-", lines.find(line => /^\w+Error: /.test(line)) ?? lines.at(-1));
    }
}
process.exit(0);
