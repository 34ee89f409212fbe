// Follows the map: changes since our version every second or two; a version too old means the whole
// map again. Silent while nobody looks at the page, at once when somebody does.

import { pauseOrReturn } from "../base/dom";
import type { Api } from "../wire/api";
import type { SeatChanges } from "../wire/types";
import type { Availability } from "./availability";

const INTERVAL_MS = 1_500;
/** ± a third, so that a hall full of phones does not ask in step. */
const JITTER = 1 / 3;
const BACKOFF_MAX_MS = 15_000;
const GONE = 410;

export async function fetchMap(api: Api, event: string): Promise<Uint8Array | null> {
  const answer = await api.call<Uint8Array>({ path: `/v1/events/${event}/seatmap?format=bin&planes=2`, as: "bytes" });
  return answer.ok ? answer.body : null;
}

export async function follow(
  api: Api, event: string, availability: Availability, onChanged: (seats: number[]) => void, life: AbortSignal,
): Promise<void> {
  let failures = 0;
  while (!life.aborted) {
    const base = Math.min(BACKOFF_MAX_MS, INTERVAL_MS * 2 ** failures);
    await pauseOrReturn(base * (1 - JITTER + 2 * JITTER * Math.random()), life);
    if (document.visibilityState === "hidden" || life.aborted) continue;
    const changed = await look(api, event, availability, life);
    failures = changed === null ? Math.min(failures + 1, 6) : 0;
    if (changed !== null && changed.length > 0) onChanged(changed);
  }
}

async function look(api: Api, event: string, availability: Availability, life: AbortSignal): Promise<number[] | null> {
  const path = `/v1/events/${event}/seatmap/changes?since=${availability.version}`;
  const answer = await api.call<SeatChanges>({ path, signal: life });
  if (answer.ok) return availability.apply(answer.body);
  if (answer.status !== GONE) return null;
  const bytes = await fetchMap(api, event);
  return bytes === null ? null : availability.replace(bytes);
}
