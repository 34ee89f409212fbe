// Chromium for the journeys, and the watch kept over every page: console errors, violations of the
// content policy, requests to anybody else, layout shifts.

import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { chromium } from "playwright-core";

const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/usr/bin/google-chrome-stable"];
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
/** Refusals that belong to the story; the browser logs every status of 400 and above as an error. */
const EXPECTED_REFUSALS = [
  [402, /\/purchase$/], // the declined card
  [409, /\/holds$/], // somebody was faster
  [410, /\/seatmap\/changes/], // a version too old: the map is fetched again
];
/** "Good" by the Web Vitals' own measure. */
const LAYOUT_SHIFT_MAX = 0.1;

export async function launch(chromiumPath) {
  const executablePath = chromiumPath ?? process.env.FAIRGATE_CHROMIUM ?? BROWSERS.find(existsSync);
  if (executablePath === undefined) throw new Error("no Chromium found; name one with --chromium or FAIRGATE_CHROMIUM");
  return chromium.launch({ executablePath, args: FLAGS });
}

export class Fan {
  faults = [];
  #shots = 0;

  static async open(browser, { name, edge, viewport, touch, screenshots, timeout }) {
    const context = await browser.newContext({ viewport, hasTouch: touch, isMobile: touch, deviceScaleFactor: touch ? 2 : 1, locale: "en-GB" });
    context.setDefaultTimeout(timeout);
    const page = await context.newPage();
    const fan = new Fan(name, new URL(edge).origin, page, screenshots);
    await fan.#watch();
    return fan;
  }

  constructor(name, origin, page, screenshots) {
    Object.assign(this, { name, origin, page, screenshots });
  }

  async #watch() {
    const { page } = this;
    page.on("pageerror", (error) => this.faults.push(`error: ${error.stack ?? error}`));
    page.on("console", (message) => this.#hear(message));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.protocol !== "data:" && url.origin !== this.origin) this.faults.push(`request to a third party: ${url}`);
    });
    await page.exposeFunction("reportViolation", (text) => this.faults.push(`content policy: ${text}`));
    await page.addInitScript(() => {
      addEventListener("securitypolicyviolation", (event) => {
        window.reportViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
      });
      window.layoutShift = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.layoutShift += entry.value;
      }).observe({ type: "layout-shift", buffered: true });
    });
  }

  #hear(message) {
    if (message.type() !== "error" && message.type() !== "warning") return;
    const { url } = message.location();
    const status = Number(/status of (\d+)/.exec(message.text())?.[1]);
    const path = url === "" ? "" : new URL(url).pathname;
    if (EXPECTED_REFUSALS.some(([code, where]) => code === status && where.test(path))) return;
    this.faults.push(`console ${message.type()}: ${message.text()} (${url})`);
  }

  say(text) {
    console.log(`${this.name}: ${text}`);
  }

  async shoot(title) {
    if (this.screenshots === undefined) return;
    await mkdir(this.screenshots, { recursive: true });
    this.#shots += 1;
    await this.page.screenshot({ path: join(this.screenshots, `${this.name}-${String(this.#shots).padStart(2, "0")}-${title}.png`) });
  }

  /** What every page owes: language, one h1, a main landmark, named controls, a live region from the start. */
  async checkPage() {
    const lacks = await this.page.evaluate(() => {
      const found = [];
      if (document.documentElement.lang === "") found.push("no language");
      if (document.querySelectorAll("h1").length !== 1) found.push("not one h1");
      if (document.querySelectorAll("main").length !== 1) found.push("not one main");
      if (document.querySelectorAll("[aria-live=polite]").length !== 1) found.push("not one polite live region");
      for (const control of document.querySelectorAll("button, a[href], select, input")) {
        const box = control.getBoundingClientRect();
        if (box.width === 0) continue;
        const name = control.getAttribute("aria-label") ?? control.textContent.trim() ?? "";
        if (name === "" && control.labels?.length !== 1) found.push(`no name: ${control.outerHTML.slice(0, 80)}`);
        if ((box.width < 24 || box.height < 24) && control.type !== "checkbox" && !control.matches(".skip")) {
          found.push(`smaller than 24 px: ${control.outerHTML.slice(0, 80)}`);
        }
      }
      if (document.documentElement.scrollWidth > document.documentElement.clientWidth) found.push("scrolls sideways");
      return found;
    });
    const shift = await this.page.evaluate(() => window.layoutShift);
    if (shift > LAYOUT_SHIFT_MAX) lacks.push(`layout shift of ${shift.toFixed(3)}`);
    for (const lack of lacks) this.faults.push(`${new URL(this.page.url()).pathname}: ${lack}`);
  }

  /** Presses Tab until the focused element fits; what a keyboard user does. */
  async tabTo(selector, limit = 250) {
    for (let pressed = 0; pressed < limit; pressed++) {
      if (await this.page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
      await this.page.keyboard.press("Tab");
    }
    throw new Error(`${this.name}: ${selector} is not reached by the keyboard`);
  }

  async pressOn(selector, key = "Enter") {
    await this.page.locator(selector).first().waitFor();
    await this.tabTo(selector);
    await this.page.keyboard.press(key);
  }
}
