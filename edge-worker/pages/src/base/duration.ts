// Durations as a fan reads them: a ticking clock, and a rounded range for an estimate.

/** "4:05", "1:04:05", "2 d 03:04:05" is never needed: beyond two days the date is shown instead. */
export function ticking(ms: number): string {
  const total = Math.max(0, Math.ceil(ms / 1000));
  const seconds = String(total % 60).padStart(2, "0");
  const minutes = Math.floor(total / 60) % 60;
  const hours = Math.floor(total / 3600);
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

/** Whole minutes, at least one: an estimate in seconds pretends to know more than it does. */
export function minutesUp(seconds: number): number {
  return Math.max(1, Math.ceil(seconds / 60));
}

/** A range of minutes, lower bound rounded down, upper rounded up, for an ETA. */
export function minuteRange(p50: number, p90: number): { from: number; to: number } {
  const from = Math.max(1, Math.floor(p50 / 60));
  const to = Math.max(from, minutesUp(Math.max(p50, p90)));
  return { from, to };
}
