// The seat page: the plan, who has what, two views of it, and the request to hold.

import { ServerClock } from "../base/clock";
import { button, need, setHidden, setText } from "../base/dom";
import { clearNotice, link, notice, say } from "../base/notice";
import { prepare, refuse } from "../base/page";
import { checkoutPage, eventOf, waitingRoomPage } from "../base/places";
import { t, timeOf } from "../i18n/language";
import { Deadline, enterShop, sessionEnd } from "../identity/session";
import { EventStore } from "../identity/store";
import { Api } from "../wire/api";
import type { CatalogueEvent, Hold, LayoutDocument } from "../wire/types";
import { Availability } from "./availability";
import { BasketView } from "./basket-view";
import { Choice } from "./choice";
import { Controls } from "./controls";
import { Holding } from "./holding";
import { ListView } from "./list-view";
import { fetchMap, follow } from "./live";
import { MapView } from "./map-view";
import { priceLabel, shortName, shortNames } from "./names";
import { Plan } from "./plan";
import { explain } from "./refusals";

class SeatsPage {
  readonly #choice: Choice;
  readonly #map: MapView;
  readonly #list: ListView;
  readonly #basket: BasketView;
  readonly #holding: Holding;
  #holds: Hold[] = [];

  constructor(
    private readonly api: Api, private readonly store: EventStore,
    private readonly plan: Plan, private readonly availability: Availability,
  ) {
    this.#holding = new Holding(api, store);
    this.#choice = new Choice(plan, availability);
    const onSeat = (seat: number): void => this.#press(seat);
    this.#map = new MapView(plan, availability, this.#choice, onSeat);
    this.#list = new ListView(plan, availability, this.#choice, onSeat);
    this.#basket = new BasketView(plan, this.#choice, onSeat, () => void this.#hold());
    new Controls(plan, (filter) => {
      this.#map.setFilter(filter);
      this.#list.setFilter(filter);
    });
  }

