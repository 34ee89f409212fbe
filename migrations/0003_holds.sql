-- The Redis that holds an event's live holds, and how often it had to be filled again. A map version is
-- generation * 2^32 + sequence, so it grows even when Redis forgets everything.
CREATE TABLE hold_generations (
    event_id      text PRIMARY KEY REFERENCES events,
    generation    bigint NOT NULL CHECK (generation > 0 AND generation < 2097152),
    run_id        text NOT NULL,
    ready         boolean NOT NULL,
    rebuild_until timestamptz
);

-- The ledger of holds, written behind from Redis' change stream. It decides nothing.
CREATE TABLE holds (
    hold_id     text PRIMARY KEY,
    event_id    text NOT NULL REFERENCES events,
    identity    text NOT NULL,
    seats       integer[] NOT NULL,
    total       bigint NOT NULL,
    currency    text NOT NULL,
    status      text NOT NULL CHECK (status IN ('live', 'claimed', 'sold', 'released', 'replaced', 'expired', 'lost')),
    order_id    text,
    version     bigint NOT NULL,
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    changed_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX holds_by_event ON holds (event_id, created_at);

CREATE TABLE hold_ledger_positions (
    event_id text PRIMARY KEY REFERENCES events,
    version  bigint NOT NULL
);

-- Seats that an unfinished order has claimed: written with the order, deleted by the transaction that makes the order
-- final. A rebuild of Redis gives these seats back to their orders.
CREATE TABLE hold_claims (
    order_id       text PRIMARY KEY,
    event_id       text NOT NULL REFERENCES events,
    hold_id        text NOT NULL,
    identity       text NOT NULL,
    seats          integer[] NOT NULL,
    prices         bigint[] NOT NULL,
    currency       text NOT NULL,
    created_at     timestamptz NOT NULL,
    expires_at     timestamptz NOT NULL,
    max_expires_at timestamptz NOT NULL,
    claimed_at     timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX hold_claims_by_event ON hold_claims (event_id);
