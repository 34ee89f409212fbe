import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./source.mjs";

const { decodeMap, Availability, MapMalformed } = await load("seats/availability.ts");
const { Plan, isInside, hullOf } = await load("seats/plan.ts");
const { shifts } = await load("seats/gaps.ts");
const { Choice } = await load("seats/choice.ts");
const { Viewport } = await load("seats/viewport.ts");
const { SeatGrid } = await load("seats/seat-grid.ts");
const { matches } = await load("seats/filter.ts");
const { explain } = await load("seats/refusals.ts");
const { fullName, shortNames } = await load("seats/names.ts");

/** 0 available, 1 held, 2 sold. */
function packed(status, version = 2n ** 32n + 7n) {
  const plane = Math.ceil(status.length / 8);
  const bytes = Buffer.alloc(16 + 2 * plane);
  bytes.write("FGM1");
  bytes.writeBigUInt64BE(version, 4);
  bytes.writeUInt32BE(status.length, 12);
  status.forEach((one, seat) => {
    if (one === 0) bytes[16 + (seat >> 3)] |= 1 << (seat & 7);
    if (one === 2) bytes[16 + plane + (seat >> 3)] |= 1 << (seat & 7);
  });
  return new Uint8Array(bytes);
}

/** Sections of rows of five; B lies far to the east. */
function layout() {
  const seats = [];
  for (const [section, x, category] of [["A", 0, "1"], ["B", 10_000, "2"]]) {
    for (const [line, row] of ["1", "2", "3"].entries()) {
      for (let i = 0; i < 5; i++) {
        seats.push({ seat_id: `${section}-${row}-${i + 1}`, section, row, number: String(i + 1), x: x + i * 20, y: line * 24, category, accessible: section === "A" && row === "1" && i === 0 });
      }
    }
  }
  return {
    layout_id: "l", seats, areas: [],
    categories: [{ id: "1", name: "Stands", price: 4500, currency: "EUR" }, { id: "2", name: "Track", price: 7000, currency: "EUR" }],
  };
}

const world = (status = new Array(30).fill(0)) => {
  const plan = new Plan(layout());
  const availability = new Availability(packed(status));
  return { plan, availability, choice: new Choice(plan, availability) };
};

test("the packed map: bits LSB first, two planes, a 64-bit version", () => {
  const status = Array.from({ length: 21 }, (_, seat) => seat % 3);
  const map = decodeMap(packed(status));
  assert.deepEqual([...map.status], status);
  assert.equal(map.version, 2 ** 32 + 7);
  assert.equal(decodeMap(packed([0], BigInt(Number.MAX_SAFE_INTEGER))).version, Number.MAX_SAFE_INTEGER);
  assert.equal(decodeMap(packed([])).status.length, 0);
});

test("the packed map: anything else is refused", () => {
  const good = packed([0, 1, 2]);
  assert.throws(() => decodeMap(good.slice(0, 10)), MapMalformed);
  assert.throws(() => decodeMap(good.slice(0, -1)), MapMalformed);
  assert.throws(() => decodeMap(Uint8Array.from([...good, 0])), MapMalformed);
  assert.throws(() => decodeMap(new Uint8Array(16)), MapMalformed);
});

test("a bitmap inside a larger buffer is read at its offset", () => {
  const inner = packed([2, 0, 1]);
  const outer = new Uint8Array(inner.length + 5);
  outer.set(inner, 5);
  assert.deepEqual([...decodeMap(outer.subarray(5)).status], [2, 0, 1]);
});

test("changes: applied once, older ones ignored, only differences reported", () => {
  const { availability } = world();
  const base = availability.version;
  assert.deepEqual(availability.apply({ version: base + 1, available: [3], held: [1], sold: [2, 99] }), [1, 2]);
  assert.deepEqual(availability.apply({ version: base, available: [1], held: [], sold: [] }), []);
  assert.equal(availability.isAvailable(1), false);
  assert.deepEqual(availability.replace(packed(new Array(30).fill(0), BigInt(base + 2))), [1, 2]);
});

test("the plan: sections and rows in the layout's order, gaps closed, sizes kept", () => {
  const { plan } = world();
  assert.deepEqual(plan.sections.map(({ name, rows, seats }) => [name, rows.length, seats.length]), [["A", 3, 15], ["B", 3, 15]]);
  assert.equal(plan.spacing, 20);
  assert.equal(plan.gapsClosed, true);
  assert.ok(plan.sections[1].box.left > plan.sections[0].box.right, "order is kept");
  assert.ok(plan.sections[1].box.right < 500, "ten thousand units of nothing are gone");
  assert.equal(plan.x[16] - plan.x[15], 20);
  assert.equal(plan.priceOf(0), 4500);
  assert.equal(plan.priceOf(29), 7000);
});

