// Choosing seats: with the mouse on the map, and with the keyboard in the list.

const TRIES_MAX = 4;

export async function chooseOnMap(fan, wanted) {
  const { page } = fan;
  await page.locator("#section-jumps button").first().waitFor();
  await page.locator("#time-left").waitFor();
  await fan.shoot("map-overview");
  await fan.checkPage();
  await page.locator("#section-jumps button").first().click();
  for (let tried = 1; ; tried++) {
    await pickByMouse(page, wanted);
    await fan.shoot("map-chosen");
    const held = await hold(fan, () => page.locator("#hold").click(), tried);
    if (held !== null) return held;
  }
}

/** Moves over the map as one does, and clicks where the tip says that a seat is free. */
async function pickByMouse(page, wanted) {
  const box = await page.locator("#map").boundingBox();
  const chosen = async () => page.locator("#basket-seats li").count();
  for (let y = box.y + box.height * 0.3; y < box.y + box.height * 0.9; y += 7) {
    for (let x = box.x + box.width * 0.25; x < box.x + box.width * 0.75; x += 7) {
      await page.mouse.move(x, y);
      const tip = page.locator("#map-tip:not([hidden])");
      if ((await tip.count()) === 0 || !/, available$/.test(await tip.textContent())) continue;
      await page.mouse.click(x, y);
      if ((await chosen()) >= wanted) return;
    }
  }
  throw new Error("no free seats under the mouse");
}

export async function chooseInList(fan, wanted) {
  const { page } = fan;
  await page.locator("#section-jumps button").first().waitFor();
  await fan.shoot("map-overview");
  await fan.pressOn("#view-list");
  await page.locator("#list-panel").waitFor();
  await fan.shoot("list");
  await fan.pressOn(".fold-h2:not([hidden]) > h2 .disclose[aria-expanded=false]");
  for (let tried = 1; ; tried++) {
    await pickByKeyboard(fan, wanted);
    await fan.checkPage();
    await fan.shoot("list-chosen");
    const held = await hold(fan, () => fan.pressOn("#hold"), tried);
    if (held !== null) return held;
  }
}

/** Opens row after row until enough seats are chosen; arrow keys within a row. */
async function pickByKeyboard(fan, wanted) {
  const { page } = fan;
  const focusedName = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
  const chosen = () => page.locator("#basket-seats li").count();
  for (let row = 0; row < 20 && (await chosen()) < wanted; row++) {
    await fan.pressOn(".fold-h3:not([hidden]) > h3 .disclose[aria-expanded=false]");
    await fan.tabTo(".seat");
    for (let before = ""; (await chosen()) < wanted; ) {
      const name = await focusedName();
      if (name === before) break; // the row's end
      before = name;
      if (!/^Section .+, row .+, seat .+, .+ (euros|dollars|pounds).*, available/.test(name)) {
        if (/, available/.test(name)) fan.faults.push(`a seat is called "${name}"`);
      } else {
        await page.keyboard.press(" ");
      }
      await page.keyboard.press("ArrowRight");
    }
  }
  if ((await chosen()) < wanted) throw new Error("no free seats in the list");
}

/** How many seats are held (a chosen one may have been lost on the way); null when somebody was faster. */
async function hold(fan, press, tried) {
  const { page } = fan;
  const answer = page.waitForResponse((response) => /\/holds$/.test(new URL(response.url()).pathname) && response.request().method() === "POST");
  await press();
  const response = await answer;
  if (response.status() === 201) {
    await page.waitForURL(/\/checkout\?/);
    const { seat_ids: seats } = response.request().postDataJSON();
    fan.say(`holds ${seats.join(", ")}`);
    return seats.length;
  }
  if (response.status() !== 409 || tried >= TRIES_MAX) throw new Error(`the hold was refused: ${response.status()} ${await response.text()}`);
  await page.locator("#notice").waitFor();
  await fan.shoot("somebody-was-faster");
  return null;
}
