import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./source.mjs";

const { ServerClock } = await load("base/clock.ts");
const { returnTarget, eventOf } = await load("base/places.ts");
const { ticking, minuteRange } = await load("base/duration.ts");
const { format, spoken } = await load("base/money.ts");
const { retryAfter, isTransient, problemOf } = await load("wire/problem.ts");
const { threshold } = await load("solver/protocol.ts");

test("clock: the freshest sample wins, a stale document does not set it back", () => {
  let local = 1_000_000;
  const clock = new ServerClock(() => local);
  assert.equal(clock.now(), local);
  clock.observe(local + 600_000);
  local += 1_000;
  clock.observe(local + 597_000); // three seconds old by the time it came
  assert.equal(clock.now(), local + 600_000);
});

test("clock: a local clock that is set forward is followed", () => {
  let local = 1_000_000;
  const clock = new ServerClock(() => local);
  clock.observe(local);
  local += 3_600_000; // somebody corrects the hour; the server's clock has not moved
  clock.observe(1_000_500);
  assert.equal(clock.now(), 1_000_500);
});

test("clock: rubbish is ignored", () => {
  const clock = new ServerClock(() => 5);
  clock.observe("yesterday");
  assert.equal(clock.offset(), 0);
});

test("return targets: paths of our own origin only, character for character", () => {
  const of = (target) => returnTarget(`?event=evt_1&return_to=${encodeURIComponent(target)}`, "https://a.example");
  for (const target of ["/seats?event=evt_1", "/a?x=1&x=2&y=a+b%2Bc#frag", "/", "/%2F/x"]) assert.equal(of(target), target);
  for (const target of [
    "https://evil.example/", "//evil.example", "/\\evil.example", "/\t/evil.example", "javascript:alert(1)", "seats", "",
    "/waiting-room?event=evt_1", "/./waiting-room",
  ]) assert.equal(of(target), null, target);
  assert.equal(returnTarget("?event=evt_1", "https://a.example"), null);
});

test("event ids: what the room accepts, and nothing else", () => {
  assert.equal(eventOf("?event=evt_1-A"), "evt_1-A");
  for (const query of ["", "?event=", "?event=a%2Fb", "?event=../x", `?event=${"a".repeat(65)}`]) assert.equal(eventOf(query), null);
});

test("durations", () => {
  assert.equal(ticking(0), "0:00");
  assert.equal(ticking(-5), "0:00");
  assert.equal(ticking(59_001), "1:00");
  assert.equal(ticking(3_661_000), "1:01:01");
  assert.deepEqual(minuteRange(20, 50), { from: 1, to: 1 });
  assert.deepEqual(minuteRange(290, 560), { from: 4, to: 10 });
});

test("money: ISO exponents", () => {
  assert.equal(format(4500, "EUR", "en"), "€45.00");
  assert.equal(format(4500, "JPY", "en"), "¥4,500");
  assert.match(format(4500, "KWD", "en"), /4\.500/);
  assert.equal(spoken(4500, "EUR", "en"), "45 euros");
  assert.equal(spoken(4550, "EUR", "en"), "45.50 euros");
});

test("problems: slug, extensions, Retry-After", async () => {
  const response = new Response(JSON.stringify({ type: "/problems/seats-unavailable", detail: "gone", taken: ["a"] }),
    { status: 409, headers: { "Retry-After": "3" } });
  const problem = await problemOf(response);
  assert.equal(problem.slug, "seats-unavailable");
  assert.equal(problem.retryAfterMs, 3000);
  assert.deepEqual(problem.body.taken, ["a"]);
  assert.equal(isTransient(problem), false);
  const page = await problemOf(new Response("<html>", { status: 502 }));
  assert.equal(page.slug, "status-502");
  assert.equal(isTransient(page), true);
  assert.equal(retryAfter("Wed, 21 Oct 2026 07:28:00 GMT"), null);
});

test("proof of work: the threshold is the floor of 2^64 / difficulty, in 64 bits", () => {
  assert.equal(threshold(8192), 2n ** 51n);
  assert.equal(threshold(3), (2n ** 64n) / 3n);
  assert.equal(threshold(1), 2n ** 64n - 1n);
});
