// The checkout's three faces: the form, the wait, the booking.

import * as money from "../base/money";
import { el, need, replace, setHidden, setText } from "../base/dom";
import { bookingsPage } from "../base/places";
import { currentLocale, t } from "../i18n/language";
import type { Hold } from "../wire/types";
import type { SeatNames } from "../wire/seat-names";

export class CheckoutView {
  readonly #loading = need("loading");
  readonly #panel = need("pay-panel");
  readonly #pay = need<HTMLButtonElement>("pay");
  readonly #release = need<HTMLButtonElement>("release");
  readonly #extend = need<HTMLButtonElement>("extend");
  readonly #card = need<HTMLSelectElement>("card");
  #total = "";

  constructor(on: { pay(method: string): void; release(): void; extend(): void }) {
    need<HTMLFormElement>("pay-form").addEventListener("submit", (event) => {
      event.preventDefault();
      on.pay(this.#card.value);
    });
    this.#release.addEventListener("click", () => on.release());
    this.#extend.addEventListener("click", () => on.extend());
  }

  showHold(hold: Hold, names: SeatNames): void {
    this.#total = money.format(hold.total, hold.currency, currentLocale());
    replace(need("summary"), ...lines(hold.seat_ids, names));
    setText(need("total"), this.#total);
    setText(this.#pay, t("checkout.pay", { total: this.#total }));
    this.offerMoreTime(hold.extended === false);
    setHidden(this.#loading, true);
    setHidden(this.#panel, false);
  }

  heldFor(text: string): void {
    setText(need("held-for"), text);
  }

  /** Nobody should lose seats for typing slowly: the limit can be moved, once. */
  offerMoreTime(offered: boolean): void {
    if (document.activeElement === this.#extend && !offered) this.focusPayment();
    setHidden(need("more-time"), !offered);
  }

  setPaying(paying: boolean): void {
    for (const control of [this.#pay, this.#release, this.#extend, this.#card]) control.disabled = paying;
    setText(this.#pay, paying ? t("checkout.paying") : t("checkout.pay", { total: this.#total }));
    setHidden(need("progress"), !paying);
  }

  focusPayment(): void {
    this.#card.focus();
  }

  hideAll(): void {
    setHidden(this.#loading, true);
    setHidden(this.#panel, true);
  }

  showWaiting(): void {
    setText(this.#loading, t("checkout.payingLead"));
    setHidden(this.#loading, false);
    setHidden(this.#panel, true);
  }

  showDone(event: string, reference: string, seatIds: string[], names: SeatNames, captured: boolean): void {
    this.hideAll();
    setText(need("reference"), reference);
    replace(need("done-seats"), ...lines(seatIds, names));
    setHidden(need("capturing"), captured);
    need("to-bookings").setAttribute("href", bookingsPage(event));
    setHidden(need("done"), false);
    need("done-head").focus();
  }
}

function lines(seatIds: string[], names: SeatNames): HTMLLIElement[] {
  return seatIds.map((seatId) => el("li", {}, names(seatId)));
}
