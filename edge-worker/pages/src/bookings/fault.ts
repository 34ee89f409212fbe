// Why the bookings did not come.

import type { Key } from "../i18n/en";
import type { Problem } from "../wire/problem";

export function fault(problem: Problem): Key {
  if (problem.status === 401) return "fault.proof";
  return problem.status === 0 ? "fault.network" : "bookings.failed";
}
