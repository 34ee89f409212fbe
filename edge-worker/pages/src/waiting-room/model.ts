// What the waiting room knows, and what it therefore shows. Pure: the view only copies a scene.

import type { Key } from "../i18n/en";
import type { Phase, RoomDocument, Standing } from "../wire/types";

export type Activity =
  | { kind: "idle" }
  | { kind: "joining"; solved: number; puzzles: number }
  | { kind: "asking"; sinceMs: number }
  | { kind: "in" };

export interface Fault {
  key: Key;
  values?: Record<string, string | number>;
}

export interface Model {
  room: RoomDocument | null;
  hasTicket: boolean;
  standing: Standing | null;
  activity: Activity;
  fault: Fault | null;
  offline: boolean;
  /** Let in before, but the shop did not see it: the fan continues by hand. */
  continueByHand: boolean;
}

export type Action = "join" | "rejoin" | "continue";

export interface Scene {
  headline: Key;
  lead: Key;
  /** The instant that `{time}` in the lead names, in server milliseconds. */
  leadTime: number | null;
  clock: { until: number; label: Key } | null;
  facts: { position: number | null; ahead: number | null; eta: Standing["eta"]; drawn: boolean } | null;
  bar: { value: number; label: Key } | null;
  action: Action | null;
  tone: "calm" | "good" | "warn" | "end";
}

/** Asking longer than this means that the shop is full: said, so that waiting is understood. */
export const SHOP_FULL_AFTER_MS = 8_000;

export function scene(model: Model, now: number): Scene {
  const { room, activity } = model;
  const plain: Scene = {
    headline: "room.h1", lead: "room.loading", leadTime: null, clock: null, facts: null, bar: null, action: null, tone: "calm",
  };
  if (model.continueByHand) return { ...plain, headline: "room.in.head", lead: "fault.cookies", action: "continue", tone: "warn" };
  if (activity.kind === "in") return { ...plain, headline: "room.in.head", lead: "room.in.lead", tone: "good" };
  if (room === null) return plain;
  if (room.phase === "sold_out") return { ...plain, headline: "room.soldOut.head", lead: "room.soldOut.lead", tone: "end" };
  if (room.phase === "closed") return { ...plain, headline: "room.closed.head", lead: "room.closed.lead", tone: "end" };
  if (activity.kind === "joining") {
    const value = activity.puzzles === 0 ? 0 : activity.solved / activity.puzzles;
    const sending = value >= 1;
    return {
      ...plain, headline: "room.joining.head", lead: sending ? "room.joining.send" : "room.joining.lead",
      bar: { value, label: "room.joining.progress" },
    };
  }
  return model.hasTicket ? withTicket(model, room, plain, now) : withoutTicket(room, plain, now, model.fault);
}

function withoutTicket(room: RoomDocument, plain: Scene, now: number, fault: Fault | null): Scene {
  const opens = Date.parse(room.registration_opens_at);
  const onsale = Date.parse(room.onsale_at);
  const action: Action = fault?.key === "room.spent" || fault?.key === "fault.moved" ? "rejoin" : "join";
  if (room.phase === "scheduled") {
    return {
      ...plain, headline: "room.scheduled.head", lead: "room.scheduled.lead", leadTime: opens,
      clock: { until: opens, label: "room.scheduled.clock" },
    };
  }
  if (room.phase === "registration" && now < onsale) {
    return {
      ...plain, headline: "room.registration.head", lead: "room.registration.lead", leadTime: onsale, action,
      clock: { until: onsale, label: "room.registration.clock" },
    };
  }
  if (room.phase === "paused") return { ...plain, headline: "room.paused.head", lead: "room.pausedJoin.lead", action, tone: "warn" };
  if (room.phase === "returns_only") return { ...plain, headline: "room.returns.head", lead: "room.returns.lead", action, tone: "warn" };
  return { ...plain, headline: "room.late.head", lead: "room.late.lead", action };
}

function withTicket(model: Model, room: RoomDocument, plain: Scene, now: number): Scene {
  const onsale = Date.parse(room.onsale_at);
  const position = model.standing?.position ?? null;
  const facts = { position, ahead: aheadOf(model), eta: model.standing?.eta ?? null, drawn: drawn(room.phase) };
  if (model.activity.kind === "asking") {
    const full = now - model.activity.sinceMs > SHOP_FULL_AFTER_MS;
    return { ...plain, headline: "room.turn.head", lead: full ? "room.turn.full" : "room.turn.lead", facts, bar: lineBar(1), tone: "good" };
  }
  if (room.phase === "scheduled" || room.phase === "registration") {
    return {
      ...plain, headline: "room.registered.head", lead: "room.registered.lead", leadTime: onsale, tone: "good",
      clock: { until: onsale, label: "room.registration.clock" },
    };
  }
  if (room.phase === "drawing") return { ...plain, headline: "room.drawing.head", lead: "room.drawing.lead", facts, bar: lineBar(0) };
  const bar = lineBar(progress(position, facts.ahead));
  if (room.phase === "paused") return { ...plain, headline: "room.paused.head", lead: "room.paused.lead", facts, bar, tone: "warn" };
  if (room.phase === "returns_only") return { ...plain, headline: "room.returns.head", lead: "room.returns.lead", facts, bar, tone: "warn" };
  return { ...plain, headline: "room.line.head", lead: position === null ? "room.settling.lead" : "room.line.lead", facts, bar };
}

function lineBar(value: number): NonNullable<Scene["bar"]> {
  return { value, label: "room.facts.progress" };
}

function drawn(phase: Phase): boolean {
  return phase !== "scheduled" && phase !== "registration" && phase !== "drawing";
}

/** People ahead: what the edge answered, or fewer if the room has served more since. */
export function aheadOf(model: Pick<Model, "standing" | "room">): number | null {
  const { standing, room } = model;
  if (standing === null || standing.position === null) return null;
  const unserved = room === null ? standing.position : Math.max(0, standing.position - room.serving);
  return standing.ahead_of_you === null ? unserved : Math.min(standing.ahead_of_you, unserved);
}

export function progress(position: number | null, ahead: number | null): number {
  if (position === null || ahead === null) return 0;
  return position === 0 ? 1 : Math.min(1, Math.max(0, 1 - ahead / position));
}

/** Answered places never go up; a stale answer from a slow tab must not either. */
export function mergeStanding(known: Standing | null, heard: Standing): Standing {
  if (known === null || known.position === null || heard.position === null) return heard;
  if (heard.position < known.position) return heard;
  const ahead = heard.ahead_of_you === null || known.ahead_of_you === null
    ? heard.ahead_of_you : Math.min(heard.ahead_of_you, known.ahead_of_you);
  return { ...heard, position: known.position, ahead_of_you: ahead };
}
