// Where a fan is and where they may be sent: query parameters and return targets.

/** The room's event ids; anything else never reaches a path. */
const EVENT_ID = /^[A-Za-z0-9_-]{1,64}$/;

export function eventOf(search: string): string | null {
  const event = new URLSearchParams(search).get("event");
  return event !== null && EVENT_ID.test(event) ? event : null;
}

/**
 * A return target is a path on our own origin, returned character for character (duplicate keys,
 * `+`, `%2B` and the fragment survive); anything that a browser would resolve elsewhere, and the
 * waiting room itself, is refused.
 */
export function returnTarget(search: string, origin: string): string | null {
  const target = new URLSearchParams(search).get("return_to");
  if (target === null || !target.startsWith("/") || /[\u0000-\u001f\\]/.test(target)) return null;
  let url: URL;
  try {
    url = new URL(target, origin);
  } catch {
    return null;
  }
  if (url.origin !== new URL(origin).origin || url.pathname === "/waiting-room") return null;
  return target;
}

export function seatsPage(event: string): string {
  return `/seats?event=${event}`;
}

export function checkoutPage(event: string, hold: string): string {
  return `/checkout?event=${event}&hold=${encodeURIComponent(hold)}`;
}

export function bookingsPage(event: string): string {
  return `/bookings?event=${event}`;
}

export function waitingRoomPage(event: string, returnTo: string): string {
  return `/waiting-room?event=${event}&return_to=${encodeURIComponent(returnTo)}`;
}
