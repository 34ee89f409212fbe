// The addresses of the solver's files, put in by the build (they carry content hashes).

import type { SolverFiles } from "./pool";

declare const SOLVER_WORKER_URL: string;
declare const SOLVER_WASM_URL: string;

export const solverFiles: SolverFiles = { worker: SOLVER_WORKER_URL, wasm: SOLVER_WASM_URL };
