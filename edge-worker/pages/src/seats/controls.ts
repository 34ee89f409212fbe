// The switch between map and list, and the filter both obey.

import { el, need, replace, setHidden } from "../base/dom";
import { t } from "../i18n/language";
import { EVERYTHING, type Filter } from "./filter";
import { priceLabel } from "./names";
import type { Plan } from "./plan";

const REMEMBERED = "fairgate-seat-view";
type ViewName = "map" | "list";

export class Controls {
  readonly #buttons: Record<ViewName, HTMLElement> = { map: need("view-map"), list: need("view-list") };
  readonly #panels: Record<ViewName, HTMLElement> = { map: need("map-panel"), list: need("list-panel") };
  readonly #price = need<HTMLSelectElement>("filter-price");
  readonly #accessible = need<HTMLInputElement>("filter-accessible");
  readonly #available = need<HTMLInputElement>("filter-available");
  #filter: Filter = EVERYTHING;

  constructor(plan: Plan, private readonly onFilter: (filter: Filter) => void) {
    for (const name of ["map", "list"] as const) this.#buttons[name].addEventListener("click", () => this.#show(name));
    replace(this.#price, el("option", { value: "" }, t("seats.filter.anyPrice")), ...plan.categories.map((category, index) =>
      el("option", { value: index }, category.price === null ? category.name : `${category.name}, ${priceLabel(plan, category.price)}`)));
    setHidden(need("filter-accessible-label"), !plan.hasAccessible);
    const form = need<HTMLFormElement>("filters");
    form.addEventListener("change", () => this.#read());
    form.addEventListener("submit", (event) => event.preventDefault());
    this.#show(remembered());
  }

  #read(): void {
    this.#filter = {
      category: this.#price.value === "" ? null : Number(this.#price.value),
      accessibleOnly: this.#accessible.checked,
      availableOnly: this.#available.checked,
    };
    this.onFilter(this.#filter);
  }

  #show(shown: ViewName): void {
    for (const name of ["map", "list"] as const) {
      this.#buttons[name].setAttribute("aria-pressed", String(name === shown));
      setHidden(this.#panels[name], name !== shown);
    }
    // The map always shows what is taken: there the switch would do nothing.
    setHidden(need("filter-available-label"), shown === "map");
    try {
      localStorage.setItem(REMEMBERED, shown);
    } catch {
      // The next page opens on the map.
    }
  }
}

function remembered(): ViewName {
  try {
    return localStorage.getItem(REMEMBERED) === "list" ? "list" : "map";
  } catch {
    return "map";
  }
}
