// What the page and its solver workers say to each other.

export interface SolveOrder {
  salt: Uint8Array;
  puzzle: number;
  difficulty: number;
  wasmUrl: string;
}

export type SolverReport =
  | { kind: "solved"; puzzle: number; nonce: string }
  | { kind: "failed"; reason: "wasm" | "fetch"; detail: string };

const U64_END = 1n << 64n;

/** ⌊2^64 / difficulty⌋, kept in 64 bits: difficulty 1 accepts (all but one of) every digest. */
export function threshold(difficulty: number): bigint {
  const quotient = U64_END / BigInt(difficulty);
  return quotient >= U64_END ? U64_END - 1n : quotient;
}
