// A buyer's bookings: readable after shopping has ended, since a proof by the same key is enough.

import * as money from "../base/money";
import { ServerClock } from "../base/clock";
import { button, el, need, setHidden } from "../base/dom";
import { clearNotice, notice, say } from "../base/notice";
import { prepare, refuse } from "../base/page";
import { eventOf } from "../base/places";
import { currentLocale, localTime, t, timeOf } from "../i18n/language";
import { asShopper, enterShop } from "../identity/session";
import { EventStore } from "../identity/store";
import { Api } from "../wire/api";
import { seatNames, type SeatNames } from "../wire/seat-names";
import type { Booking, BookingsPage, CatalogueEvent } from "../wire/types";
import { fault } from "./fault";

const PAGE_SIZE = 20;

interface EventFacts {
  names: SeatNames;
  event: CatalogueEvent | null;
}

class Bookings {
  readonly #list = need("bookings");
  readonly #more = need<HTMLButtonElement>("more");
  readonly #events = new Map<string, Promise<EventFacts>>();
  #cursor: string | null = null;
  #shown = 0;

  constructor(private readonly api: Api, private readonly store: EventStore) {
    this.#more.addEventListener("click", () => void this.load());
  }

  async load(): Promise<void> {
    clearNotice();
    this.#more.disabled = true;
    const cursor = this.#cursor === null ? "" : `&cursor=${encodeURIComponent(this.#cursor)}`;
    const answer = await this.api.call<BookingsPage>({
      path: `/v1/users/me/bookings?limit=${PAGE_SIZE}${cursor}`, ...(await asShopper(this.store)),
    });
    setHidden(need("loading"), true);
    this.#more.disabled = false;
    if (!answer.ok) {
      return notice("bad", t(fault(answer.problem)), [button(t("site.tryAgain"), () => void this.load())]);
    }
    await this.#show(answer.body);
  }

  async #show(page: BookingsPage): Promise<void> {
    const items = await Promise.all(page.bookings.map((booking) => this.#item(booking)));
    this.#list.append(...items);
    this.#shown += items.length;
    this.#cursor = page.next_cursor;
    setHidden(this.#more, page.next_cursor === null);
    setHidden(need("none"), this.#shown > 0);
    say(this.#shown === 0 ? t("bookings.none") : t("bookings.loaded", { n: this.#shown }));
    // After "more" the keyboard goes on with the first new booking.
    if (this.#shown > items.length) items[0]?.querySelector<HTMLElement>("h2")?.focus();
  }

  async #item(booking: Booking): Promise<HTMLLIElement> {
    const { names, event } = await this.#factsOf(booking.event);
    const fact = (name: string, value: string): HTMLElement => el("div", {}, el("dt", {}, name), el("dd", {}, value));
    return el("li", { class: "card booking", "data-booking": booking.booking_id },
      el("div", { class: "heading" },
        el("h2", { tabindex: "-1" }, event?.title ?? booking.event),
        el("p", { class: "badge", "data-status": booking.status }, t(`bookings.status.${booking.status}`))),
      event !== null && el("p", {}, localTime(event.starts_at)),
      el("dl", { class: "booking-facts" },
        fact(t("bookings.reference"), booking.booking_id),
        fact(t("bookings.paid"), money.format(booking.total, booking.currency, currentLocale())),
        fact(t("bookings.made"), timeOf(Date.parse(booking.created_at), this.api.clock.now()))),
      el("h3", { class: "quiet" }, t("bookings.seats")),
      el("ul", { class: "seat-lines" }, ...booking.seat_ids.map((seat) => el("li", {}, names(seat)))));
  }

  #factsOf(event: string): Promise<EventFacts> {
    let facts = this.#events.get(event);
    if (facts === undefined) {
      const entry = this.api.call<CatalogueEvent>({ path: `/v1/events/${event}` });
      facts = Promise.all([seatNames(this.api, event), entry])
        .then(([names, answer]) => ({ names, event: answer.ok ? answer.body : null }));
      this.#events.set(event, facts);
    }
    return facts;
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
  await enterShop(api, store);
  await new Bookings(api, store).load();
}

void main();
