import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const assets = join(dirname(fileURLToPath(import.meta.url)), "..", "dist", "assets");
const built = await readdir(assets).catch(() => []);
const find = (pattern) => built.find((name) => pattern.test(name));

/** The built worker file, run against Node's WebAssembly in a pretended worker. */
async function startWorker(fetchWasm) {
  const code = await readFile(join(assets, find(/^solver-worker\..*\.js$/)), "utf8");
  const self = {};
  const reports = [];
  self.postMessage = (message) => reports.push(message);
  new Function("self", "fetch", code)(self, fetchWasm);
  return { ask: (order) => self.onmessage({ data: order }), reports };
}

const order = { salt: new Uint8Array(16).fill(9), puzzle: 3, difficulty: 1500, wasmUrl: "/assets/solver.wasm" };

test("the built worker solves a puzzle as the contract defines it", { skip: built.length === 0 && "the pages are not built" }, async () => {
  const wasm = await readFile(join(assets, find(/^solver\..*\.wasm$/)));
  const worker = await startWorker(async () => new Response(wasm));
  await worker.ask(order);
  const [report] = worker.reports;
  assert.equal(report.kind, "solved");
  const nonce = Buffer.alloc(8);
  nonce.writeBigUInt64BE(BigInt(report.nonce));
  const digest = createHash("sha256").update(Buffer.concat([order.salt, Buffer.from([3]), nonce])).digest();
  assert.ok(digest.readBigUInt64BE() < 2n ** 64n / 1500n);
});

test("a worker without its wasm says which failure it was", { skip: built.length === 0 && "the pages are not built" }, async () => {
  const missing = await startWorker(async () => new Response("", { status: 404 }));
  await missing.ask(order);
  assert.equal(missing.reports[0].reason, "fetch");
  const broken = await startWorker(async () => new Response(new Uint8Array([1, 2, 3])));
  await broken.ask(order);
  assert.equal(broken.reports[0].reason, "wasm");
});
