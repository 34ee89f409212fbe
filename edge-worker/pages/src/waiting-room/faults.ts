// Which sentence a failure deserves. Each cause has its own: cookies, clock, policy and wasm look the
// same from far away ("endless refresh"), and a fan can only mend what is named.

import { CryptoMissing, StorageRefused } from "../identity/store";
import { SolverFault } from "../solver/pool";
import type { Problem } from "../wire/problem";
import { JoinRefused } from "./join";
import type { Fault } from "./model";

/** `null`: nothing to say, the fan left on purpose. */
export function faultOf(cause: unknown): Fault | null {
  if (cause instanceof JoinRefused) return faultOfProblem(cause.problem);
  if (cause instanceof CryptoMissing) return { key: "fault.crypto" };
  if (cause instanceof StorageRefused) return { key: "fault.storage" };
  if (cause instanceof SolverFault) {
    switch (cause.reason) {
      case "canceled": return null;
      case "wasm": return { key: "fault.wasm" };
      case "fetch": return { key: "fault.network" };
      case "worker": return { key: "fault.worker" };
    }
  }
  return { key: "fault.other", values: { slug: cause instanceof Error ? cause.name : "unknown" } };
}

export function faultOfProblem(problem: Problem): Fault {
  switch (problem.slug) {
    case "network":
    case "timeout": return { key: "fault.network" };
    case "proof-of-possession-failed": return { key: "fault.proof" };
    case "challenge-expired": return { key: "fault.expired" };
    case "too-many-attempts": return { key: "fault.attempts" };
    case "account-required": return { key: "fault.account" };
    case "denied": return { key: "fault.denied" };
    case "registration-not-open": return { key: "fault.notOpen" };
    case "room-closed": return { key: "room.closed.lead" };
    case "room-unavailable": return { key: "fault.unavailable" };
    case "place-moved": return { key: "fault.moved" };
    default:
      if (problem.status === 404) return { key: "fault.noRoom" };
      if (problem.status >= 500) return { key: "fault.unavailable" };
      return { key: "fault.other", values: { slug: problem.slug } };
  }
}
