// Holds over the wire. One idempotency key belongs to one selection until the server has decided it:
// a lost answer, a reload or an impatient second press asks for the same hold, never for a second.

import { asShopper } from "../identity/session";
import type { EventStore } from "../identity/store";
import type { Answer, Api } from "../wire/api";
import { pause } from "../base/dom";
import { isTransient } from "../wire/problem";
import type { Hold } from "../wire/types";

/** Tries of an undecided request, the first included. */
const TRIES_MAX = 4;

export class Holding {
  constructor(private readonly api: Api, private readonly store: EventStore) {}

  async mine(): Promise<Hold[]> {
    const answer = await this.api.call<Hold[] | { holds?: Hold[] }>({ path: `${this.#base()}/mine`, ...(await asShopper(this.store)) });
    if (!answer.ok) return [];
    return Array.isArray(answer.body) ? answer.body : answer.body.holds ?? [];
  }

  async place(seatIds: string[]): Promise<Answer<Hold>> {
    const name = `fairgate-hold-${this.store.event}-${[...seatIds].sort().join(" ")}`;
    const key = keptKey(name);
    for (let tried = 1; ; tried++) {
      const answer = await this.#write<Hold>("POST", this.#base(), { seat_ids: seatIds }, { "Idempotency-Key": key });
      if (answer.ok || !isTransient(answer.problem)) {
        forgetKey(name);
        return answer;
      }
      if (tried >= TRIES_MAX) return answer;
      await pause(answer.problem.retryAfterMs ?? 500 * 2 ** tried * (0.75 + Math.random() / 2));
    }
  }

  extend(holdId: string): Promise<Answer<Hold>> {
    return this.#write<Hold>("POST", `${this.#base()}/${encodeURIComponent(holdId)}/extend`);
  }

  release(holdId: string): Promise<Answer<void>> {
    return this.#write<void>("DELETE", `${this.#base()}/${encodeURIComponent(holdId)}`);
  }

  async #write<T>(method: "POST" | "DELETE", path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
    return this.api.call<T>({ method, path, body, headers, ...(await asShopper(this.store)) });
  }

  #base(): string {
    return `/v1/events/${this.store.event}/holds`;
  }
}

const unkept = new Map<string, string>();

function keptKey(name: string): string {
  try {
    const known = sessionStorage.getItem(name);
    if (known !== null) return known;
    const fresh = crypto.randomUUID();
    sessionStorage.setItem(name, fresh);
    return fresh;
  } catch {
    const fresh = unkept.get(name) ?? crypto.randomUUID();
    unkept.set(name, fresh);
    return fresh;
  }
}

function forgetKey(name: string): void {
  unkept.delete(name);
  try {
    sessionStorage.removeItem(name);
  } catch {
    // It was never kept there.
  }
}
