// What is chosen, what it costs, and the button that asks for it.

import { button, el, need, replace, setHidden, setText } from "../base/dom";
import { t } from "../i18n/language";
import type { Choice } from "./choice";
import { priceLabel, shortName } from "./names";
import type { Plan } from "./plan";

export class BasketView {
  readonly #limit = need("basket-limit");
  readonly #empty = need("basket-empty");
  readonly #seats = need("basket-seats");
  readonly #count = need("basket-count");
  readonly #total = need("basket-total");
  readonly #hold = need<HTMLButtonElement>("hold");
  #busy = false;

  constructor(
    private readonly plan: Plan, private readonly choice: Choice,
    private readonly onSeat: (seat: number) => void, onHold: () => void,
  ) {
    this.#hold.addEventListener("click", onHold);
    choice.onChange(() => this.refresh());
    this.refresh();
  }

  setBusy(busy: boolean): void {
    this.#busy = busy;
    setText(this.#hold, busy ? t("seats.holding") : t("seats.hold"));
    this.refresh();
  }

  /** Where the keyboard stands when the button was pressed and nothing came of it. */
  stop(): HTMLElement {
    return this.#hold.disabled ? need("basket-head") : this.#hold;
  }

  refresh(): void {
    const { seats, limit } = this.choice;
    setHidden(this.#empty, seats.length > 0);
    setText(this.#limit, limit === null ? "" : t("seats.basket.limit", { n: limit }));
    setHidden(this.#limit, limit === null);
    setText(this.#count, seats.length === 0 ? "" : t("seats.basket.count", { n: seats.length }));
    setText(this.#total, seats.length === 0 ? "" : priceLabel(this.plan, this.choice.total));
    this.#hold.disabled = this.#busy || seats.length === 0;
    this.#list(seats);
  }

  #list(seats: number[]): void {
    const shown = [...this.#seats.children].map((item) => Number((item as HTMLElement).dataset["seat"]));
    if (shown.length === seats.length && shown.every((seat, index) => seat === seats[index])) return;
    const focused = this.#seats.contains(document.activeElement);
    replace(this.#seats, ...seats.map((seat) => this.#line(seat)));
    // Removing by keyboard: on to the next line, or to the heading when none is left.
    if (focused) (this.#seats.querySelector<HTMLElement>("button") ?? need("basket-head")).focus();
  }

  #line(seat: number): HTMLLIElement {
    const name = shortName(this.plan, seat);
    const price = this.plan.priceOf(seat);
    return el("li", { "data-seat": seat },
      el("span", {}, name),
      el("span", { class: "price" }, price === null ? "" : priceLabel(this.plan, price)),
      button("×", () => this.onSeat(seat), { "aria-label": t("seats.basket.remove", { seat: name }), class: "remove" }));
  }
}
