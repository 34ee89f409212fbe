// What an answer about an order means: pure, so that every status of the contract has its sentence.

import type { Key } from "../i18n/en";
import type { Problem } from "../wire/problem";
import { isTransient } from "../wire/problem";
import type { Order } from "../wire/types";

export type Outcome =
  | { kind: "booked"; bookingId: string | null; captured: boolean }
  | { kind: "pending"; say: Key | null }
  /** Another try is possible: the seats are still held. */
  | { kind: "retry"; key: Key; values: Record<string, string | number> }
  /** Undecided: the same request, with the same key, may be sent again. */
  | { kind: "again"; afterMs: number | null }
  | { kind: "over"; key: Key; values: Record<string, string | number>; money: Key | null }
  | { kind: "toRoom"; key: Key };

export function outcomeOfOrder(order: Order): Outcome {
  switch (order.status) {
    case "confirmed":
    case "captured":
      return { kind: "booked", bookingId: order.booking_id ?? null, captured: order.status === "captured" };
    case "payment_pending":
    case "authorized":
      return { kind: "pending", say: null };
    case "payment_unknown":
      return { kind: "pending", say: "checkout.pending" };
    case "requires_action":
      return { kind: "pending", say: "checkout.action" };
    case "payment_failed":
      return order.decline_code
        ? { kind: "retry", key: "checkout.declined", values: { code: order.decline_code } }
        : { kind: "retry", key: "checkout.failed", values: {} };
    case "expired":
      return { kind: "over", key: "checkout.expired", values: {}, money: null };
    case "voided":
      return { kind: "over", key: "checkout.reassigned", values: {}, money: "checkout.money.voided" };
    case "refund_pending":
    case "refunded":
      return { kind: "over", key: "checkout.reassigned", values: {}, money: "checkout.money.refunded" };
    case "refund_failed":
    case "claim":
      return { kind: "over", key: "checkout.claim", values: { claim: order.claim_id ?? order.order_id }, money: null };
  }
}

export function outcomeOfProblem(problem: Problem): Outcome {
  switch (problem.slug) {
    case "payment-failed": {
      const code = problem.body["decline_code"];
      return typeof code === "string" && code !== ""
        ? { kind: "retry", key: "checkout.declined", values: { code } } : { kind: "retry", key: "checkout.failed", values: {} };
    }
    case "hold-expired": return { kind: "over", key: "checkout.expired", values: {}, money: null };
    case "seats-reassigned": {
      const text = JSON.stringify(problem.body);
      const money: Key = text.includes("refund") ? "checkout.money.refunded" : "checkout.money.voided";
      return { kind: "over", key: "checkout.reassigned", values: {}, money };
    }
    case "limit-exceeded":
      return { kind: "over", key: "checkout.limit", values: { limit: Number(problem.body["limit"] ?? 0) }, money: null };
    case "proof-of-possession-failed": return { kind: "retry", key: "fault.proof", values: {} };
    case "admission-required": return { kind: "toRoom", key: "seats.sessionOver" };
    default:
      if (isTransient(problem) || problem.status >= 500) return { kind: "again", afterMs: problem.retryAfterMs };
      if (problem.status === 404) return { kind: "over", key: "checkout.expired", values: {}, money: null };
      if (problem.status === 401 || problem.status === 403) return { kind: "toRoom", key: "seats.sessionOver" };
      return { kind: "retry", key: "fault.other", values: { slug: problem.slug } };
  }
}
