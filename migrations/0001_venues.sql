-- A venue is one imported seating plan. Seats are numbered by the plan's own order (`idx`), and the neighbour to the
-- right is stored, never computed from seat numbers: odd/even rows and aisles make arithmetic wrong.
CREATE TABLE venues (
    venue_id   text PRIMARY KEY,
    name       text NOT NULL,
    format     text NOT NULL,
    seats      integer NOT NULL CHECK (seats >= 0),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE venue_categories (
    venue_id    text NOT NULL REFERENCES venues,
    category_id text NOT NULL,
    ordinal     integer NOT NULL,
    name        text NOT NULL,
    PRIMARY KEY (venue_id, category_id)
);

CREATE TABLE venue_seats (
    venue_id        text NOT NULL REFERENCES venues,
    idx             integer NOT NULL CHECK (idx >= 0),
    seat_id         text NOT NULL,
    section         text NOT NULL,
    row_name        text NOT NULL,
    number          text NOT NULL,
    x               double precision NOT NULL,
    y               double precision NOT NULL,
    category_id     text NOT NULL,
    accessible      boolean NOT NULL,
    companion       boolean NOT NULL,
    restricted_view boolean NOT NULL,
    right_idx       integer,
    PRIMARY KEY (venue_id, idx),
    UNIQUE (venue_id, seat_id),
    FOREIGN KEY (venue_id, category_id) REFERENCES venue_categories
);

-- General admission areas are imported and shown; they are sold in a later release.
CREATE TABLE venue_areas (
    venue_id    text NOT NULL REFERENCES venues,
    area        text NOT NULL,
    ordinal     integer NOT NULL,
    capacity    integer NOT NULL CHECK (capacity >= 0),
    category_id text NOT NULL,
    PRIMARY KEY (venue_id, area),
    FOREIGN KEY (venue_id, category_id) REFERENCES venue_categories
);
