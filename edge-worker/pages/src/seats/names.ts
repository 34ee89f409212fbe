// How a seat is called: on a button, in a sentence, aloud.

import * as money from "../base/money";
import { currentLocale, t } from "../i18n/language";
import { AVAILABLE, SOLD } from "./availability";
import { ACCESSIBLE, COMPANION, type Plan, RESTRICTED } from "./plan";

/** "Section A, row 3, seat 12, 45 euros, available" */
export function fullName(plan: Plan, seat: number, status: number, chosen: boolean): string {
  const price = plan.priceOf(seat);
  const state = chosen ? t("seats.status.chosen") : status === AVAILABLE ? t("seats.status.available")
    : status === SOLD ? t("seats.status.sold") : t("seats.status.held");
  const name = t("seats.name", {
    section: plan.sectionOf(seat).name, row: plan.rowOf(seat).name, number: plan.numbers[seat]!,
    price: price === null ? "–" : money.spoken(price, plan.currency, currentLocale()), status: state,
  });
  const flags = flagNames(plan.flags[seat]!);
  return flags.length === 0 ? name : `${name}, ${flags.join(", ")}`;
}

export function shortName(plan: Plan, seat: number): string {
  return t("seats.nameShort", { section: plan.sectionOf(seat).name, row: plan.rowOf(seat).name, number: plan.numbers[seat]! });
}

/** Seats of one row together: "A, row 3, seats 12 and 13". */
export function shortNames(plan: Plan, seats: readonly number[]): string {
  const byRow = new Map<number, number[]>();
  for (const seat of seats) byRow.set(plan.row[seat]!, [...(byRow.get(plan.row[seat]!) ?? []), seat]);
  return listed([...byRow.values()].map((row) => (row.length === 1 ? shortName(plan, row[0]!) : t("seats.namesInRow", {
    section: plan.sectionOf(row[0]!).name, row: plan.rowOf(row[0]!).name, numbers: listed(row.map((seat) => plan.numbers[seat]!)),
  }))));
}

function listed(names: string[]): string {
  return new Intl.ListFormat(currentLocale(), { type: "conjunction" }).format(names);
}

export function flagNames(flags: number): string[] {
  return [
    flags & ACCESSIBLE ? t("seats.flag.accessible") : "",
    flags & COMPANION ? t("seats.flag.companion") : "",
    flags & RESTRICTED ? t("seats.flag.restricted") : "",
  ].filter((name) => name !== "");
}

export function priceLabel(plan: Plan, minor: number): string {
  return money.format(minor, plan.currency, currentLocale());
}
