// The seats a fan has chosen, and those already held for them. Both views change it; it tells them.

import type { Availability } from "./availability";
import type { Plan } from "./plan";

export type Toggled = "added" | "removed" | "full" | "unavailable";

export class Choice {
  readonly #chosen = new Set<number>();
  readonly #held = new Set<number>();
  readonly #listeners: (() => void)[] = [];
  /** Tickets this fan may have; `null` while unknown (the server decides in any case). */
  limit: number | null = null;

  constructor(private readonly plan: Plan, private readonly availability: Availability) {}

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  has(seat: number): boolean {
    return this.#chosen.has(seat);
  }

  /** Free to this fan: available, or in a hold of their own. */
  isFree(seat: number): boolean {
    return this.availability.isAvailable(seat) || this.#held.has(seat);
  }

  toggle(seat: number): Toggled {
    if (this.#chosen.delete(seat)) return this.#tell("removed");
    if (!this.isFree(seat)) return "unavailable";
    if (this.limit !== null && this.#chosen.size >= this.limit) return "full";
    this.#chosen.add(seat);
    return this.#tell("added");
  }

  set(seats: readonly number[]): void {
    this.#chosen.clear();
    for (const seat of seats) this.#chosen.add(seat);
    this.#tell("added");
  }

  remove(seats: readonly number[]): void {
    for (const seat of seats) this.#chosen.delete(seat);
    this.#tell("removed");
  }

  setHeld(seats: readonly number[]): void {
    this.#held.clear();
    for (const seat of seats) this.#held.add(seat);
    this.#tell("added");
  }

  get held(): number[] {
    return [...this.#held];
  }

  /** In reading order, whatever the order of choosing. */
  get seats(): number[] {
    return [...this.#chosen].sort((a, b) => a - b);
  }

  get size(): number {
    return this.#chosen.size;
  }

  get total(): number {
    return this.seats.reduce((sum, seat) => sum + (this.plan.priceOf(seat) ?? 0), 0);
  }

  /** Chosen seats that others took meanwhile; they leave the choice. */
  dropLost(changed: readonly number[]): number[] {
    const lost = changed.filter((seat) => this.#chosen.has(seat) && !this.isFree(seat));
    if (lost.length > 0) this.remove(lost);
    return lost;
  }

  #tell(toggled: Toggled): Toggled {
    for (const listener of this.#listeners) listener();
    return toggled;
  }
}
