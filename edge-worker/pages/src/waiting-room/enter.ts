// Entering: asking for admission, and turning the admission token into a session. The token is kept
// before it is redeemed, so a lost answer, a reload or a second tab redeems the same one again.

import type { EventStore } from "../identity/store";
import type { Api } from "../wire/api";
import type { Problem } from "../wire/problem";
import type { AdmissionAnswer, SessionAnswer } from "../wire/types";

export type Entered =
  | { kind: "in" }
  | { kind: "wait"; ms: number }
  /** A session lives, but this browser has no way to prove it any more. */
  | { kind: "elsewhere" }
  | { kind: "lost"; why: "moved" | "spent" }
  | { kind: "ended"; phase: "sold_out" | "closed" }
  | { kind: "refused"; problem: Problem };

const ASK_AGAIN_MS = 1_500;

export async function ask(api: Api, store: EventStore, ticket: string): Promise<Entered> {
  const identity = await store.identity();
  const answer = await api.call<AdmissionAnswer>({
    method: "POST", path: `/v1/events/${store.event}/admission`,
    headers: { Authorization: `DPoP ${ticket}` }, proof: { identity, token: ticket },
  });
  if (answer.ok) {
    const token = answer.body.admission_token;
    if (token === undefined) return { kind: "wait", ms: answer.body.poll_after_ms ?? ASK_AGAIN_MS };
    await store.put("admission", token);
    return redeem(api, store, token);
  }
  switch (answer.problem.slug) {
    case "already-admitted": return alreadyAdmitted(api, store);
    case "place-moved": return { kind: "lost", why: "moved" };
    case "place-spent": return { kind: "lost", why: "spent" };
    case "sold-out": return { kind: "ended", phase: "sold_out" };
    case "room-closed": return { kind: "ended", phase: "closed" };
    default: return { kind: "refused", problem: answer.problem };
  }
}

/** Redeeming again renews the cookie, should it have gone; the session kept here is as good. */
async function alreadyAdmitted(api: Api, store: EventStore): Promise<Entered> {
  const admission = await store.get("admission");
  if (admission !== undefined) {
    const entered = await redeem(api, store, admission);
    if (entered.kind === "in" || entered.kind === "wait") return entered;
  }
  return (await store.get("session")) === undefined ? { kind: "elsewhere" } : { kind: "in" };
}

async function redeem(api: Api, store: EventStore, admission: string): Promise<Entered> {
  const identity = await store.identity();
  const answer = await api.call<SessionAnswer>({
    method: "POST", path: `/v1/events/${store.event}/session`,
    headers: { "X-Admission-Token": admission }, proof: { identity, token: admission },
  });
  if (answer.ok) {
    await store.put("session", answer.body.session_token);
    return { kind: "in" };
  }
  if (answer.status === 0 || answer.status >= 500) return { kind: "wait", ms: answer.problem.retryAfterMs ?? ASK_AGAIN_MS };
  await store.remove("admission");
  // Used and over, or expired unused: the next ask tells which.
  if (answer.status === 409 || answer.status === 401 || answer.status === 410) return { kind: "wait", ms: ASK_AGAIN_MS };
  return { kind: "refused", problem: answer.problem };
}
