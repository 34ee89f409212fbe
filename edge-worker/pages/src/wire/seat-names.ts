// Seat ids as a buyer knows them, from the event's layout (which the browser has cached by now).

import { t } from "../i18n/language";
import type { Api } from "./api";
import type { LayoutDocument } from "./types";

export type SeatNames = (seatId: string) => string;

/** Without the layout the ids themselves have to do. */
export async function seatNames(api: Api, event: string): Promise<SeatNames> {
  const layout = await api.call<LayoutDocument>({ path: `/v1/events/${event}/layout`, timeoutMs: 60_000 });
  if (!layout.ok) return (seatId) => seatId;
  const names = new Map(layout.body.seats.map((seat) =>
    [seat.seat_id, { section: seat.section, row: seat.row, number: seat.number }] as const));
  return (seatId) => {
    const name = names.get(seatId);
    return name === undefined ? seatId : t("seats.nameShort", name);
  };
}
