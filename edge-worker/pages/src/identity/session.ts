// A shopper's session as the page knows it: the token kept here (for `ath`) and its end.

import { claimsOf } from "../base/base64url";
import type { ServerClock } from "../base/clock";
import { ticking } from "../base/duration";
import type { Api, Call } from "../wire/api";
import type { RoomDocument } from "../wire/types";
import type { EventStore } from "./store";

/** Sets the clock by the room's document, and keeps what the edge reissues. */
export async function enterShop(api: Api, store: EventStore): Promise<RoomDocument | null> {
  api.onSession = (token) => store.put("session", token);
  const room = await api.call<RoomDocument>({ path: `/v1/events/${store.event}/room` });
  return room.ok ? room.body : null;
}

/** What a shopper's call carries: a proof by their key and, while they have one, their session. */
export async function asShopper(store: EventStore): Promise<Pick<Call, "proof" | "session">> {
  const [identity, session] = await Promise.all([store.identity(), store.get("session")]);
  return session === undefined ? { proof: { identity } } : { proof: { identity, token: session }, session };
}

/** When the session ends, in server milliseconds; null without one. */
export async function sessionEnd(store: EventStore): Promise<number | null> {
  const token = await store.get("session");
  const exp = token === undefined ? undefined : claimsOf(token)?.["exp"];
  return typeof exp === "number" ? exp * 1000 : null;
}

/** Minutes that are announced before an end. */
const MINUTES_SAID = [5, 2, 1];
const LATE_BY_MS = 20_000;

/** A deadline that ticks on the page, is announced at few moments, and ends once. */
export class Deadline {
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #said = new Set<number>();
  #over = false;

  constructor(
    private readonly clock: ServerClock, private until: number,
    private readonly on: { tick(text: string): void; minutes(n: number): void; over(): void },
  ) {
    this.#timer = setInterval(() => this.#tick(), 1_000);
    this.#tick();
  }

  moveTo(until: number): void {
    this.until = until;
    this.#over = false;
    this.#said.clear();
    this.#tick();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    const left = this.until - this.clock.now();
    this.on.tick(ticking(left));
    for (const minutes of MINUTES_SAID) {
      const due = left <= minutes * 60_000 && left > minutes * 60_000 - LATE_BY_MS;
      if (due && !this.#said.has(minutes)) {
        this.#said.add(minutes);
        this.on.minutes(minutes);
      }
    }
    if (left <= 0 && !this.#over) {
      this.#over = true;
      this.on.over();
    }
  }
}
