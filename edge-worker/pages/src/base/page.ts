// What every page does first: its language, its links within the sale, and the way to say "not here".

import type { Key } from "../i18n/en";
import { LANGUAGES, speak, t } from "../i18n/language";
import { el, replace } from "./dom";
import { bookingsPage, eventOf, seatsPage } from "./places";

export async function prepare(): Promise<void> {
  await speak();
  const event = eventOf(location.search);
  const links: [string, (event: string) => string][] = [["nav-seats", seatsPage], ["nav-bookings", bookingsPage]];
  for (const [id, page] of links) {
    const link = document.getElementById(id);
    if (link === null) continue;
    if (event === null) link.remove();
    else link.setAttribute("href", page(event));
  }
  offerLanguages();
}

function offerLanguages(): void {
  const place = document.getElementById("languages");
  if (place === null) return;
  const links = Object.entries(LANGUAGES).map(([tag, name]) => {
    const query = new URLSearchParams(location.search);
    query.set("lang", tag);
    const current = document.documentElement.lang === tag;
    return el("a", { href: `${location.pathname}?${query}`, lang: tag, hreflang: tag, "aria-current": current ? "true" : null }, name);
  });
  replace(place, ...links);
}

/** The page cannot work; says why in place of its content. */
export function refuse(key: Key): void {
  const main = document.getElementById("main");
  if (main !== null) replace(main, el("h1", {}, document.title), el("p", { class: "trouble" }, t(key)));
}
