// What goes wrong in fans' browsers, each with its own message, and what a place must survive. The built
// pages in a real Chromium against the mock; the faults are made in the browser, not in the code.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "../../../e2e/browser/browser.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const skip = existsSync(path("../dist/manifest.json")) ? false : "the pages are not built";
let browser;
let mock;
let edge;

before(async () => {
  if (skip) return;
  const chart = path("../../../e2e/fixtures/seatsio-sampleChartWithZones.json");
  mock = spawn(process.execPath, [path("../dev/mock.mjs"), "--chart", chart, "--port", "0", "--onsale", "3600", "--difficulty", "512"]);
  edge = await new Promise((resolve, reject) => {
    mock.stdout.once("data", (line) => resolve(new URL(String(line).trim()).origin));
    mock.once("exit", () => reject(new Error("the mock did not start")));
  });
  browser = await launch().catch(() => undefined);
});
after(async () => {
  await browser?.close();
  mock?.kill();
});

/** A fan's own browser profile, with something wrong in it. */
async function fan(context, { init, routes = {}, ...options } = {}) {
  if (browser === undefined) return context.skip("no Chromium here");
  const profile = await browser.newContext({ locale: "en-GB", ...options });
  context.after(async () => {
    await profile.unrouteAll({ behavior: "ignoreErrors" });
    await profile.close();
  });
  profile.setDefaultTimeout(20_000);
  if (init !== undefined) await profile.addInitScript(init);
  for (const [pattern, handle] of Object.entries(routes)) await profile.route(pattern, handle);
  const page = await profile.newPage();
  await page.goto(`${edge}/waiting-room?event=evt_1`);
  return page;
}

const headline = (page, text) => page.locator("#headline", { hasText: text }).waitFor();
const trouble = (page, text) => page.locator("#fault", { hasText: text }).waitFor();

async function join(page) {
  await page.locator("#action").click();
}

test("wasm that does not run is said", { skip }, async (context) => {
  const page = await fan(context, { routes: { "**/*.wasm": (route) => route.fulfill({ body: "not wasm", contentType: "application/wasm" }) } });
  if (page === undefined) return;
  await join(page);
  await trouble(page, "WebAssembly");
  assert.equal(await page.locator("#action").isVisible(), true, "another try is offered");
  assert.match(await page.locator("#status").textContent(), /WebAssembly/, "and said to those who listen");
});

test("workers that are blocked are said", { skip }, async (context) => {
  const page = await fan(context, { routes: { "**/solver-worker*": (route) => route.abort() } });
  if (page === undefined) return;
  await join(page);
  await trouble(page, "could not start");
});

test("missing WebCrypto is said", { skip }, async (context) => {
  const page = await fan(context, { init: () => Object.defineProperty(crypto, "subtle", { value: undefined }) });
  if (page === undefined) return;
  await join(page);
  await trouble(page, "secure keys");
});

test("refused storage is said before anything is promised", { skip }, async (context) => {
  const page = await fan(context, { init: () => Object.defineProperty(window, "indexedDB", { value: { open() { throw new DOMException("no", "SecurityError"); } } }) });
  if (page === undefined) return;
  await page.locator(".trouble", { hasText: "refuses to store" }).waitFor();
});

test("a clock ten minutes off is said, and joining works all the same", { skip }, async (context) => {
  const page = await fan(context, {
    init: () => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + 600_000;
    },
  });
  if (page === undefined) return;
  await trouble(page, "clock is off by about 10 minutes");
  await join(page);
  await headline(page, "You are in the draw");
});

test("a browser without Ed25519 joins with P-256", { skip }, async (context) => {
  const page = await fan(context, {
    init: () => {
      const generate = crypto.subtle.generateKey.bind(crypto.subtle);
      crypto.subtle.generateKey = (algorithm, ...rest) =>
        algorithm.name === "Ed25519" ? Promise.reject(new DOMException("no", "NotSupportedError")) : generate(algorithm, ...rest);
    },
  });
  if (page === undefined) return;
  await join(page);
  await headline(page, "You are in the draw");
});

test("no connection: said, nothing lost, and mended by itself", { skip }, async (context) => {
  const page = await fan(context);
  if (page === undefined) return;
  await join(page);
  await headline(page, "You are in the draw");
  await page.context().setOffline(true);
  await trouble(page, "Your place is kept");
  await page.context().setOffline(false);
  await page.locator("#fault").waitFor({ state: "hidden" });
  await headline(page, "You are in the draw");
});

test("an answer to the join that is lost is asked for again", { skip }, async (context) => {
  let asked = 0;
  const page = await fan(context, {
    routes: {
      "**/queue": async (route) => {
        asked += 1;
        if (asked > 1) return route.continue();
        await route.fetch(); // It reached the server,
        await route.abort(); // its answer did not reach the fan.
      },
    },
  });
  if (page === undefined) return;
  await join(page);
  await headline(page, "You are in the draw");
  assert.equal(asked, 2);
});

test("leaving during the calculation stops it; coming back offers the button", { skip }, async (context) => {
  const page = await fan(context, {
    routes: {
      "**/challenge*": async (route) => {
        const body = await (await route.fetch()).json();
        await route.fulfill({ json: { ...body, difficulty: 2 ** 40 } });
      },
    },
  });
  if (page === undefined) return;
  await join(page);
  await headline(page, "Getting your place");
  await page.goto("about:blank");
  await page.goBack();
  await page.locator("#action", { hasText: "Join the line" }).waitFor();
});

for (const [phase, text] of Object.entries({
  paused: "The line is paused", returns_only: "All seats are taken for now", sold_out: "Sold out", closed: "This sale is closed",
})) {
  test(`a room that is ${phase} says so`, { skip }, async (context) => {
    const page = await fan(context, {
      routes: { "**/room": async (route) => route.fulfill({ json: { ...(await (await route.fetch()).json()), phase } }) },
    });
    if (page === undefined) return;
    await headline(page, text);
  });
}

test("a shop that does not see the fan: the circle is broken after two rounds", { skip }, async (context) => {
  const later = (document) => ({ ...document, phase: "open", serving: 10 });
  const page = await fan(context, {
    routes: {
      "**/room": async (route) => route.fulfill({ json: later(await (await route.fetch()).json()) }),
      "**/queue/me": (route) => route.fulfill({ json: { phase: "open", position: 3, ahead_of_you: 0, eta: null, may_ask: true, poll_after_ms: 1000 } }),
      "**/seats?*": (route) => route.fulfill({ status: 302, headers: { Location: "/waiting-room?event=evt_1&return_to=%2Fseats%3Fevent%3Devt_1" } }),
    },
  });
  if (page === undefined) return;
  await join(page);
  await page.locator("#lead", { hasText: "cookies seem to be blocked" }).waitFor();
  assert.equal(await page.locator("#action").textContent(), "Continue to the seats");
});

test("a return target on another origin is not followed", { skip }, async (context) => {
  const page = await fan(context, {
    routes: {
      "**/room": async (route) => route.fulfill({ json: { ...(await (await route.fetch()).json()), phase: "open", serving: 10 } }),
      "**/queue/me": (route) => route.fulfill({ json: { phase: "open", position: 3, ahead_of_you: 0, eta: null, may_ask: true, poll_after_ms: 1000 } }),
    },
  });
  if (page === undefined) return;
  await page.goto(`${edge}/waiting-room?event=evt_1&return_to=${encodeURIComponent("//evil.example/seats")}`);
  await join(page);
  await page.waitForURL(`${edge}/seats?event=evt_1`);
});
