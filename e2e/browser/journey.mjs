// The on-sale as two fans live it, in Chromium: from the waiting room before the opening to a booking.
// One sits at a desktop and chooses on the map with the mouse, one holds a phone and uses the list with
// nothing but the keyboard. Exits non-zero when either fails, or when a page breaks its manners.
//
//   node e2e/browser/journey.mjs --edge URL --event ID [--screenshots DIR] [--timeout 120] [--chromium PATH]

import { parseArgs } from "node:util";
import { launch, Fan } from "./browser.mjs";
import { payAndBook, seeBookings } from "./paying.mjs";
import { chooseInList, chooseOnMap } from "./seats.mjs";
import { enter, joinBeforeOpening } from "./waiting.mjs";

const { values: options } = parseArgs({
  options: {
    edge: { type: "string" }, event: { type: "string" }, screenshots: { type: "string" },
    timeout: { type: "string", default: "120" }, chromium: { type: "string" },
  },
});
if (options.edge === undefined || options.event === undefined) {
  console.error("usage: journey.mjs --edge URL --event ID [--screenshots DIR] [--timeout SECONDS] [--chromium PATH]");
  process.exit(2);
}

async function desktop(fan, event) {
  await enter(fan);
  const seats = await chooseOnMap(fan, 2);
  const booking = await payAndBook(fan, event, { seats, declineFirst: true, keyboard: false });
  await seeBookings(fan, booking, { keyboard: false });
}

async function phone(fan, event) {
  await enter(fan);
  const seats = await chooseInList(fan, 2);
  const booking = await payAndBook(fan, event, { seats, declineFirst: false, keyboard: true });
  await seeBookings(fan, booking, { keyboard: true });
}

/** One fan's day; what stops it is a fault like any other, with a picture of the moment. */
async function live(fan, journey) {
  try {
    await joinBeforeOpening(fan, options.edge, options.event);
    await journey(fan, options.event);
  } catch (reason) {
    fan.faults.push(String(reason?.stack ?? reason));
    await fan.shoot("failed");
  }
}

async function main() {
  const browser = await launch(options.chromium);
  const common = { edge: options.edge, screenshots: options.screenshots, timeout: Number(options.timeout) * 1000 };
  const fans = [
    [await Fan.open(browser, { ...common, name: "desktop", viewport: { width: 1280, height: 800 }, touch: false }), desktop],
    [await Fan.open(browser, { ...common, name: "phone", viewport: { width: 390, height: 844 }, touch: true }), phone],
  ];
  try {
    await Promise.all(fans.map(([fan, journey]) => live(fan, journey)));
  } finally {
    await browser.close();
  }
  const faults = fans.flatMap(([fan]) => fan.faults.map((fault) => `${fan.name}: ${fault}`));
  for (const fault of faults) console.error(fault);
  console.log(faults.length === 0 ? "journey: both fans hold a booking, no faults" : `journey: ${faults.length} faults`);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

await main();
