// The page's language: `?lang=` first, then what was chosen before, then the browser's list.
// English is in the bundle; other catalogues are separate files, fetched only when wanted.

import { type Catalogue, en, type Key, type Message } from "./en";

export const LANGUAGES = { en: "English", es: "Español" } as const;
export type Language = keyof typeof LANGUAGES;

const REMEMBERED = "fairgate-language";
const LOADERS: Record<Exclude<Language, "en">, () => Promise<Catalogue>> = {
  es: async () => (await import("./es")).es,
};

let catalogue: Catalogue = en;
let locale = "en";

export function chooseLanguage(wanted: readonly (string | null)[]): Language {
  for (const tag of wanted) {
    const primary = tag?.toLowerCase().split("-")[0] ?? "";
    if (Object.keys(LANGUAGES).includes(primary)) return primary as Language;
  }
  return "en";
}

/** Loads the fan's language and puts it into the static page. */
export async function speak(): Promise<void> {
  const asked = new URLSearchParams(location.search).get("lang");
  const chosen = chooseLanguage([asked, remembered(), ...navigator.languages]);
  if (asked === chosen) remember(chosen);
  if (chosen !== "en") {
    try {
      catalogue = await LOADERS[chosen]();
    } catch {
      return; // The file did not arrive: English is better than nothing.
    }
  }
  const regional = navigator.languages.find((tag) => tag.toLowerCase().startsWith(chosen));
  locale = regional ?? chosen;
  document.documentElement.lang = chosen;
  if (chosen !== "en") translateStatic();
}

export function currentLocale(): string {
  return locale;
}

export function currentLanguage(): string {
  return document.documentElement.lang;
}

function translateStatic(): void {
  for (const element of document.querySelectorAll("[data-t]")) {
    element.textContent = t(element.getAttribute("data-t") as Key);
  }
  for (const element of document.querySelectorAll("[data-t-label]")) {
    element.setAttribute("aria-label", t(element.getAttribute("data-t-label") as Key));
  }
}

export type Values = Record<string, string | number>;

/** The text for a key; `{n}` also picks the plural form. Numbers are written the language's way. */
export function t(key: Key, values: Values = {}): string {
  return fill(catalogue[key], values, locale);
}

export function fill(message: Message, values: Values, tag: string): string {
  const n = values["n"];
  const text = typeof message === "string" ? message
    : message[typeof n === "number" ? new Intl.PluralRules(tag).select(n) : "other"] ?? message.other;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? number(value, tag) : value;
  });
}

export function number(value: number, tag: string = locale): string {
  return new Intl.NumberFormat(tag).format(value);
}

/** An instant in the fan's own zone: "20:00" today, with the date otherwise. */
export function timeOf(instant: number, now: number): string {
  const sameDay = new Date(instant).toDateString() === new Date(now).toDateString();
  return new Intl.DateTimeFormat(locale, sameDay
    ? { hour: "numeric", minute: "2-digit" }
    : { weekday: "short", day: "numeric", month: "short", hour: "numeric", minute: "2-digit" }).format(instant);
}

/** The time at the venue, wherever the fan is: "Saturday, 5 June 2027, 19:30". */
export function localTime(local: string): string {
  // Read and written in one zone, so that nothing is converted on the way.
  return new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short", timeZone: "UTC" }).format(Date.parse(`${local}Z`));
}

function remembered(): string | null {
  try {
    return localStorage.getItem(REMEMBERED);
  } catch {
    return null;
  }
}

function remember(language: string): void {
  try {
    localStorage.setItem(REMEMBERED, language);
  } catch {
    // The choice then lasts for this address only.
  }
}
