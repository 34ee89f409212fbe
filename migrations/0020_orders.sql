-- An order is one attempt to buy what a hold keeps. The row is durable before seats are claimed or a provider is asked,
-- and it is never deleted: whoever paid can always be found.
CREATE TABLE orders (
    order_id       text PRIMARY KEY,
    event_id       text NOT NULL REFERENCES events,
    hold_id        text NOT NULL,
    identity       text NOT NULL,
    seats          integer[] NOT NULL CHECK (cardinality(seats) > 0),
    prices         bigint[] NOT NULL,
    seat_ids       text[] NOT NULL,
    total          bigint NOT NULL CHECK (total > 0),
    currency       text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    payment_method text NOT NULL,
    status         text NOT NULL CHECK (status IN (
        'payment_pending', 'requires_action', 'payment_unknown', 'authorized', 'confirmed', 'captured',
        'payment_failed', 'expired', 'voided', 'refund_pending', 'refunded', 'refund_failed', 'claim')),
    -- The provider's intent, stored before it is confirmed: an unknown outcome is read, never guessed.
    intent_id      text UNIQUE,
    client_secret  text,
    instrument     text,
    -- Why it failed, or why it lost its seats; with what belongs to that reason.
    reason         text,
    decline_code   text,
    -- Until when an unknown outcome or a client's step is waited for.
    unknown_since  timestamptz,
    deadline       timestamptz,
    booking_id     text,
    claim_id       text,
    -- Shown to the buyer as confirmed: the first such answer ends the session.
    shown          boolean NOT NULL DEFAULT false,
    -- When somebody has to look at the order again; none once nothing is left to do. A lease moves it ahead.
    due_at         timestamptz,
    lease_token    text,
    tries          integer NOT NULL DEFAULT 0,
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK (cardinality(seats) = cardinality(prices) AND cardinality(seats) = cardinality(seat_ids)),
    CHECK ((status IN ('confirmed', 'captured', 'refund_pending', 'refunded', 'refund_failed')) <= (booking_id IS NOT NULL)),
    CHECK ((status IN ('payment_unknown', 'requires_action', 'authorized', 'confirmed', 'captured', 'voided', 'claim',
                       'refund_pending', 'refunded', 'refund_failed')) <= (intent_id IS NOT NULL))
);
-- A double click makes one order by construction.
CREATE UNIQUE INDEX orders_one_active_per_hold ON orders (hold_id)
    WHERE status NOT IN ('payment_failed', 'expired', 'voided');
CREATE INDEX orders_due ON orders (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX orders_by_event ON orders (event_id, status);

-- The client's idempotency keys of purchases; the answer is rendered from the order as it is now.
CREATE TABLE purchase_keys (
    identity    text NOT NULL,
    key         text NOT NULL,
    fingerprint text NOT NULL,
    order_id    text NOT NULL REFERENCES orders,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (identity, key)
);

-- What a buyer has bought of an event, and what a payment instrument has: the caps, counted in the transaction that
-- sells, so that two holds paid side by side cannot pass together.
CREATE TABLE buyers (
    event_id text NOT NULL REFERENCES events,
    identity text NOT NULL,
    bought   integer NOT NULL CHECK (bought >= 0),
    PRIMARY KEY (event_id, identity)
);
CREATE TABLE instruments (
    event_id    text NOT NULL REFERENCES events,
    fingerprint text NOT NULL,
    bought      integer NOT NULL CHECK (bought >= 0),
    PRIMARY KEY (event_id, fingerprint)
);
