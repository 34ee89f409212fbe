// Joining: key, challenge, work, one request. The same key always gets the same place, so every step
// may be repeated after a lost answer.

import * as base64url from "../base/base64url";
import { pause } from "../base/dom";
import type { EventStore } from "../identity/store";
import { solveAll } from "../solver/pool";
import { solverFiles } from "../solver/files";
import type { Answer, Api } from "../wire/api";
import { isTransient, type Problem } from "../wire/problem";
import type { ChallengeDocument, Joined } from "../wire/types";

export class JoinRefused extends Error {
  constructor(readonly problem: Problem) {
    super(problem.slug);
  }
}

/** A challenge can expire under a slow or sleeping phone; the second one is fetched and solved. */
const CHALLENGES_MAX = 2;
/** Sends of one solution: the first and three repeats, about 1, 2 and 4 s apart or as told. */
const SENDS_MAX = 4;

export async function join(
  api: Api, store: EventStore, onProgress: (solved: number, puzzles: number) => void, signal: AbortSignal,
): Promise<Joined> {
  const identity = await store.identity();
  for (let attempt = 1; ; attempt++) {
    const path = `/v1/events/${store.event}/challenge?jkt=${identity.jkt}`;
    const challenge = await insist(() => api.call<ChallengeDocument>({ path, signal }), signal);
    if (!challenge.ok) throw new JoinRefused(challenge.problem);
    const { puzzles, difficulty, salt } = challenge.body;
    onProgress(0, puzzles);
    const task = { salt: base64url.decode(salt), puzzles, difficulty };
    const nonces = await solveAll(task, solverFiles, (solved) => onProgress(solved, puzzles), signal);
    const body = { challenge: challenge.body.challenge, nonces, jwk: identity.jwk };
    const answer = await insist(() => api.call<Joined>({
      method: "POST", path: `/v1/events/${store.event}/queue`, body, proof: { identity }, signal,
    }), signal);
    if (answer.ok) {
      await store.put("ticket", answer.body.ticket);
      return answer.body;
    }
    if (answer.problem.slug !== "challenge-expired" || attempt >= CHALLENGES_MAX) throw new JoinRefused(answer.problem);
  }
}

/** Repeats what was not decided (no answer, 5xx), with the server's pause if it named one. */
async function insist<T>(send: () => Promise<Answer<T>>, signal: AbortSignal): Promise<Answer<T>> {
  for (let sent = 1; ; sent++) {
    const answer = await send();
    if (answer.ok || sent >= SENDS_MAX || signal.aborted) return answer;
    if (!isTransient(answer.problem) || answer.status === 429) return answer;
    const own = 2 ** (sent - 1) * 1000 * (0.75 + Math.random() / 2);
    await pause(answer.problem.retryAfterMs ?? own, signal);
  }
}
