// When to ask again. Everybody reads the same small document, so the crowd's manners are decided
// here: between the room's floor and ceiling, sooner when something is about to happen, and spread.

import type { RoomDocument } from "../wire/types";

/** A turn this many polls away is followed closely enough. */
const POLLS_UNTIL_TURN = 10;
/** Before an instant, a third of what remains: far away seldom, near often. */
const SHARE_OF_REMAINDER = 3;

export function nextPollMs(room: RoomDocument, now: number, ahead: number | null, random: number): number {
  const { floor_ms: floor, ceiling_ms: ceiling } = room.poll;
  const instant = nextInstant(room, now);
  if (instant !== null) {
    const remaining = instant - now;
    // Right at the opening everybody wants to know; spread over one floor.
    if (remaining <= floor) return Math.max(250, remaining) + random * floor;
    return spread(Math.min(clamp(remaining / SHARE_OF_REMAINDER, floor, ceiling), remaining), room, random);
  }
  return spread(clamp(wanted(room, ahead), floor, ceiling), room, random);
}

function nextInstant(room: RoomDocument, now: number): number | null {
  const instant = room.phase === "scheduled" ? Date.parse(room.registration_opens_at)
    : room.phase === "registration" ? Date.parse(room.onsale_at) : Number.NaN;
  return instant > now ? instant : null;
}

function wanted(room: RoomDocument, ahead: number | null): number {
  switch (room.phase) {
    case "sold_out":
    case "closed":
      return room.poll.ceiling_ms;
    case "paused":
    case "returns_only":
      return room.poll.ceiling_ms / SHARE_OF_REMAINDER;
    case "open":
      if (ahead === null || room.admit_rate_per_minute <= 0) return room.poll.floor_ms;
      return (ahead / room.admit_rate_per_minute) * 60_000 / POLLS_UNTIL_TURN;
    default:
      return room.poll.floor_ms;
  }
}

/** Multiplied by 1 ± jitter, never below the floor. */
function spread(ms: number, room: RoomDocument, random: number): number {
  return Math.max(room.poll.floor_ms, ms * (1 + room.poll.jitter * (2 * random - 1)));
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

/** After `failures` failed polls in a row: doubling from the floor to the ceiling, spread over half. */
export function backoffMs(failures: number, floor: number, ceiling: number, random: number): number {
  return Math.min(ceiling, floor * 2 ** Math.min(failures, 10)) * (0.5 + random / 2);
}
