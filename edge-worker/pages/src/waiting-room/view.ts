// Copies a scene into the page. Every part has its room in the layout from the start, so nothing jumps.

import { need, setHidden, setText } from "../base/dom";
import { minuteRange, ticking } from "../base/duration";
import { number, t, timeOf } from "../i18n/language";
import type { Eta, RoomDocument } from "../wire/types";
import type { Action, Fault, Scene } from "./model";

export class RoomView {
  readonly #title = need("title");
  readonly #card = need("card");
  readonly #headline = need("headline");
  readonly #lead = need("lead");
  readonly #clock = need("clock");
  readonly #clockTime = need("clock-time");
  readonly #clockLabel = need("clock-label");
  readonly #facts = need("facts");
  readonly #place = need("fact-place");
  readonly #ahead = need("fact-ahead");
  readonly #wait = need("fact-wait");
  readonly #bar = need("bar");
  readonly #barLabel = need("bar-label");
  readonly #barValue = need<HTMLProgressElement>("bar-value");
  readonly #action = need<HTMLButtonElement>("action");
  readonly #fault = need("fault");
  readonly #queued = need("queued");
  readonly #operator = need("operator");
  readonly #operatorText = need("operator-text");
  readonly #status = need("status");
  #acts: Action | null = null;

  constructor(onAction: (action: Action) => void) {
    this.#action.addEventListener("click", () => {
      if (this.#acts !== null) onAction(this.#acts);
    });
  }

  show(scene: Scene, fault: Fault | null, offline: boolean, now: number): void {
    this.#card.dataset["tone"] = scene.tone;
    setText(this.#headline, t(scene.headline));
    setText(this.#lead, t(scene.lead, scene.leadTime === null ? {} : { time: timeOf(scene.leadTime, now) }));
    this.#showClock(scene, now);
    setHidden(this.#facts, scene.facts === null);
    if (scene.facts !== null) this.#showFacts(scene.facts);
    setHidden(this.#bar, scene.bar === null);
    if (scene.bar !== null) {
      setText(this.#barLabel, t(scene.bar.label));
      this.#barValue.value = scene.bar.value;
    }
    this.#showAction(scene.action);
    // The end of a sale is the whole news; what went wrong before it no longer matters.
    const trouble = scene.tone === "end" ? "" : fault !== null ? t(fault.key, fault.values) : offline ? t("room.offline") : "";
    setText(this.#fault, trouble);
    setHidden(this.#fault, trouble === "");
  }

  #showClock(scene: Scene, now: number): void {
    setHidden(this.#clock, scene.clock === null);
    if (scene.clock === null) return;
    setText(this.#clockTime, ticking(scene.clock.until - now));
    setText(this.#clockLabel, t(scene.clock.label));
  }

  #showFacts(facts: NonNullable<Scene["facts"]>): void {
    const unknown = facts.drawn ? t("room.facts.unknown") : t("room.facts.afterDraw");
    setText(this.#place, facts.position === null ? unknown : number(facts.position + 1));
    setText(this.#ahead, facts.ahead === null ? unknown : facts.ahead === 0 ? t("room.facts.none") : number(facts.ahead));
    setText(this.#wait, facts.ahead === 0 ? t("room.facts.soon") : facts.eta === null ? unknown : etaText(facts.eta));
  }

  #showAction(action: Action | null): void {
    const hadFocus = document.activeElement === this.#action;
    this.#acts = action;
    setHidden(this.#action, action === null);
    if (action !== null) {
      setText(this.#action, t(action === "join" ? "room.join" : action === "rejoin" ? "room.rejoin" : "room.continue"));
    } else if (hadFocus) {
      // The pressed button goes; the keyboard stays where the news is.
      this.#headline.focus();
    }
  }

  showRoom(room: RoomDocument, language: string): void {
    setText(this.#title, room.title);
    document.title = `${room.title} · ${t("room.title")}`;
    const message = messageFor(room.message, language);
    setText(this.#operatorText, message);
    setHidden(this.#operator, message === "");
    setText(this.#queued, room.queued > 0 ? t("room.queued", { n: room.queued }) : "");
  }

  say(text: string): void {
    setText(this.#status, text);
  }
}

/** The operator's words in the fan's language, else English, else whatever there is. */
export function messageFor(message: Record<string, string>, language: string): string {
  return message[language] ?? message["en"] ?? Object.values(message)[0] ?? "";
}

function etaText(eta: Eta): string {
  const { from, to } = minuteRange(eta.p50_seconds, eta.p90_seconds);
  return from === to ? t("room.eta.minutes", { n: to }) : t("room.eta.range", { from, to });
}
