// Which seat is under a finger: a grid of buckets, so that a tap looks at a handful of seats.

import type { Plan } from "./plan";

export class SeatGrid {
  readonly #buckets = new Map<number, number[]>();
  readonly #cell: number;

  constructor(private readonly plan: Plan) {
    this.#cell = plan.spacing * 4;
    for (let seat = 0; seat < plan.count; seat++) {
      const key = this.#key(Math.floor(plan.x[seat]! / this.#cell), Math.floor(plan.y[seat]! / this.#cell));
      const bucket = this.#buckets.get(key);
      if (bucket === undefined) this.#buckets.set(key, [seat]);
      else bucket.push(seat);
    }
  }

  /** The nearest seat within `reach` plan units, if any. */
  nearest(x: number, y: number, reach: number): number | null {
    let best: number | null = null;
    let bestSquared = reach * reach;
    const [column, line, span] = [Math.floor(x / this.#cell), Math.floor(y / this.#cell), Math.ceil(reach / this.#cell)];
    for (let i = column - span; i <= column + span; i++) {
      for (let j = line - span; j <= line + span; j++) {
        for (const seat of this.#buckets.get(this.#key(i, j)) ?? []) {
          const squared = (this.plan.x[seat]! - x) ** 2 + (this.plan.y[seat]! - y) ** 2;
          if (squared <= bestSquared) [best, bestSquared] = [seat, squared];
        }
      }
    }
    return best;
  }

  /** The nearest seat of all, for a tap from so far away that every seat has to be looked at. */
  nearestOfAll(x: number, y: number): { seat: number; distance: number } {
    let [seat, squared] = [0, Infinity];
    for (let other = 0; other < this.plan.count; other++) {
      const distance = (this.plan.x[other]! - x) ** 2 + (this.plan.y[other]! - y) ** 2;
      if (distance < squared) [seat, squared] = [other, distance];
    }
    return { seat, distance: Math.sqrt(squared) };
  }

  #key(column: number, line: number): number {
    return column * 65_537 + line;
  }
}
