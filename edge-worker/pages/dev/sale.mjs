// The imagined sale behind the mock: a line that moves, seats that come and go, holds and bookings.

import { randomUUID } from "node:crypto";

const AVAILABLE = 0;
const HELD = 1;
const SOLD = 2;
/** Changes kept for `since`; older versions are told to fetch the map. */
const LOG_MAX = 500;

export class Sale {
  event = "evt_1";
  title = "Race Track, finals day";
  #version = 2 ** 32 + 1;
  #log = [];
  #places = new Map();
  #sessions = new Map();
  #holds = new Map();
  #bookings = [];

  constructor(options) {
    Object.assign(this, options);
    this.status = this.layout.seats.map(() => (Math.random() < options.busy ? (Math.random() < 0.8 ? SOLD : HELD) : AVAILABLE));
    this.index = new Map(this.layout.seats.map((seat, index) => [seat.seat_id, index]));
    setInterval(() => this.#stir(), 700).unref();
  }

  phase(now = Date.now()) {
    if (now < this.registrationAt) return "scheduled";
    if (now < this.onsaleAt) return "registration";
    return now < this.onsaleAt + 3000 ? "drawing" : "open";
  }

  #serving() {
    return Math.max(0, Math.floor(((Date.now() - this.onsaleAt - 3000) / 1000) * this.ratePerSecond));
  }

  room() {
    const open = this.phase() === "open";
    return {
      event: this.event, title: this.title, phase: this.phase(), server_time: new Date().toISOString(),
      registration_opens_at: new Date(this.registrationAt).toISOString(), onsale_at: new Date(this.onsaleAt).toISOString(),
      closes_at: new Date(this.onsaleAt + 3_600_000).toISOString(), serving: open ? this.#serving() : 0,
      queued: this.crowd + this.#places.size, admit_rate_per_minute: this.ratePerSecond * 60, version: this.#version,
      poll: { floor_ms: 1000, ceiling_ms: 10_000, jitter: 0.3 }, draw: null, inventory: null,
      message: { en: "Doors open at 18:00. Bags larger than A4 stay outside.", es: "Puertas a las 18:00." },
    };
  }

  join(jkt) {
    let place = this.#places.get(jkt);
    if (place === undefined) {
      place = { fraction: Math.random() * 0.4 + 0.2, position: null };
      this.#places.set(jkt, place);
    }
    if (this.phase() === "open") place.position ??= Math.floor(place.fraction * this.crowd);
    return place;
  }

