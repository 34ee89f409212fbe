// What is worth interrupting a screen-reader user for: few things, each once.

import type { Key } from "../i18n/en";
import { type Model, aheadOf } from "./model";

export interface Saying {
  key: Key;
  values?: Record<string, string | number>;
}

/** Minutes before the opening that are announced; a countdown by the second is torture. */
const OPENING_MINUTES = [30, 10, 5, 1];
/** People ahead at which the line is announced. */
const AHEAD_STEPS = [100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 100, 50, 20, 10, 5];

/** Remembers what was said, so that nothing is said twice, and says at most one thing at a time. */
export class Milestones {
  #said = new Set<string>();
  #joined = false;
  #lastAhead: number | null = null;

  next(model: Model, now: number): Saying | null {
    const { room, activity, fault } = model;
    if (fault !== null) return this.#once(`fault ${fault.key}`, fault);
    this.#said.forEach((said) => said.startsWith("fault ") && this.#said.delete(said));
    if (activity.kind === "in") return this.#once("in", { key: "room.in.head" });
    if (activity.kind === "asking") return this.#once("turn", { key: "say.turn" });
    if (activity.kind === "joining") return this.#once("joining", { key: "say.joining" });
    if (model.hasTicket && !this.#joined) {
      this.#joined = true;
      return { key: "say.joined" };
    }
    if (room === null) return null;
    return this.#phase(model) ?? this.#opening(model, now) ?? this.#line(model);
  }

  #phase({ room, hasTicket }: Model): Saying | null {
    if (room?.phase !== "paused") this.#said.delete("paused"); // A second pause is news again.
    switch (room?.phase) {
      case "registration": return hasTicket ? null : this.#once("line open", { key: "say.lineOpen" });
      case "drawing": return this.#once("drawing", { key: "say.phase.drawing" });
      case "paused": return this.#once("paused", { key: "room.paused.head" });
      case "returns_only": return this.#once("returns", { key: "room.returns.head" });
      case "sold_out": return this.#once("sold out", { key: "room.soldOut.head" });
      case "closed": return this.#once("closed", { key: "room.closed.head" });
      default: return null;
    }
  }

  #opening({ room }: Model, now: number): Saying | null {
    if (room?.phase !== "registration") return null;
    const minutes = (Date.parse(room.onsale_at) - now) / 60_000;
    const step = OPENING_MINUTES.filter((mark) => minutes <= mark).at(-1);
    // Somebody who arrives half way through a step has just read the clock.
    if (step === undefined || minutes < step - 0.5 || minutes <= 0) return null;
    return this.#once(`opens ${step}`, { key: "say.opens.minutes", values: { n: step } });
  }

  #line(model: Model): Saying | null {
    const ahead = aheadOf(model);
    const position = model.standing?.position ?? null;
    if (ahead === null || position === null) return null;
    const before = this.#lastAhead;
    this.#lastAhead = ahead;
    if (ahead === 0 && before === null) return this.#once("next", { key: "say.next" });
    if (before === null) return { key: "say.position", values: { place: position + 1, ahead } };
    if (ahead === 0 && before > 0) return this.#once("next", { key: "say.next" });
    const crossed = AHEAD_STEPS.find((step) => before > step && ahead <= step);
    return crossed === undefined ? null : { key: "say.ahead", values: { n: ahead } };
  }

  #once(name: string, saying: Saying): Saying | null {
    if (this.#said.has(name)) return null;
    this.#said.add(name);
    return saying;
  }
}
