// Checkout: what is held and for how long, the payment, the booking.

import { ServerClock } from "../base/clock";
import { clearNotice, link, notice, say } from "../base/notice";
import { prepare, refuse } from "../base/page";
import { eventOf, seatsPage, waitingRoomPage } from "../base/places";
import { t, timeOf } from "../i18n/language";
import { Deadline, enterShop } from "../identity/session";
import { EventStore, type Purchase } from "../identity/store";
import { Holding } from "../seats/holding";
import { Api } from "../wire/api";
import { seatNames, type SeatNames } from "../wire/seat-names";
import type { Hold } from "../wire/types";
import type { Outcome } from "./outcome";
import { Purchasing } from "./purchase";
import { CheckoutView } from "./view";

class Checkout {
  readonly #view: CheckoutView;
  readonly #purchasing: Purchasing;
  readonly #holding: Holding;
  #hold: Hold | null = null;
  #deadline: Deadline | null = null;
  #paying = false;

  constructor(private readonly api: Api, private readonly store: EventStore, private readonly names: SeatNames) {
    this.#purchasing = new Purchasing(api, store);
    this.#holding = new Holding(api, store);
    this.#view = new CheckoutView({
      pay: (method) => void this.#pay(method), release: () => void this.#release(), extend: () => void this.#extend(),
    });
  }

  /** A purchase under way comes first, then a finished order in the address, then the hold. */
  async run(): Promise<void> {
    const query = new URLSearchParams(location.search);
    const under = await this.store.get("purchase");
    const wanted = query.get("hold");
    const order = query.get("order");
    if (under !== undefined && (wanted === null || wanted === under.holdId) && (order === null || order === under.orderId)) {
      return this.#resume(under);
    }
    if (order !== null) return this.#showOrder(order);
    await this.#showHold(wanted);
  }

  async #resume(purchase: Purchase): Promise<void> {
    this.#view.showWaiting();
    await this.#follow(purchase);
  }

  async #showOrder(orderId: string): Promise<void> {
    const outcome = await this.#purchasing.order(orderId);
    if (outcome.kind === "booked") this.#booked(outcome, [], orderId);
    else await this.#showHold(null);
  }

  async #showHold(holdId: string | null): Promise<void> {
    const holds = await this.#holding.mine();
    const hold = holds.find((one) => one.hold_id === holdId) ?? holds[0];
    if (hold === undefined) {
      this.#view.hideAll();
      return notice("warn", t("checkout.noHold"), [this.#backToSeats()]);
    }
    this.#hold = hold;
    this.#view.showHold(hold, this.names);
    this.#deadline = new Deadline(this.api.clock, Date.parse(hold.expires_at), {
      tick: (text) => this.#view.heldFor(text),
      minutes: (n) => say(t("checkout.say.minutes", { n })),
      over: () => this.#expire(),
    });
  }

  /** A payment that was sent in time is decided by the server, not by our clock. */
  #expire(): void {
    if (!this.#paying) this.#over({ kind: "over", key: "checkout.expired", values: {}, money: null });
  }

  async #pay(method: string): Promise<void> {
    if (this.#paying || this.#hold === null) return;
    clearNotice();
    await this.#follow(await this.#purchasing.begin(this.#hold, method));
  }

  async #follow(purchase: Purchase): Promise<void> {
    this.#paying = true;
    this.#view.setPaying(true);
    say(t("checkout.paying"));
    const outcome = await this.#purchasing.settle(purchase, (pending) => {
      if (pending.kind === "pending" && pending.say !== null) notice("warn", t(pending.say));
      if (pending.kind === "again") notice("warn", t("seats.busy"));
    });
    this.#paying = false;
    this.#view.setPaying(false);
    await this.#conclude(outcome, purchase);
  }

  async #conclude(outcome: Outcome, purchase: Purchase): Promise<void> {
    switch (outcome.kind) {
      case "booked":
        return this.#booked(outcome, purchase.seatIds, purchase.orderId);
      case "retry":
        if (this.#hold === null) await this.#showHold(purchase.holdId);
        if (this.#hold === null) return;
        notice("bad", t(outcome.key, outcome.values));
        return this.#view.focusPayment();
      case "over":
        return this.#over(outcome);
      case "toRoom":
        this.#view.hideAll();
        return notice("warn", t(outcome.key), [
          link(t("seats.toRoom"), waitingRoomPage(this.store.event, seatsPage(this.store.event)), true),
        ]);
      case "pending":
      case "again":
        return; // `settle` does not end on these.
    }
  }

  #booked(outcome: Extract<Outcome, { kind: "booked" }>, seatIds: string[], orderId: string | null): void {
    this.#deadline?.stop();
    clearNotice();
    const reference = outcome.bookingId ?? orderId ?? "";
    this.#view.showDone(this.store.event, reference, seatIds, this.names, outcome.captured);
    if (orderId !== null) history.replaceState(null, "", `${location.pathname}?event=${this.store.event}&order=${encodeURIComponent(orderId)}`);
    say(`${t("checkout.done")}. ${t("checkout.doneLead")} ${reference}`);
  }

  #over(outcome: Extract<Outcome, { kind: "over" }>): void {
    this.#deadline?.stop();
    this.#view.hideAll();
    const money = outcome.money === null ? "" : t(outcome.money);
    notice("bad", t(outcome.key, { ...outcome.values, money }), [this.#backToSeats()]);
  }

  async #release(): Promise<void> {
    if (this.#hold === null || this.#paying) return;
    const answer = await this.#holding.release(this.#hold.hold_id);
    if (answer.ok || answer.status === 404 || answer.status === 410) return location.assign(seatsPage(this.store.event));
    notice("warn", t("seats.busy"));
  }

  async #extend(): Promise<void> {
    if (this.#hold === null || this.#paying) return;
    const answer = await this.#holding.extend(this.#hold.hold_id);
    this.#view.offerMoreTime(false);
    if (!answer.ok) return notice("warn", t("checkout.moreTime.refused"));
    this.#hold = { ...this.#hold, expires_at: answer.body.expires_at, extended: true };
    const until = Date.parse(answer.body.expires_at);
    this.#deadline?.moveTo(until);
    notice("good", t("checkout.moreTime.given", { time: timeOf(until, this.api.clock.now()) }));
  }

  #backToSeats(): HTMLAnchorElement {
    return link(t("checkout.backToSeats"), seatsPage(this.store.event), true);
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
  const [names] = await Promise.all([seatNames(api, event), enterShop(api, store)]);
  window.addEventListener("pageshow", (shown) => {
    if (shown.persisted) location.reload();
  });
  await new Checkout(api, store, names).run();
}

void main();
