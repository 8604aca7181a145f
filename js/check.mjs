#!/usr/bin/env node
// Compares the port with a bundle's golden vectors in Node: node check.mjs BUNDLE

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as ort from "onnxruntime-web/wasm";
import { compare, readGolden } from "./src/golden.js";
import { Keyboard } from "./src/keyboard.js";

const folder = process.argv[2];
if (!folder) {
  console.error("usage: node check.mjs BUNDLE");
  process.exit(2);
}

async function read(name) {
  const { buffer, byteOffset, byteLength } = await readFile(join(folder, name));
  return buffer.slice(byteOffset, byteOffset + byteLength); // small files share a pool
}

ort.env.wasm.numThreads = 1;
const keyboard = await Keyboard.load(read, ort);
const report = await compare(keyboard, await readGolden(keyboard));
for (const failure of report.failures.slice(0, 20)) console.error(failure);
console.log(JSON.stringify({ ...report, failures: report.failures.length }));
process.exitCode = report.failures.length ? 1 : 0;
