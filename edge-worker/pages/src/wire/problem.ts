// RFC 9457 problem documents, and the failures that never reached a server, in one shape.

export interface Problem {
  /** The slug of `type`, or `network` / `timeout` when no answer came. */
  slug: string;
  status: number;
  detail: string;
  retryAfterMs: number | null;
  /** The document as received: extensions such as `taken` or `limit`. */
  body: Record<string, unknown>;
}

export async function problemOf(response: Response): Promise<Problem> {
  let body: Record<string, unknown> = {};
  try {
    const parsed: unknown = await response.json();
    if (typeof parsed === "object" && parsed !== null) body = parsed as Record<string, unknown>;
  } catch {
    // A proxy's HTML page or an empty body: the status still says enough.
  }
  const type = typeof body["type"] === "string" ? body["type"] : "";
  return {
    slug: type.slice(type.lastIndexOf("/") + 1) || `status-${response.status}`,
    status: response.status,
    detail: typeof body["detail"] === "string" ? body["detail"] : "",
    retryAfterMs: retryAfter(response.headers.get("Retry-After")),
    body,
  };
}

export function unreachable(slug: "network" | "timeout"): Problem {
  return { slug, status: 0, detail: "", retryAfterMs: null, body: {} };
}

/** Seconds only: a date would need a clock we do not trust. */
export function retryAfter(header: string | null): number | null {
  if (header === null) return null;
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}

/** Nothing was decided: asking again with the same idempotency key is right. */
export function isTransient(problem: Problem): boolean {
  return problem.status === 0 || problem.status === 429 || problem.status === 502 || problem.status === 503
    || problem.status === 504 || problem.slug === "idempotency-in-progress";
}

export function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
