-- A booking is seats sold. `event_seats` says which order a seat is sold to; a booking says what was sold for how much.
CREATE TABLE bookings (
    booking_id text PRIMARY KEY,
    order_id   text NOT NULL UNIQUE REFERENCES orders,
    event_id   text NOT NULL REFERENCES events,
    identity   text NOT NULL,
    seats      integer[] NOT NULL,
    seat_ids   text[] NOT NULL,
    total      bigint NOT NULL CHECK (total >= 0),
    currency   text NOT NULL,
    status     text NOT NULL DEFAULT 'confirmed' CHECK (status IN ('confirmed', 'canceled', 'refund_pending', 'refunded')),
    -- Seat versions of the moment the seats were given back, for repeating it in the hold store.
    freed      bigint[],
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- The order in which a buyer reads them: newest first, microseconds and then the identifier decide.
CREATE INDEX bookings_of_buyer ON bookings (identity, created_at DESC, booking_id DESC);
CREATE INDEX bookings_by_event ON bookings (event_id);

-- Money on its way back. One row and one provider key each.
CREATE TABLE refunds (
    refund_id   text PRIMARY KEY,
    order_id    text NOT NULL REFERENCES orders,
    booking_id  text NOT NULL REFERENCES bookings,
    amount      bigint NOT NULL CHECK (amount > 0),
    currency    text NOT NULL,
    status      text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'succeeded', 'failed')),
    provider_id text,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Cancelling a booking gives the whole amount back, once.
CREATE UNIQUE INDEX refunds_one_per_booking ON refunds (booking_id) WHERE status <> 'failed';

-- Money whose whereabouts the provider did not tell within the bound: for support to settle.
CREATE TABLE support_claims (
    claim_id   text PRIMARY KEY,
    order_id   text NOT NULL UNIQUE REFERENCES orders,
    event_id   text NOT NULL REFERENCES events,
    amount     bigint NOT NULL,
    currency   text NOT NULL,
    intent_id  text NOT NULL,
    reason     text NOT NULL,
    status     text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'settled')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    settled_at timestamptz
);
CREATE INDEX support_claims_open ON support_claims (created_at) WHERE status = 'open';

-- What happened, for subscribers. Written in the transaction of its cause, in order per event.
CREATE TABLE outbox (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id   text NOT NULL REFERENCES events,
    kind       text NOT NULL,
    body       jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX outbox_by_event ON outbox (event_id, id);
