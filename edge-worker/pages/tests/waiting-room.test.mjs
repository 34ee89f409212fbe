import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./source.mjs";

const { scene, aheadOf, mergeStanding, progress } = await load("waiting-room/model.ts");
const { Milestones } = await load("waiting-room/milestones.ts");
const { nextPollMs, backoffMs } = await load("waiting-room/polling.ts");

const NOW = Date.parse("2026-06-01T12:00:00Z");
const room = (phase, change = {}) => ({
  event: "evt_1", title: "Finals", phase, server_time: "2026-06-01T12:00:00Z", registration_opens_at: "2026-06-01T11:00:00Z",
  onsale_at: "2026-06-01T12:30:00Z", closes_at: "2026-06-02T12:00:00Z", serving: 0, queued: 10, admit_rate_per_minute: 600, version: 1,
  poll: { floor_ms: 2000, ceiling_ms: 30000, jitter: 0.3 }, message: {}, ...change,
});
const model = (change = {}) => ({
  room: room("registration"), hasTicket: false, standing: null, activity: { kind: "idle" }, fault: null, offline: false,
  continueByHand: false, ...change,
});
const standing = (position, ahead = position) => ({
  phase: "open", position, ahead_of_you: ahead, eta: null, may_ask: false, poll_after_ms: 2000,
});

test("every phase has its scene, and joining is offered exactly where it is possible", () => {
  const offered = (phase, hasTicket) => scene(model({ room: room(phase), hasTicket }), NOW).action;
  for (const phase of ["registration", "drawing", "open", "paused", "returns_only"]) {
    assert.equal(offered(phase, false), "join", phase);
    assert.equal(offered(phase, true), null, phase);
  }
  for (const phase of ["scheduled", "sold_out", "closed"]) assert.equal(offered(phase, false), null, phase);
});

test("a spent or moved place may be joined anew", () => {
  for (const key of ["room.spent", "fault.moved"]) {
    assert.equal(scene(model({ room: room("open"), fault: { key } }), NOW).action, "rejoin");
  }
});

test("the countdown is to the next instant, by the server's clock", () => {
  const before = room("scheduled", { registration_opens_at: "2026-06-01T12:10:00Z" });
  assert.equal(scene(model({ room: before }), NOW).clock.until, NOW + 600_000);
  assert.equal(scene(model(), NOW).clock.until, NOW + 1_800_000);
  assert.equal(scene(model({ hasTicket: true }), NOW).clock.until, NOW + 1_800_000);
});

test("an unknown place stays unknown, a known one is followed by what is served", () => {
  const unknown = model({ room: room("open"), hasTicket: true });
  assert.equal(scene(unknown, NOW).facts.position, null);
  assert.equal(scene(unknown, NOW).lead, "room.settling.lead");
  const known = model({ room: room("open", { serving: 40 }), hasTicket: true, standing: standing(100) });
  assert.equal(aheadOf(known), 60);
  assert.equal(scene(known, NOW).bar.value, 0.4);
  assert.equal(progress(0, 0), 1);
});

test("places never go up", () => {
  const merged = mergeStanding(standing(100, 50), standing(120, 80));
  assert.equal(merged.position, 100);
  assert.equal(merged.ahead_of_you, 50);
  assert.equal(mergeStanding(standing(100, 50), standing(90, 10)).position, 90);
});

test("a fan who asks for long is told that the shop is full", () => {
  const asking = (sinceMs) => model({ room: room("open"), hasTicket: true, standing: standing(3, 0), activity: { kind: "asking", sinceMs } });
  assert.equal(scene(asking(NOW - 1_000), NOW).lead, "room.turn.lead");
  assert.equal(scene(asking(NOW - 60_000), NOW).lead, "room.turn.full");
});

test("milestones: a whole wait is a few sentences, none twice", () => {
  const milestones = new Milestones();
  const said = [];
  const hear = (model, now) => {
    const saying = milestones.next(model, now);
    if (saying !== null) said.push(saying.key + (saying.values?.n ?? ""));
  };
  const opening = Date.parse("2026-06-01T12:30:00Z");
  for (let now = NOW; now < opening; now += 1000) hear(model({ hasTicket: true }), now);
  for (let serving = 0; serving <= 3000; serving++) {
    hear(model({ room: room("open", { serving }), hasTicket: true, standing: standing(3000) }), opening + serving * 1000);
  }
  for (let i = 0; i < 20; i++) hear(model({ room: room("open"), hasTicket: true, activity: { kind: "asking", sinceMs: 0 } }), opening);
  assert.equal(said[0], "say.joined");
  assert.deepEqual(said.filter((key) => key.startsWith("say.opens")), ["say.opens.minutes30", "say.opens.minutes10", "say.opens.minutes5", "say.opens.minutes1"]);
  assert.equal(new Set(said).size, said.length);
  assert.ok(said.length < 20, said.join(" | "));
  assert.equal(said.at(-1), "say.turn");
});

test("milestones: the same trouble is said again when it comes again", () => {
  const milestones = new Milestones();
  const trouble = model({ fault: { key: "fault.network" } });
  assert.equal(milestones.next(trouble, NOW).key, "fault.network");
  assert.equal(milestones.next(trouble, NOW), null);
  milestones.next(model(), NOW);
  assert.equal(milestones.next(trouble, NOW).key, "fault.network");
});

test("polling stays within floor and ceiling, give or take the jitter", () => {
  for (const phase of ["scheduled", "registration", "drawing", "open", "paused", "returns_only", "sold_out", "closed"]) {
    for (const ahead of [null, 0, 5, 1_000, 1_000_000]) {
      for (const random of [0, 0.5, 0.999]) {
        const wait = nextPollMs(room(phase), NOW, ahead, random);
        assert.ok(wait >= 2_000 && wait <= 39_000, `${phase} ${ahead} ${random}: ${wait}`);
      }
    }
  }
});

test("polling: nobody sleeps through the opening, and not everybody wakes at once", () => {
  const instant = Date.parse("2026-06-01T12:30:00Z");
  const waits = [0, 0.5, 0.999].map((random) => nextPollMs(room("registration"), instant - 1_000, null, random));
  assert.deepEqual(waits.map(Math.round), [1_000, 2_000, 2_998]);
  assert.ok(nextPollMs(room("registration"), instant - 20_000, null, 0.5) < 20_000);
});

test("polling: a long line is asked about seldom, a short one often", () => {
  assert.equal(nextPollMs(room("open"), NOW, 600_000, 0.5), 30_000);
  assert.equal(nextPollMs(room("open"), NOW, 10, 0.5), 2_000);
  assert.ok(backoffMs(20, 2_000, 30_000, 1) <= 30_000);
});
