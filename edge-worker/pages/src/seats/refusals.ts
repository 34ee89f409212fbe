// What a refused hold means to the fan.

import type { Key } from "../i18n/en";
import { type Problem, strings } from "../wire/problem";
import { shortNames } from "./names";
import type { Plan } from "./plan";

export interface Refusal {
  key: Key;
  values: Record<string, string | number>;
  /** Seats that leave the choice. */
  taken: number[];
  alternatives: number[][];
  /** Only the waiting room helps. */
  toRoom: boolean;
}

export function explain(problem: Problem, plan: Plan, asked: number[]): Refusal {
  const plain: Refusal = { key: "fault.other", values: { slug: problem.slug }, taken: [], alternatives: [], toRoom: false };
  switch (problem.slug) {
    case "seats-unavailable":
    case "unknown-seats": {
      const named = plan.indicesOf(strings(problem.body["taken"] ?? problem.body["seat_ids"]));
      const taken = named.length > 0 ? named : asked;
      const offered = Array.isArray(problem.body["alternatives"]) ? problem.body["alternatives"] : [];
      return {
        ...plain, key: "seats.taken", values: { n: taken.length, seats: shortNames(plan, taken) }, taken,
        alternatives: offered.map((ids: unknown) => plan.indicesOf(strings(ids))).filter((seats) => seats.length > 0),
      };
    }
    case "limit-exceeded":
      return { ...plain, key: "seats.limit", values: { limit: count(problem.body["limit"]), used: count(problem.body["used"]) } };
    case "orphan-seat": return { ...plain, key: "seats.orphan" };
    case "sold-out": return { ...plain, key: "room.soldOut.lead" };
    case "onsale-not-started": return { ...plain, key: "seats.notStarted" };
    case "admission-required": return { ...plain, key: "seats.notAdmitted", toRoom: true };
    case "proof-of-possession-failed": return { ...plain, key: "fault.proof" };
    default:
      if (problem.status === 401 || problem.status === 403) return { ...plain, key: "seats.sessionOver", toRoom: true };
      if (problem.status === 0) return { ...plain, key: "fault.network" };
      return problem.status >= 500 || problem.status === 429 ? { ...plain, key: "seats.busy" } : plain;
  }
}

function count(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
