// The list: sections, their rows, their seats as buttons, with all the map's powers for keyboard and
// screen reader. A section's rows and a row's seats are made when first opened, so 8,897 seats cost
// nothing until wanted; a seat that changes is renamed in place, so focus never falls into a hole.

import { el, need, replace, setHidden, setText } from "../base/dom";
import { t } from "../i18n/language";
import { AVAILABLE, type Availability } from "./availability";
import type { Choice } from "./choice";
import { EVERYTHING, type Filter, matches } from "./filter";
import { fullName, priceLabel } from "./names";
import type { Plan } from "./plan";

interface Disclosure {
  element: HTMLElement;
  toggle: HTMLButtonElement;
  note: HTMLElement;
  content: HTMLElement;
  filled: boolean;
}

export class ListView {
  readonly #list = need("list");
  readonly #empty = need("list-empty");
  readonly #sections: Disclosure[];
  readonly #rows = new Map<number, Disclosure>();
  readonly #seats = new Map<number, HTMLButtonElement>();
  #filter: Filter = EVERYTHING;

  constructor(
    private readonly plan: Plan, private readonly availability: Availability, private readonly choice: Choice,
    private readonly onSeat: (seat: number) => void,
  ) {
    this.#sections = plan.sections.map((section, index) =>
      this.#disclosure("h2", `section-${index}`, section.name, (content) => this.#fillSection(index, content)));
    replace(this.#list, ...this.#sections.map((section) => section.element));
    choice.onChange(() => this.refresh());
    this.#list.addEventListener("keydown", (event) => this.#rove(event));
    this.refresh();
  }

  setFilter(filter: Filter): void {
    this.#filter = filter;
    this.refresh();
  }

  /** Counts and names of everything that has been opened. */
  refresh(): void {
    let shown = 0;
    this.plan.sections.forEach((section, index) => {
      const disclosure = this.#sections[index]!;
      const free = this.#free(section.seats);
      setText(disclosure.note, t("seats.sectionFree", { n: free }));
      const hidden = !section.seats.some((seat) => this.#shown(seat));
      setHidden(disclosure.element, hidden);
      if (!hidden) shown += 1;
    });
    setHidden(this.#empty, shown > 0);
    for (const [row, disclosure] of this.#rows) this.#refreshRow(row, disclosure);
    for (const [seat, element] of this.#seats) this.#refreshSeat(seat, element);
    for (const disclosure of this.#rows.values()) if (disclosure.filled) keepOneStop(disclosure.content);
  }

  #free(seats: readonly number[]): number {
    return seats.reduce((count, seat) => count + (this.choice.isFree(seat) && matches(this.plan, this.#filter, seat) ? 1 : 0), 0);
  }

  #shown(seat: number): boolean {
    return matches(this.plan, this.#filter, seat)
      && (!this.#filter.availableOnly || this.choice.isFree(seat) || this.choice.has(seat));
  }

  #fillSection(index: number, content: HTMLElement): void {
    const section = this.plan.sections[index]!;
    const rows = section.rows.map((row) => {
      const disclosure = this.#disclosure("h3", `row-${row}`, t("seats.row", { row: this.plan.rows[row]!.name }),
        (seats) => this.#fillRow(row, seats));
      this.#rows.set(row, disclosure);
      this.#refreshRow(row, disclosure);
      return disclosure.element;
    });
    replace(content, ...rows);
  }

  #fillRow(row: number, content: HTMLElement): void {
    const buttons = this.plan.rows[row]!.seats.map((seat) => {
      const element = el("button", { type: "button", class: "seat", "data-seat": seat, "data-category": this.plan.category[seat]! % 6 });
      element.addEventListener("click", () => this.onSeat(seat));
      this.#seats.set(seat, element);
      this.#refreshSeat(seat, element);
      return element;
    });
    content.className = "row-seats";
    content.setAttribute("role", "group");
    content.setAttribute("aria-labelledby", `row-${row}-toggle`);
    replace(content, ...buttons);
    keepOneStop(content);
  }

  #refreshRow(row: number, disclosure: Disclosure): void {
    const { seats } = this.plan.rows[row]!;
    const prices = [...new Set(seats.map((seat) => this.plan.priceOf(seat)))].filter((price): price is number => price !== null);
    const free = t("seats.sectionFree", { n: this.#free(seats) });
    setText(disclosure.note, prices.length === 1 ? `${free} · ${priceLabel(this.plan, prices[0]!)}` : free);
    const focused = disclosure.element.contains(document.activeElement);
    setHidden(disclosure.element, !focused && !seats.some((seat) => this.#shown(seat)));
  }

  #refreshSeat(seat: number, element: HTMLButtonElement): void {
    const chosen = this.choice.has(seat);
    const free = this.choice.isFree(seat);
    const status = free ? AVAILABLE : this.availability.status[seat]!;
    setText(element, this.plan.numbers[seat]!);
    setAttribute(element, "aria-label", fullName(this.plan, seat, status, chosen));
    setAttribute(element, "aria-pressed", String(chosen));
    setAttribute(element, "aria-disabled", String(!free && !chosen));
    setAttribute(element, "data-status", String(status));
    // A seat that is taken under the fan's finger stays until they leave it.
    setHidden(element, !this.#shown(seat) && element !== document.activeElement);
  }

  #disclosure(level: "h2" | "h3", id: string, name: string, fill: (content: HTMLElement) => void): Disclosure {
    const note = el("span", { class: "note" });
    const toggle = el("button", { type: "button", id: `${id}-toggle`, class: "disclose", "aria-expanded": "false", "aria-controls": `${id}-content` },
      el("span", {}, name), " ", note);
    const content = el("div", { id: `${id}-content`, hidden: true });
    const element = el("div", { class: `fold fold-${level}` }, el(level, {}, toggle), content);
    const disclosure: Disclosure = { element, toggle, note, content, filled: false };
    toggle.addEventListener("click", () => {
      if (!disclosure.filled) {
        disclosure.filled = true;
        fill(content);
      }
      content.hidden = !content.hidden;
      toggle.setAttribute("aria-expanded", String(!content.hidden));
    });
    return disclosure;
  }

  /** Arrow keys within a row: one stop of the tab key a row, as in a toolbar. */
  #rove(event: KeyboardEvent): void {
    const from = event.target;
    if (!(from instanceof HTMLButtonElement) || !from.classList.contains("seat")) return;
    const stops = [...from.parentElement!.querySelectorAll<HTMLButtonElement>(".seat:not([hidden])")];
    const at = stops.indexOf(from);
    const to = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? at - 1
      : event.key === "Home" ? 0 : event.key === "End" ? stops.length - 1 : null;
    if (to === null) return;
    event.preventDefault();
    const next = stops[Math.min(stops.length - 1, Math.max(0, to))];
    if (next === undefined) return;
    for (const stop of stops) stop.tabIndex = stop === next ? 0 : -1;
    next.focus();
  }
}

/** Exactly one visible seat of a row is in the tab order. */
function keepOneStop(content: HTMLElement): void {
  const stops = [...content.querySelectorAll<HTMLButtonElement>(".seat:not([hidden])")];
  const current = stops.find((stop) => stop === document.activeElement)
    ?? stops.find((stop) => stop.getAttribute("tabindex") === "0") ?? stops[0];
  for (const stop of stops) {
    const index = stop === current ? 0 : -1;
    if (stop.tabIndex !== index) stop.tabIndex = index;
  }
}

function setAttribute(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}
