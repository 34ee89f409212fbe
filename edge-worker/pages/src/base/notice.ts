// A message in the page with what can be done about it; said once by the status region too.

import { el, need, replace, setHidden, setText } from "./dom";

export type Tone = "warn" | "good" | "bad";

export function notice(tone: Tone, text: string, actions: HTMLElement[] = [], lead: string | null = null): void {
  const place = need("notice");
  place.dataset["tone"] = tone;
  replace(place, el("p", {}, text), lead !== null && el("p", {}, lead),
    actions.length > 0 && el("div", { class: "actions" }, ...actions));
  setHidden(place, false);
  say(lead === null ? text : `${text} ${lead}`);
}

export function clearNotice(): void {
  setHidden(need("notice"), true);
}

/** The page's one polite live region. */
export function say(text: string): void {
  setText(need("status"), text);
}

export function link(text: string, href: string, primary = false): HTMLAnchorElement {
  return el("a", { href, class: primary ? "button primary" : "button" }, text);
}
