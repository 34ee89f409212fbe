// A purchase over the wire, from the press of the button to its outcome, through lost answers and
// reloads. The record in IndexedDB is written before the request: who finds it there, resumes it.

import { pause } from "../base/dom";
import { asShopper } from "../identity/session";
import type { EventStore, Purchase } from "../identity/store";
import type { Api } from "../wire/api";
import type { Hold, Order } from "../wire/types";
import { type Outcome, outcomeOfOrder, outcomeOfProblem } from "./outcome";

/** The origin answers within its inline bound (10 s); beyond this the answer is lost, not late. */
const PURCHASE_TIMEOUT_MS = 30_000;
const POLL_FIRST_MS = 1_000;
const POLL_MAX_MS = 5_000;

export class Purchasing {
  constructor(private readonly api: Api, private readonly store: EventStore) {}

  async begin(hold: Hold, method: string): Promise<Purchase> {
    const purchase: Purchase = {
      holdId: hold.hold_id, idempotencyKey: crypto.randomUUID(), method, orderId: null, seatIds: hold.seat_ids,
    };
    await this.store.put("purchase", purchase);
    return purchase;
  }

  /** Sends, or takes up, a purchase and follows it until it is decided. */
  async settle(purchase: Purchase, onPending: (outcome: Outcome) => void): Promise<Outcome> {
    for (let attempt = 0; ; attempt++) {
      const outcome = purchase.orderId === null ? await this.#send(purchase) : await this.order(purchase.orderId);
      if (outcome.kind === "retry" || outcome.kind === "over") await this.store.remove("purchase");
      if (outcome.kind !== "pending" && outcome.kind !== "again") return outcome;
      onPending(outcome);
      const own = Math.min(POLL_MAX_MS, POLL_FIRST_MS * 1.3 ** attempt) * (0.85 + Math.random() * 0.3);
      await pause(Math.max(own, outcome.kind === "again" ? outcome.afterMs ?? 0 : 0));
    }
  }

  async #send(purchase: Purchase): Promise<Outcome> {
    const path = `/v1/events/${this.store.event}/holds/${encodeURIComponent(purchase.holdId)}/purchase`;
    const answer = await this.api.call<Order>({
      method: "POST", path, timeoutMs: PURCHASE_TIMEOUT_MS,
      headers: { "Idempotency-Key": purchase.idempotencyKey }, body: { payment_method_token: purchase.method },
      ...(await asShopper(this.store)),
    });
    if (!answer.ok) return outcomeOfProblem(answer.problem);
    purchase.orderId = answer.body.order_id;
    await this.store.put("purchase", purchase);
    return outcomeOfOrder(answer.body);
  }

  async order(orderId: string): Promise<Outcome> {
    const path = `/v1/events/${this.store.event}/orders/${encodeURIComponent(orderId)}`;
    const answer = await this.api.call<Order>({ path, ...(await asShopper(this.store)) });
    return answer.ok ? outcomeOfOrder(answer.body) : outcomeOfProblem(answer.problem);
  }
}
