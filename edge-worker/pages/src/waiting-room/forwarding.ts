// Guards against the endless circle "let in → shop does not see it → waiting room → let in": after a
// second forward within a minute the fan is told why and continues by hand.

const WINDOW_MS = 60_000;
const FORWARDS_MAX = 2;

export function forwardedTooOften(event: string): boolean {
  return recent(event).length >= FORWARDS_MAX;
}

export function countForward(event: string): void {
  try {
    sessionStorage.setItem(name(event), JSON.stringify([...recent(event), Date.now()]));
  } catch {
    // Without session storage there is no guard; the fan can still leave by the back button.
  }
}

function recent(event: string): number[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(name(event)) ?? "[]");
    return Array.isArray(kept) ? kept.filter((at): at is number => typeof at === "number" && Date.now() - at < WINDOW_MS) : [];
  } catch {
    return [];
  }
}

function name(event: string): string {
  return `fairgate-forwards-${event}`;
}
