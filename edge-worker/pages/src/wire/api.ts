// Calls to the edge: same origin, DPoP where asked, problem documents out, server time learnt.

import type { ServerClock } from "../base/clock";
import { type Identity, proofFor } from "../identity/identity";
import { type Problem, problemOf, unreachable } from "./problem";

export type Answer<T> =
  | { ok: true; status: number; body: T; headers: Headers }
  | { ok: false; status: number; problem: Problem };

export interface Call {
  method?: "GET" | "POST" | "DELETE";
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** A proof by this identity's key; `token` is what `ath` is taken of. */
  proof?: { identity: Identity; token?: string };
  /** Presented beside the cookie, so that `ath` and the session it is checked against are always the same one. */
  session?: string;
  /** How the answer is read; the seat map is bytes. */
  as?: "json" | "bytes";
  timeoutMs?: number;
  signal?: AbortSignal;
}

const TIMEOUT_MS = 15_000;

export class Api {
  /** Called with a session the edge reissued (`Fairgate-Session`), after an extension. */
  onSession: ((token: string) => Promise<void>) | null = null;

  constructor(readonly clock: ServerClock) {}

  /** One call; a refused proof is tried once more, since the 401 has just told us the time. */
  async call<T>(call: Call): Promise<Answer<T>> {
    const first = await this.#once<T>(call);
    const refused = !first.ok && first.status === 401 && call.proof !== undefined;
    return refused && typeof first.problem.body["server_time"] === "string" ? this.#once<T>(call) : first;
  }

  async #once<T>(call: Call): Promise<Answer<T>> {
    const request = await this.#request(call);
    const timer = new AbortController();
    const timeout = setTimeout(() => timer.abort(), call.timeoutMs ?? TIMEOUT_MS);
    const stop = (): void => timer.abort();
    call.signal?.addEventListener("abort", stop, { once: true });
    try {
      const response = await fetch(call.path, { ...request, signal: timer.signal });
      return await this.#read<T>(response, call.as ?? "json");
    } catch {
      return { ok: false, status: 0, problem: unreachable(timer.signal.aborted ? "timeout" : "network") };
    } finally {
      clearTimeout(timeout);
      call.signal?.removeEventListener("abort", stop);
    }
  }

  async #request(call: Call): Promise<RequestInit> {
    const method = call.method ?? "GET";
    const headers: Record<string, string> = { Accept: call.as === "bytes" ? "*/*" : "application/json", ...call.headers };
    if (call.proof !== undefined) {
      const { identity, token } = call.proof;
      headers["DPoP"] = await proofFor(identity, this.clock.seconds(), {
        method, url: location.origin + call.path, ...(token === undefined ? {} : { token }),
      });
    }
    if (call.session !== undefined) headers["Authorization"] = `Bearer ${call.session}`;
    if (call.body === undefined) return { method, headers, credentials: "same-origin" };
    headers["Content-Type"] = "application/json";
    return { method, headers, credentials: "same-origin", body: JSON.stringify(call.body) };
  }

  async #read<T>(response: Response, as: "json" | "bytes"): Promise<Answer<T>> {
    const reissued = response.headers.get("Fairgate-Session");
    if (reissued !== null && this.onSession !== null) await this.onSession(reissued);
    if (!response.ok) {
      const problem = await problemOf(response);
      this.#learn(problem.body);
      return { ok: false, status: response.status, problem };
    }
    if (response.status === 204) return { ok: true, status: 204, body: undefined as T, headers: response.headers };
    const body: unknown = as === "bytes" ? new Uint8Array(await response.arrayBuffer()) : await response.json();
    if (as === "json") this.#learn(body as Record<string, unknown>);
    return { ok: true, status: response.status, body: body as T, headers: response.headers };
  }

  #learn(body: Record<string, unknown> | null): void {
    const time = body?.["server_time"];
    if (typeof time === "string") this.clock.observe(time);
  }
}
