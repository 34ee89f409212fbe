import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./source.mjs";

const { outcomeOfOrder, outcomeOfProblem } = await load("checkout/outcome.ts");

const KINDS = {
  payment_pending: "pending", requires_action: "pending", payment_unknown: "pending", authorized: "pending",
  confirmed: "booked", captured: "booked", payment_failed: "retry", expired: "over", voided: "over",
  refund_pending: "over", refunded: "over", refund_failed: "over", claim: "over",
};

for (const [status, kind] of Object.entries(KINDS)) {
  test(`an order that is ${status} is ${kind}`, () => {
    assert.equal(outcomeOfOrder({ order_id: "ord_1", status, booking_id: "bk_1" }).kind, kind);
  });
}

test("problems: a decline allows another try, a lost answer the same one, the rest ends", () => {
  const of = (slug, status, body = {}) => outcomeOfProblem({ slug, status, body, detail: "", retryAfterMs: null });
  assert.deepEqual(of("payment-failed", 402, { decline_code: "insufficient_funds" }).values, { code: "insufficient_funds" });
  for (const [slug, status] of [["network", 0], ["overloaded", 503], ["idempotency-in-progress", 409], ["status-500", 500]]) {
    assert.equal(of(slug, status).kind, "again", slug);
  }
  assert.equal(of("hold-expired", 410).kind, "over");
  assert.equal(of("seats-reassigned", 409, { payment: "refund_pending" }).money, "checkout.money.refunded");
  assert.equal(of("seats-reassigned", 409, { payment: "voided" }).money, "checkout.money.voided");
  assert.equal(of("admission-required", 403).kind, "toRoom");
});