  async run(life: AbortSignal): Promise<void> {
    await this.#shopTime();
    await follow(this.api, this.store.event, this.availability, (changed) => this.#changed(changed), life);
  }

  /** With a session: its end on the page, the ticket limit, and the seats held from before. */
  async #shopTime(): Promise<void> {
    const until = await sessionEnd(this.store);
    if (until === null) return this.#sendToRoom("seats.notAdmitted");
    if (until <= this.api.clock.now()) return this.#sendToRoom("seats.sessionOver");
    setHidden(need("time-left"), false);
    new Deadline(this.api.clock, until, {
      tick: (text) => setText(need("time-left-value"), text),
      minutes: (n) => say(t("seats.say.minutes", { n })),
      over: () => this.#sendToRoom("seats.sessionOver"),
    });
    await Promise.all([this.#learnEvent(), this.#recallHolds()]);
  }

  async #learnEvent(): Promise<void> {
    const event = await this.api.call<CatalogueEvent>({ path: `/v1/events/${this.store.event}` });
    if (!event.ok) return;
    setText(need("title"), event.body.title);
    this.#choice.limit = event.body.event_ticket_limit;
    this.#basket.refresh();
  }

  async #recallHolds(): Promise<void> {
    this.#holds = await this.#holding.mine();
    const held = this.plan.indicesOf(this.#holds.flatMap((hold) => hold.seat_ids));
    this.#choice.setHeld(held);
    const first = this.#holds[0];
    if (first === undefined) return;
    this.#choice.set(held);
    const text = t("seats.held", { seats: t("seats.held.count", { n: held.length }), time: timeOf(Date.parse(first.expires_at), this.api.clock.now()) });
    notice("good", text, [
      link(t("seats.toCheckout"), checkoutPage(this.store.event, first.hold_id), true),
      button(t("seats.release"), () => void this.#release()),
    ]);
  }

  async #release(): Promise<void> {
    const answers = await Promise.all(this.#holds.map((hold) => this.#holding.release(hold.hold_id)));
    const failed = answers.find((answer) => !answer.ok);
    if (failed !== undefined && !failed.ok) return this.#refused(failed.problem, []);
    this.#holds = [];
    this.#choice.setHeld([]);
    this.#choice.set([]);
    notice("good", t("seats.released"));
    need("basket-head").focus();
  }

  #press(seat: number): void {
    const seatName = shortName(this.plan, seat);
    switch (this.#choice.toggle(seat)) {
      case "added":
        return say(t("seats.say.chosen", { seat: seatName, count: this.#count(), total: priceLabel(this.plan, this.#choice.total) }));
      case "removed":
        return say(t("seats.say.removed", { seat: seatName, count: this.#count() }));
      case "full":
        return notice("warn", t("seats.limitReached", { limit: this.#choice.limit ?? 0 }));
      case "unavailable":
        return say(`${seatName}: ${t(this.availability.status[seat] === 2 ? "seats.status.sold" : "seats.status.held")}`);
    }
  }

  #count(): string {
    return t("seats.basket.count", { n: this.#choice.size });
  }

  #changed(changed: number[]): void {
    const lost = this.#choice.dropLost(changed);
    this.#map.refresh();
    this.#list.refresh();
    if (lost.length > 0) notice("warn", t("seats.lostWhileChoosing", { seat: shortNames(this.plan, lost) }));
  }

  async #hold(): Promise<void> {
    const asked = this.#choice.seats;
    clearNotice();
    this.#basket.setBusy(true);
    const answer = await this.#holding.place(asked.map((seat) => this.plan.ids[seat]!));
    if (!answer.ok) {
      this.#basket.setBusy(false);
      return this.#refused(answer.problem, asked);
    }
    await this.#dropOldHolds(answer.body);
    location.assign(checkoutPage(this.store.event, answer.body.hold_id));
  }

  /** Naming a held seat replaces its hold on the server; a hold that shares no seat is let go here. */
  async #dropOldHolds(placed: Hold & { replaced?: string[] }): Promise<void> {
    const gone = new Set([placed.hold_id, ...(placed.replaced ?? [])]);
    await Promise.all(this.#holds.filter((hold) => !gone.has(hold.hold_id)).map((hold) => this.#holding.release(hold.hold_id)));
  }

  #refused(problem: Parameters<typeof explain>[0], asked: number[]): void {
    const refusal = explain(problem, this.plan, asked);
    if (refusal.toRoom) return this.#sendToRoom(refusal.key);
    if (refusal.taken.length > 0) this.#choice.remove(refusal.taken);
    const alternatives = refusal.alternatives.map((seats) =>
      button(t("seats.takeAlternative", { seats: shortNames(this.plan, seats) }), () => this.#take(seats, asked)));
    notice("warn", t(refusal.key, refusal.values), alternatives, alternatives.length > 0 ? t("seats.alternatives") : null);
    // The pressed button was disabled meanwhile and has lost the focus.
    (need("notice").querySelector<HTMLElement>("button") ?? this.#basket.stop()).focus();
  }

  /** An alternative is either a whole new set or stands in for what was taken. */
  #take(seats: number[], asked: number[]): void {
    this.#choice.set(seats.length === asked.length ? seats : [...this.#choice.seats, ...seats]);
    clearNotice();
    need("hold").focus();
  }

  #sendToRoom(key: Parameters<typeof t>[0]): void {
    const back = location.pathname + location.search;
    notice("warn", t(key), [link(t("seats.toRoom"), waitingRoomPage(this.store.event, back), true)]);
  }
}

async function main(): Promise<void> {
  await prepare();
  const event = eventOf(location.search);
  if (event === null) return refuse("site.noEvent");
  let store: EventStore;
  try {
    store = await EventStore.open(event);
  } catch {
    return refuse("fault.storage");
  }
  const api = new Api(new ServerClock());
  const [layout, map] = await Promise.all([
    api.call<LayoutDocument>({ path: `/v1/events/${event}/layout`, timeoutMs: 60_000 }), fetchMap(api, event), enterShop(api, store),
  ]);
  if (!layout.ok || map === null) {
    return notice("bad", t("seats.noMap"), [button(t("site.tryAgain"), () => location.reload())]);
  }
  const life = new AbortController();
  window.addEventListener("pagehide", () => life.abort());
  window.addEventListener("pageshow", (shown) => {
    if (shown.persisted) location.reload();
  });
  await new SeatsPage(api, store, new Plan(layout.body), new Availability(map)).run(life.signal);
}

void main();
