// The built wasm, as a browser would use it: `cargo build --release -p edge-solver --target
// wasm32-unknown-unknown`, then `node --test edge-worker/solver/test.mjs`.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const root = new URL("../../", import.meta.url);
const target = process.env.CARGO_TARGET_DIR ?? new URL("target", root).pathname;
const wasm = readFileSync(`${target}/wasm32-unknown-unknown/release/edge_solver.wasm`);
const { instance } = await WebAssembly.instantiate(wasm, {});
const { memory, input_ptr, solve } = instance.exports;

// The same file pins what the edge accepts: see shared-token/tests/vectors.rs.
const vectors = JSON.parse(readFileSync(new URL("shared-token/tests/vectors/pow.json", root)));

const TRIES = 4096;

/** Solves one puzzle in slices, the way the page's worker does. */
function search(puzzle, threshold) {
  for (let start = 0n; ; start += BigInt(TRIES)) {
    const nonce = solve(puzzle, threshold, start, TRIES);
    if (nonce >= 0n) return nonce;
  }
}

function put(salt) {
  new Uint8Array(memory.buffer, input_ptr(), 16).set(salt);
}

/** The definition of the contract, by another SHA-256. */
function head(salt, puzzle, nonce) {
  const message = Buffer.alloc(25);
  salt.copy(message);
  message[16] = puzzle;
  message.writeBigUInt64BE(nonce, 17);
  return createHash("sha256").update(message).digest().readBigUInt64BE();
}

test("finds exactly the nonces the edge accepts", () => {
  for (const { salt, difficulty, threshold, nonces } of vectors.solutions) {
    const bytes = Buffer.from(salt, "base64url");
    put(bytes);
    assert.equal(2n ** 64n / BigInt(difficulty), BigInt(threshold));
    nonces.forEach((expected, puzzle) => {
      const nonce = search(puzzle, BigInt(threshold));
      assert.equal(nonce.toString(), expected);
      assert.ok(head(bytes, puzzle, nonce) < BigInt(threshold));
    });
  }
});

test("gives up after its tries, and at the largest nonce", () => {
  assert.equal(solve(0, 0n, 0n, 1000), -1n);
  assert.equal(solve(0, 2n ** 64n - 1n, 2n ** 53n, 1000), -1n);
});

test("takes thresholds above 2^63, which JavaScript passes as negative", () => {
  assert.equal(solve(0, BigInt.asIntN(64, 2n ** 64n - 1n), 7n, 1), 7n);
});

test("refuses a puzzle that is not a byte", () => {
  assert.equal(solve(256, 2n ** 64n - 1n, 0n, 1000), -1n);
});

test("needs nothing from its host and stays a few kilobytes", () => {
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(wasm)), []);
  assert.ok(wasm.length < 16 * 1024, `${wasm.length} bytes`);
});