  standing(jkt) {
    const place = this.#places.get(jkt);
    if (place === undefined) return null;
    if (this.phase() !== "open") return { phase: this.phase(), position: null, ahead_of_you: null, eta: null, may_ask: false, poll_after_ms: 1000 };
    const { position } = this.join(jkt);
    const ahead = Math.max(0, position - this.#serving());
    const seconds = ahead / this.ratePerSecond;
    return {
      phase: "open", position, ahead_of_you: ahead, eta: { p50_seconds: seconds, p90_seconds: seconds * 1.6 },
      may_ask: ahead === 0, poll_after_ms: 2000,
    };
  }

  ask(jkt) {
    const place = this.#places.get(jkt);
    if (place === undefined) return { refused: "proof-of-possession-failed", status: 401 };
    if (this.sessionLives(jkt)) return { refused: "already-admitted", status: 409 };
    if (this.#sessions.has(jkt)) {
      this.#sessions.delete(jkt);
      this.#places.delete(jkt);
      return { refused: "place-spent", status: 409 };
    }
    place.asked = (place.asked ?? 0) + 1;
    return { position: place.position, granted: place.asked > 2 };
  }

  openSession(jkt) {
    if (!this.sessionLives(jkt)) this.#sessions.set(jkt, Date.now() + this.sessionSeconds * 1000);
    return this.#sessions.get(jkt);
  }

  sessionLives(jkt) {
    return (this.#sessions.get(jkt) ?? 0) > Date.now();
  }

  map() {
    const plane = Math.ceil(this.status.length / 8);
    const bytes = Buffer.alloc(16 + 2 * plane);
    bytes.write("FGM1");
    bytes.writeBigUInt64BE(BigInt(this.#version), 4);
    bytes.writeUInt32BE(this.status.length, 12);
    this.status.forEach((status, seat) => {
      if (status === AVAILABLE) bytes[16 + (seat >> 3)] |= 1 << (seat & 7);
      if (status === SOLD) bytes[16 + plane + (seat >> 3)] |= 1 << (seat & 7);
    });
    return bytes;
  }

  changes(since) {
    if (since < this.#version - this.#log.length) return null;
    const seats = new Map(this.#log.slice(this.#log.length - (this.#version - since)).map(({ seat, status }) => [seat, status]));
    const of = (wanted) => [...seats].filter(([, status]) => status === wanted).map(([seat]) => seat);
    return { version: this.#version, available: of(AVAILABLE), held: of(HELD), sold: of(SOLD), areas: [] };
  }

  #set(seat, status) {
    this.status[seat] = status;
    this.#version += 1;
    this.#log.push({ seat, status });
    if (this.#log.length > LOG_MAX) this.#log.shift();
  }

  /** Other people, shopping. */
  #stir() {
    if (this.phase() !== "open") return;
    for (let i = 0; i < 6; i++) {
      const seat = Math.floor(Math.random() * this.status.length);
      if ([...this.#holds.values()].some((hold) => hold.seats.includes(seat))) continue;
      if (this.status[seat] !== SOLD) this.#set(seat, this.status[seat] === AVAILABLE ? HELD : Math.random() < 0.5 ? AVAILABLE : SOLD);
    }
  }

  #render(hold) {
    return {
      hold_id: hold.id, seat_ids: hold.seats.map((seat) => this.layout.seats[seat].seat_id), areas: [], stays: [],
      expires_at: new Date(hold.until).toISOString(), expires_in: Math.round((hold.until - Date.now()) / 1000),
      total: hold.seats.reduce((sum, seat) => sum + this.#price(seat), 0), currency: "EUR", versions: [this.#version], replaced: hold.replaced, extended: hold.extended === true,
    };
  }

  #price(seat) {
    return this.layout.categories.find((category) => category.id === this.layout.seats[seat].category).price;
  }

  holdsOf(jkt) {
    return [...this.#holds.values()].filter((hold) => hold.jkt === jkt && hold.until > Date.now()).map((hold) => this.#render(hold));
  }

  hold(jkt, seatIds) {
    const seats = seatIds.map((id) => this.index.get(id));
    if (seats.length > 6) return { refused: "limit-exceeded", status: 422, extra: { limit: 6, used: 0 } };
    const old = [...this.#holds.values()].filter((hold) => hold.jkt === jkt && hold.seats.some((seat) => seats.includes(seat)));
    const own = new Set(old.flatMap((hold) => hold.seats));
    const taken = seats.filter((seat) => this.status[seat] !== AVAILABLE && !own.has(seat));
    if (taken.length > 0) {
      const free = this.status.map((status, seat) => (status === AVAILABLE ? seat : -1)).filter((seat) => seat > taken[0]);
      const alternatives = [0, 1, 2].map((n) => free.slice(n * seats.length, (n + 1) * seats.length).map((seat) => this.layout.seats[seat].seat_id));
      return { refused: "seats-unavailable", status: 409, extra: { taken: taken.map((seat) => this.layout.seats[seat].seat_id), alternatives } };
    }
    for (const hold of old) this.release(jkt, hold.id);
    for (const seat of seats) this.#set(seat, HELD);
    const hold = { id: `hold_${randomUUID()}`, jkt, seats, until: Date.now() + this.holdSeconds * 1000, replaced: old.map((one) => one.id) };
    this.#holds.set(hold.id, hold);
    return this.#render(hold);
  }

  extend(jkt, id) {
    const hold = this.#holds.get(id);
    if (hold?.jkt !== jkt || hold.extended) return null;
    Object.assign(hold, { extended: true, until: Date.now() + this.holdSeconds * 1000 });
    return this.#render(hold);
  }

  release(jkt, id) {
    const hold = this.#holds.get(id);
    if (hold?.jkt !== jkt) return;
    this.#holds.delete(id);
    for (const seat of hold.seats) this.#set(seat, AVAILABLE);
  }

  buy(jkt, id) {
    const hold = this.#holds.get(id);
    if (hold?.jkt !== jkt || hold.until < Date.now()) return null;
    this.#holds.delete(id);
    for (const seat of hold.seats) this.#set(seat, SOLD);
    const { seat_ids, total, currency } = this.#render(hold);
    const booking = {
      booking_id: `bk_${randomUUID().slice(0, 8)}`, order_id: `ord_${randomUUID()}`, jkt, event: this.event,
      seat_ids, areas: [], stays: [], total, currency, status: "confirmed", created_at: new Date().toISOString(),
    };
    this.#bookings.unshift(booking);
    this.#sessions.set(jkt, 0);
    return booking;
  }

  order(jkt, id) {
    return this.#bookings.find((booking) => booking.jkt === jkt && booking.order_id === id) ?? null;
  }

  bookingsOf(jkt, limit, cursor) {
    const mine = this.#bookings.filter((booking) => booking.jkt === jkt);
    const from = cursor === null ? 0 : Number(cursor);
    const next = from + limit < mine.length ? String(from + limit) : null;
    return { bookings: mine.slice(from, from + limit), next_cursor: next };
  }
}
