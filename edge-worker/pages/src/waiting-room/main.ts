// The waiting room: follows the room's document, joins when asked to, keeps the place, asks for
// admission when it is its turn, and goes where the fan was going.

import { ServerClock, NOTABLE_SKEW_MS } from "../base/clock";
import { pauseOrReturn } from "../base/dom";
import { eventOf, returnTarget, seatsPage } from "../base/places";
import { prepare, refuse } from "../base/page";
import { currentLanguage, t } from "../i18n/language";
import { EventStore } from "../identity/store";
import { Api } from "../wire/api";
import type { RoomDocument, Standing } from "../wire/types";
import { ask, type Entered } from "./enter";
import { faultOf, faultOfProblem } from "./faults";
import { countForward, forwardedTooOften } from "./forwarding";
import { join } from "./join";
import { Milestones } from "./milestones";
import { type Action, aheadOf, mergeStanding, type Model, scene } from "./model";
import { backoffMs, nextPollMs } from "./polling";
import { RoomView } from "./view";

/** Until the room's document has told its own bounds. */
const FIRST_POLL = { floor: 2_000, ceiling: 30_000 };
const TICK_MS = 1_000;

class WaitingRoom {
  readonly #clock = new ServerClock();
  readonly #api = new Api(this.#clock);
  readonly #view: RoomView;
  readonly #milestones = new Milestones();
  readonly #model: Model = {
    room: null, hasTicket: false, standing: null, activity: { kind: "idle" }, fault: null, offline: false, continueByHand: false,
  };
  #ticket: string | null = null;
  #standingDueAt = 0;
  #failures = 0;
  #leaving = false;
  #nap = new AbortController();

  constructor(private readonly event: string, private readonly store: EventStore, private readonly life: AbortSignal) {
    this.#view = new RoomView((action) => void this.#act(action));
    const ticker = setInterval(() => this.#draw(), TICK_MS);
    life.addEventListener("abort", () => clearInterval(ticker));
  }

  async run(): Promise<void> {
    this.life.addEventListener("abort", () => this.#nap.abort());
    while (!this.life.aborted) {
      const wait = await this.#turn();
      this.#draw();
      if (this.#leaving) return;
      this.#nap = new AbortController();
      await pauseOrReturn(wait, this.#nap.signal);
    }
  }

  /** One look at the room and, with a ticket, at one's own place; answers how long to wait. */
  async #turn(): Promise<number> {
    const room = await this.#api.call<RoomDocument>({ path: `/v1/events/${this.event}/room`, signal: this.life });
    if (!room.ok) return this.#unreachable(room.problem.status, room.problem.retryAfterMs);
    this.#hear(room.body);
    await this.#recallTicket();
    if (this.#ticket === null) return nextPollMs(room.body, this.#clock.now(), null, Math.random());
    await this.#followPlace(room.body, this.#ticket);
    const asked = await this.#askIfInvited(room.body);
    return asked ?? nextPollMs(room.body, this.#clock.now(), aheadOf(this.#model), Math.random());
  }

  #hear(room: RoomDocument): void {
    this.#failures = 0;
    this.#model.offline = false;
    this.#model.room = room;
    if (this.#model.fault?.key === "fault.noRoom") this.#model.fault = null;
    if (this.#model.fault === null && Math.abs(this.#clock.offset()) > NOTABLE_SKEW_MS && !this.#model.hasTicket) {
      this.#model.fault = { key: "fault.clock", values: { n: Math.round(Math.abs(this.#clock.offset()) / 60_000) } };
    }
    this.#view.showRoom(room, currentLanguage());
  }

  #unreachable(status: number, retryAfterMs: number | null): number {
    this.#failures += 1;
    if (status === 404) this.#model.fault = { key: "fault.noRoom" };
    else this.#model.offline = true;
    const poll = this.#model.room?.poll;
    const own = backoffMs(this.#failures, poll?.floor_ms ?? FIRST_POLL.floor, poll?.ceiling_ms ?? FIRST_POLL.ceiling, Math.random());
    return Math.max(retryAfterMs ?? 0, own);
  }

  /** Another tab may have joined, or let the place go. */
  async #recallTicket(): Promise<void> {
    const ticket = (await this.store.get("ticket")) ?? null;
    if (ticket !== this.#ticket) this.#model.standing = null;
    this.#ticket = ticket;
    this.#model.hasTicket = ticket !== null;
  }

  async #followPlace(room: RoomDocument, ticket: string): Promise<void> {
    const before = room.phase === "scheduled" || room.phase === "registration" || room.phase === "drawing";
    const known = this.#model.standing?.position ?? null;
    const invited = known !== null && known < room.serving && this.#model.standing?.may_ask !== true;
    if (before || (this.#clock.now() < this.#standingDueAt && known !== null && !invited)) return;
    const me = await this.#api.call<Standing>({
      path: `/v1/events/${this.event}/queue/me`, headers: { Authorization: `Bearer ${ticket}` }, signal: this.life,
    });
    if (me.ok) {
      this.#model.standing = mergeStanding(this.#model.standing, me.body);
      this.#standingDueAt = this.#clock.now() + Math.max(me.body.poll_after_ms, room.poll.floor_ms);
    } else if (me.status === 401) {
      await this.#forget(null); // A ticket of an earlier incarnation; joining again is the way.
    } else if (me.status === 409) {
      await this.#forget(faultOfProblem(me.problem));
    }
  }

  async #askIfInvited(room: RoomDocument): Promise<number | null> {
    const position = this.#model.standing?.position ?? null;
    const open = room.phase === "open" || room.phase === "returns_only";
    const invited = position !== null && (position < room.serving || this.#model.standing?.may_ask === true);
    if (!open || !invited || this.#ticket === null) {
      if (this.#model.activity.kind === "asking") this.#model.activity = { kind: "idle" };
      return null;
    }
    if (this.#model.activity.kind !== "asking") this.#model.activity = { kind: "asking", sinceMs: this.#clock.now() };
    this.#draw();
    return this.#settle(await ask(this.#api, this.store, this.#ticket), room);
  }

  async #settle(entered: Entered, room: RoomDocument): Promise<number> {
    switch (entered.kind) {
      case "in":
        this.#goIn();
        return room.poll.ceiling_ms;
      case "wait":
        return entered.ms;
      case "elsewhere":
        this.#model.continueByHand = true;
        return room.poll.ceiling_ms;
      case "lost":
        await this.#forget({ key: entered.why === "moved" ? "fault.moved" : "room.spent" });
        return room.poll.floor_ms;
      case "ended":
        this.#model.room = { ...room, phase: entered.phase };
        this.#model.activity = { kind: "idle" };
        return room.poll.ceiling_ms;
      case "refused":
        this.#model.fault = entered.problem.status >= 400 && entered.problem.status < 500 ? faultOfProblem(entered.problem) : null;
        return Math.max(entered.problem.retryAfterMs ?? 0, room.poll.floor_ms);
    }
  }

  async #forget(fault: Model["fault"]): Promise<void> {
    await this.store.remove("ticket", "admission", "session");
    this.#ticket = null;
    Object.assign(this.#model, { hasTicket: false, standing: null, activity: { kind: "idle" }, fault } satisfies Partial<Model>);
  }

  #goIn(): void {
    if (forwardedTooOften(this.event)) {
      this.#model.continueByHand = true;
      return;
    }
    countForward(this.event);
    this.#model.activity = { kind: "in" };
    this.#leaving = true;
    this.#draw();
    location.replace(this.#target());
  }

  #target(): string {
    return returnTarget(location.search, location.origin) ?? seatsPage(this.event);
  }

  async #act(action: Action): Promise<void> {
    if (action === "continue") return location.assign(this.#target());
    if (this.#model.activity.kind !== "idle") return;
    this.#model.fault = null;
    this.#model.activity = { kind: "joining", solved: 0, puzzles: 0 };
    this.#draw();
    try {
      const joined = await join(this.#api, this.store, (solved, puzzles) => {
        this.#model.activity = { kind: "joining", solved, puzzles };
        this.#draw();
      }, this.life);
      this.#ticket = joined.ticket;
      this.#model.hasTicket = true;
    } catch (cause) {
      this.#model.fault = faultOf(cause);
    }
    this.#model.activity = { kind: "idle" };
    this.#draw();
    this.#nap.abort(); // The place is news: look at once.
  }

  #draw(): void {
    const now = this.#clock.now();
    this.#view.show(scene(this.#model, now), this.#model.fault, this.#model.offline, now);
    const saying = this.#milestones.next(this.#model, now);
    if (saying !== null) this.#view.say(t(saying.key, saying.values));
  }
}

async function main(): Promise<void> {
  await prepare();
  const event = eventOf(location.search);
  if (event === null) return refuse("site.noEvent");
  let store: EventStore;
  try {
    store = await EventStore.open(event);
  } catch (cause) {
    const fault = faultOf(cause);
    return refuse(fault?.key ?? "fault.storage");
  }
  // Leaving stops the workers and the polling; coming back from the page cache starts afresh.
  const life = new AbortController();
  window.addEventListener("pagehide", () => life.abort());
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
  await new WaitingRoom(event, store, life.signal).run();
}

void main();