test("gaps: what touches or overlaps does not move", () => {
  assert.deepEqual(shifts([{ from: 0, to: 10 }, { from: 5, to: 20 }, { from: 20, to: 30 }]), [0, 0, 0]);
  const [first, second] = shifts([{ from: 1000, to: 1100 }, { from: 0, to: 100 }]);
  assert.equal(second, 0);
  assert.equal(first, 880, "the gap of 900 becomes a tenth of the 200 that are filled");
});

test("choosing: limits, other people's seats, seats of one's own hold", () => {
  const { choice } = world([0, 0, 0, 1, 2, ...new Array(25).fill(0)]);
  choice.limit = 2;
  assert.equal(choice.toggle(2), "added");
  assert.equal(choice.toggle(0), "added");
  assert.equal(choice.toggle(1), "full");
  assert.equal(choice.toggle(2), "removed");
  assert.equal(choice.toggle(3), "unavailable");
  choice.setHeld([3]);
  assert.equal(choice.toggle(3), "added", "an own live hold is available to its owner");
  assert.deepEqual(choice.seats, [0, 3]);
  assert.equal(choice.total, 9000);
});

test("choosing: a seat lost meanwhile leaves the choice", () => {
  const { choice, availability } = world();
  choice.toggle(5);
  choice.toggle(6);
  const changed = availability.apply({ version: availability.version + 1, available: [], held: [6], sold: [] });
  assert.deepEqual(choice.dropLost(changed), [6]);
  assert.deepEqual(choice.seats, [5]);
});

test("names: as the field wants them read", () => {
  const { plan } = world();
  assert.equal(fullName(plan, 1, 0, false), "Section A, row 1, seat 2, 45 euros, available");
  assert.equal(fullName(plan, 0, 2, false), "Section A, row 1, seat 1, 45 euros, sold, wheelchair place");
  assert.equal(shortNames(plan, [0, 1, 5]), "A, row 1, seats 1 and 2 and A, row 2, seat 1");
  assert.equal(fullName(plan, 1, 0, true), "Section A, row 1, seat 2, 45 euros, chosen");
});

test("filters: by price and by wheelchair place", () => {
  const { plan } = world();
  assert.equal(matches(plan, { category: 1, accessibleOnly: false, availableOnly: false }, 0), false);
  assert.equal(matches(plan, { category: null, accessibleOnly: true, availableOnly: false }, 0), true);
  assert.equal(matches(plan, { category: null, accessibleOnly: true, availableOnly: false }, 1), false);
});

test("the viewport: zooming keeps what is under the pointer, and the plan never leaves the screen", () => {
  const view = new Viewport({ left: 0, top: 0, right: 1000, bottom: 500 }, 4);
  view.resize(400, 400);
  view.fit();
  const before = view.planX(100);
  view.zoomAt(100, 200, 3);
  assert.ok(Math.abs(view.planX(100) - before) < 1e-9);
  view.pan(1e6, -1e6);
  assert.ok(view.planX(200) >= -1e-9 && view.planY(200) <= 500 + 1e-9);
  view.zoomAt(0, 0, 1e9);
  assert.equal(view.scale, 4);
  view.zoomAt(0, 0, 1e-9);
  assert.ok(view.isFit());
});

test("the seat under a finger: nearest within reach", () => {
  const { plan } = world();
  const grid = new SeatGrid(plan);
  assert.equal(grid.nearest(plan.x[7] + 4, plan.y[7] - 3, 14), 7);
  assert.equal(grid.nearest(plan.x[7] + 400, plan.y[7] + 400, 14), null);
});

test("a refused hold: what was taken, what is offered, where to go", () => {
  const { plan } = world();
  const of = (slug, body, status = 409) => explain({ slug, status, body, detail: "", retryAfterMs: null }, plan, [0, 1]);
  const taken = of("seats-unavailable", { taken: ["A-1-1", "no such seat"], alternatives: [["A-2-1", "A-2-2"], [], "rubbish"] });
  assert.deepEqual(taken.taken, [0]);
  assert.deepEqual(taken.alternatives, [[5, 6]]);
  assert.equal(of("limit-exceeded", { limit: 6, used: 5 }, 422).values.used, 5);
  assert.equal(of("admission-required", {}, 403).toRoom, true);
  assert.equal(of("overloaded", {}, 503).key, "seats.busy");
});

test("hulls: what lies between the seats is inside, what lies beyond is not", () => {
  const hull = hullOf([[0, 0], [10, 0], [10, 10], [0, 10], [5, 5], [2, 8]], 1);
  assert.equal(hull.length, 8);
  assert.equal(isInside(hull, 5, 5), true);
  assert.equal(isInside(hull, -0.5, -0.5), true, "with its margin");
  assert.equal(isInside(hull, 12, 5), false);
  assert.equal(isInside([], 0, 0), false);
});
