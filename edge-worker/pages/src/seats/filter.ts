// What a fan wants to see: a price category, wheelchair places, only what is free.

import { ACCESSIBLE, type Plan } from "./plan";

export interface Filter {
  /** Index of a category, or null for any. */
  category: number | null;
  accessibleOnly: boolean;
  availableOnly: boolean;
}

export const EVERYTHING: Filter = { category: null, accessibleOnly: false, availableOnly: true };

/** Availability aside: the list hides what is taken if asked to, the map always shows it. */
export function matches(plan: Plan, filter: Filter, seat: number): boolean {
  return (filter.category === null || plan.category[seat] === filter.category)
    && (!filter.accessibleOnly || (plan.flags[seat]! & ACCESSIBLE) !== 0);
}
