// The waiting room: joined by keyboard before the opening, survived through a reload and a second tab,
// left by being let in.

export async function joinBeforeOpening(fan, edge, event) {
  const { page } = fan;
  const room = await (await fetch(`${edge}/v1/events/${event}/room`)).json();
  if (room.phase !== "scheduled" && room.phase !== "registration") {
    throw new Error(`the event is ${room.phase}: the journey starts before the opening`);
  }
  await page.goto(`${edge}/waiting-room?event=${event}`);
  await page.locator("#clock").waitFor();
  await fan.shoot("before-the-opening");
  await fan.checkPage();
  await fan.pressOn("#action");
  await inLine(page);
  fan.say("in line");
  await fan.shoot("registered");
  await page.reload();
  await inLine(page);
  await secondTab(page);
  fan.say("still in line after a reload and in a second tab");
}

/** In line: no way to join is offered any more. */
async function inLine(page) {
  await page.waitForFunction(() => {
    const headline = document.getElementById("headline").textContent;
    return document.getElementById("action").hidden && !["Loading…", "Waiting room", "Getting your place"].includes(headline);
  });
}

async function secondTab(page) {
  const tab = await page.context().newPage();
  await tab.goto(page.url());
  await inLine(tab);
  await tab.close();
}

export async function enter(fan) {
  const { page } = fan;
  const said = [];
  await page.exposeFunction("hearStatus", (text) => said.push(text));
  await page.evaluate(() => {
    const status = document.getElementById("status");
    new MutationObserver(() => window.hearStatus(status.textContent)).observe(status, { childList: true, characterData: true, subtree: true });
  });
  const placed = page.locator("#facts:not([hidden]) #fact-place").filter({ hasText: /^[\d,]+$/ }).waitFor().then(() => fan.shoot("in-line"));
  const inside = page.waitForURL(/\/seats\?/);
  // A short line may let the fan in before the place has been seen.
  await Promise.race([placed.catch(() => undefined), inside]);
  await inside;
  // A line that is announced every second is unusable with a screen reader.
  if (said.length > 15) fan.faults.push(`the status region spoke ${said.length} times: ${said.join(" | ")}`);
  fan.say(`let in; the status region said: ${said.join(" | ")}`);
}
