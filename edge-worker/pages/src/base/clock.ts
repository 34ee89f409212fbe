// The server's clock, as seen from a browser whose own clock may be wrong.
//
// An answer received at local time r that says "server time s" proves only that the server's clock
// showed at least s at r: the answer may have stood in a cache or on the wire. So every sample is a
// lower bound of the offset and the largest recent one is the best; the estimate is never ahead.

/** Samples kept: old ones leave, so that a slow drift of the local clock is followed. */
const SAMPLES_KEPT = 12;
/** A sample this far below the estimate is no stale document (the edge serves none older than 30 s):
 * the local clock was set forward, so the old samples are void. */
const CLOCK_SET_MS = 60_000;
/** DPoP proofs are accepted within 60 s; beyond this we tell the fan that the clock is off. */
export const NOTABLE_SKEW_MS = 60_000;

export class ServerClock {
  #samples: number[] = [];

  constructor(private readonly local: () => number = () => Date.now()) {}

  observe(serverTime: string | number): void {
    const server = typeof serverTime === "number" ? serverTime : Date.parse(serverTime);
    if (!Number.isFinite(server)) return;
    const sample = server - this.local();
    if (this.#samples.length > 0 && this.offset() - sample > CLOCK_SET_MS) this.#samples = [];
    this.#samples.push(sample);
    if (this.#samples.length > SAMPLES_KEPT) this.#samples.shift();
  }

  /** Milliseconds to add to the local clock; 0 until the server has been heard. */
  offset(): number {
    return this.#samples.length === 0 ? 0 : Math.max(...this.#samples);
  }

  now(): number {
    return this.local() + this.offset();
  }

  seconds(): number {
    return Math.floor(this.now() / 1000);
  }
}
