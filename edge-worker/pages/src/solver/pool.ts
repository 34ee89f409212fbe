// Solves a challenge on up to four workers, handing each the next puzzle when it is free, so that a
// slow core costs one puzzle and not a quarter of them.

import type { SolveOrder, SolverReport } from "./protocol";

const WORKERS_MAX = 4;

export class SolverFault extends Error {
  constructor(readonly reason: "wasm" | "fetch" | "worker" | "canceled", detail: string) {
    super(detail);
  }
}

export interface Task {
  salt: Uint8Array;
  puzzles: number;
  difficulty: number;
}

export interface SolverFiles {
  worker: string;
  wasm: string;
}

/** Resolves to one nonce a puzzle, in order; stops all workers when `signal` says so. */
export function solveAll(
  task: Task, files: SolverFiles, onProgress: (solved: number) => void, signal: AbortSignal,
): Promise<string[]> {
  if (typeof WebAssembly !== "object") return Promise.reject(new SolverFault("wasm", "no WebAssembly"));
  if (typeof Worker !== "function") return Promise.reject(new SolverFault("worker", "no workers"));
  return new Promise((resolve, reject) => {
    const nonces: string[] = new Array<string>(task.puzzles);
    const workers: Worker[] = [];
    let next = 0;
    let solved = 0;
    const stop = (): void => {
      for (const worker of workers) worker.terminate();
      signal.removeEventListener("abort", cancel);
    };
    const fail = (fault: SolverFault): void => {
      stop();
      reject(fault);
    };
    const cancel = (): void => fail(new SolverFault("canceled", "the page went away"));
    const hand = (worker: Worker): void => {
      if (next >= task.puzzles) return;
      const order: SolveOrder = { salt: task.salt, puzzle: next++, difficulty: task.difficulty, wasmUrl: files.wasm };
      worker.postMessage(order);
    };
    const hear = (worker: Worker, report: SolverReport): void => {
      if (report.kind === "failed") return fail(new SolverFault(report.reason, report.detail));
      nonces[report.puzzle] = report.nonce;
      solved += 1;
      onProgress(solved);
      if (solved < task.puzzles) return hand(worker);
      stop();
      resolve(nonces);
    };
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      for (let i = 0; i < Math.min(WORKERS_MAX, navigator.hardwareConcurrency || 2, task.puzzles); i++) {
        const worker = new Worker(files.worker);
        workers.push(worker);
        worker.onmessage = (event: MessageEvent<SolverReport>) => hear(worker, event.data);
        worker.onerror = (event) => fail(new SolverFault("worker", event.message ?? "the worker did not start"));
        hand(worker);
      }
    } catch (cause) {
      fail(new SolverFault("worker", String(cause)));
    }
  });
}
