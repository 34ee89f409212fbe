CREATE TABLE events (
    event_id                text PRIMARY KEY,
    title                   text NOT NULL,
    venue_id                text NOT NULL REFERENCES venues,
    -- Wall time at the venue and its zone: the event does not move when a zone's rules do.
    starts_at               timestamp NOT NULL,
    timezone                text NOT NULL,
    -- An instant: a sale starts at one moment everywhere.
    onsale_at               timestamptz NOT NULL,
    status                  text NOT NULL DEFAULT 'onsale'
        CHECK (status IN ('onsale', 'offsale', 'canceled', 'postponed', 'rescheduled')),
    currency                text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    hold_seconds            integer NOT NULL CHECK (hold_seconds > 0),
    hold_max_seconds        integer NOT NULL CHECK (hold_max_seconds >= hold_seconds),
    late_grace_seconds      integer NOT NULL CHECK (late_grace_seconds >= 0),
    payment_unknown_seconds integer NOT NULL CHECK (payment_unknown_seconds > 0),
    event_ticket_limit      integer NOT NULL CHECK (event_ticket_limit > 0),
    instrument_ticket_limit integer CHECK (instrument_ticket_limit > 0),
    orphan_rule             text NOT NULL CHECK (orphan_rule IN ('off', 'lenient', 'strict')),
    hold_engine             text NOT NULL CHECK (hold_engine IN ('redis', 'postgres')),
    end_session_on_purchase boolean NOT NULL,
    layout_id               text NOT NULL,
    created_at              timestamptz NOT NULL DEFAULT now(),
    updated_at              timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX events_by_start ON events (starts_at, event_id);

-- What fans download once: the body is addressed by its hash and never changes.
CREATE TABLE layouts (
    layout_id text PRIMARY KEY,
    body      bytea NOT NULL
);
ALTER TABLE events ADD FOREIGN KEY (layout_id) REFERENCES layouts;

CREATE TABLE event_prices (
    event_id    text NOT NULL REFERENCES events,
    category_id text NOT NULL,
    amount      bigint NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (event_id, category_id)
);

-- The truth about what is sold. `version` counts the changes of one seat; whoever changes `status` raises it, and
-- copies elsewhere (Redis) ignore a write that carries an older version.
CREATE TABLE event_seats (
    event_id   text NOT NULL REFERENCES events,
    idx        integer NOT NULL,
    status     text NOT NULL DEFAULT 'available' CHECK (status IN ('available', 'sold', 'blocked')),
    version    bigint NOT NULL DEFAULT 0,
    order_id   text,
    owner      text,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (event_id, idx),
    CHECK ((status = 'sold') = (order_id IS NOT NULL)),
    CHECK ((status = 'sold') = (owner IS NOT NULL))
);
CREATE INDEX event_seats_taken ON event_seats (event_id, changed_at) WHERE version > 0;
