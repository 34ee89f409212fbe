// One solver thread: our wasm's search loop, one puzzle at a time. It is a same-origin file, since
// the page's policy refuses workers from blobs.

import { type SolveOrder, type SolverReport, threshold } from "./protocol";

interface Solver {
  memory: WebAssembly.Memory;
  input_ptr(): number;
  solve(puzzle: number, threshold: bigint, start: bigint, tries: number): bigint;
}

/** Hashes between two looks at the outcome: some 10 ms on a slow phone, so nothing is wasted. */
const TRIES_PER_SLICE = 16_384;

let loading: Promise<Solver> | null = null;

function report(message: SolverReport): void {
  self.postMessage(message);
}

async function load(url: string): Promise<Solver> {
  const response = await fetch(url, { credentials: "same-origin" });
  if (!response.ok) throw new TypeError(`the solver answered ${response.status}`);
  const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), {});
  return instance.exports as unknown as Solver;
}

function solve(solver: Solver, order: SolveOrder): bigint {
  new Uint8Array(solver.memory.buffer, solver.input_ptr(), order.salt.length).set(order.salt);
  const limit = BigInt.asIntN(64, threshold(order.difficulty));
  let start = 0n;
  for (;;) {
    const nonce = solver.solve(order.puzzle, limit, start, TRIES_PER_SLICE);
    if (nonce >= 0n) return nonce;
    start += BigInt(TRIES_PER_SLICE);
  }
}

self.onmessage = async (event: MessageEvent<SolveOrder>) => {
  const order = event.data;
  let solver: Solver;
  try {
    loading ??= load(order.wasmUrl);
    solver = await loading;
  } catch (cause) {
    const fetching = cause instanceof TypeError;
    report({ kind: "failed", reason: fetching ? "fetch" : "wasm", detail: String(cause) });
    return;
  }
  report({ kind: "solved", puzzle: order.puzzle, nonce: solve(solver, order).toString() });
};
