// Checkout and what is left of it: a decline, a payment, a booking that outlives the visit.

export async function payAndBook(fan, event, { seats, declineFirst, keyboard }) {
  const { page } = fan;
  await page.locator("#pay-panel").waitFor();
  const lines = await page.locator("#summary li").count();
  if (lines !== seats) fan.faults.push(`checkout lists ${lines} seats instead of ${seats}`);
  await fan.checkPage();
  await fan.shoot("checkout");
  if (declineFirst) {
    await page.locator("#card").selectOption("pm_card_visa_chargeDeclined");
    await page.locator("#pay").click();
    await page.locator("#notice[data-tone=bad]").waitFor();
    await fan.shoot("declined");
    await page.locator("#card").selectOption("pm_card_visa");
  }
  if (keyboard) await fan.pressOn("#pay");
  else await page.locator("#pay").click();
  await page.locator("#done").waitFor();
  const reference = (await page.locator("#reference").textContent()).trim();
  if (!/^bk_/.test(reference)) fan.faults.push(`the booking reference is "${reference}"`);
  await fan.checkPage();
  await fan.shoot("booked");
  fan.say(`booked ${reference}`);
  // The success page is an address: a reload shows it again, though the session has ended.
  await page.reload();
  await page.locator("#done").waitFor();
  return reference;
}

export async function seeBookings(fan, reference, { keyboard }) {
  const { page } = fan;
  if (keyboard) await fan.pressOn("#to-bookings");
  else await page.locator("#to-bookings").click();
  await page.waitForURL(/\/bookings\?/);
  const booking = page.locator(`[data-booking="${reference}"]`);
  await booking.waitFor();
  await fan.checkPage();
  await fan.shoot("bookings");
  fan.say("sees the booking");
}
