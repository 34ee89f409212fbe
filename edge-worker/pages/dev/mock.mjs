// A stand-in for the whole stack, for working on the pages alone: serves dist/ with the edge's
// content policy and speaks enough of the wire contract, with a few thousand imagined fans and
// restless seats. It checks no signature and forgets everything when it stops.
//
//   node edge-worker/pages/build.mjs && node edge-worker/pages/dev/mock.mjs --chart CHART.json
//   options: --port 8787  --registration 0 (s from now)  --onsale 30 (s)  --queue 3000  --rate 40 (a second)
//            --session 900 (s)  --hold 600 (s)  --busy 0.5 (share of seats gone at the start)

import { createHash, randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readLayout } from "./chart.mjs";
import { Sale } from "./sale.mjs";

const { values: options } = parseArgs({
  options: {
    chart: { type: "string" }, port: { type: "string", default: "8787" }, registration: { type: "string", default: "0" },
    onsale: { type: "string", default: "30" }, queue: { type: "string", default: "3000" }, rate: { type: "string", default: "40" },
    session: { type: "string", default: "900" }, hold: { type: "string", default: "600" }, busy: { type: "string", default: "0.5" },
    difficulty: { type: "string", default: "8192" },
  },
});
const number = (name) => Number(options[name]);
const dist = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");
const manifest = JSON.parse(await readFile(join(dist, "manifest.json"), "utf8"));
const files = new Map([
  ...manifest.pages.map((page) => [page.route, { file: page.file, type: "text/html; charset=utf-8" }]),
  ...manifest.assets.map((asset) => [asset.route, asset]),
]);
const POLICY = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; "
  + "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const sale = new Sale({
  layout: readLayout(JSON.parse(await readFile(options.chart, "utf8"))),
  registrationAt: Date.now() + number("registration") * 1000, onsaleAt: Date.now() + number("onsale") * 1000,
  crowd: number("queue"), ratePerSecond: number("rate"), sessionSeconds: number("session"), holdSeconds: number("hold"), busy: number("busy"),
});

function problem(response, status, slug, extra = {}, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/problem+json", ...headers });
  response.end(JSON.stringify({
    type: `/problems/${slug}`, title: slug, status, detail: slug, server_time: new Date().toISOString(), ...extra,
  }));
}

function json(response, status, body, headers = {}) {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(status === 204 ? undefined : JSON.stringify(body));
}

/** Claims of a proof, or null; shape, method, address and `ath` are looked at, the signature is not. */
function proofOf(request, url, token) {
  try {
    const [header, claims] = request.headers.dpop.split(".").slice(0, 2).map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
    const ath = token === undefined ? claims.ath : createHash("sha256").update(token).digest("base64url");
    const fits = header.typ === "dpop+jwt" && claims.htm === request.method && claims.ath === ath
      && claims.htu === `http://${request.headers.host}${url.pathname}` && Math.abs(claims.iat - Date.now() / 1000) < 60;
    return fits ? { jkt: thumbprint(header.jwk) } : null;
  } catch {
    return null;
  }
}

function thumbprint(jwk) {
  const members = jwk.kty === "OKP" ? { crv: jwk.crv, kty: jwk.kty, x: jwk.x } : { crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y };
  return createHash("sha256").update(JSON.stringify(members)).digest("base64url");
}

/** An unsigned look-alike of a JWS: the pages read `exp`, nobody verifies. */
function token(claims) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "EdDSA" })}.${part({ jti: randomUUID(), ...claims })}.${"A".repeat(86)}`;
}

function claimsOf(text) {
  try {
    return JSON.parse(Buffer.from(text.split(".")[1], "base64url").toString());
  } catch {
    return {};
  }
}

function sessionOf(request) {
  const cookie = (request.headers.cookie ?? "").split(/;\s*/).find((one) => one.startsWith(`fairgate-${sale.event}=`));
  const text = cookie?.slice(cookie.indexOf("=") + 1);
  const claims = claimsOf(text ?? "");
  return text !== undefined && sale.sessionLives(claims.jkt) ? { text, jkt: claims.jkt } : null;
}

const routes = [
  ["GET", /\/room$/, ({ response }) => json(response, 200, sale.room(), { "Cache-Control": "public, max-age=1" })],
  ["GET", /\/challenge$/, ({ response }) => json(response, 200, {
    challenge: randomUUID(), algorithm: "sha256", puzzles: 32, difficulty: number("difficulty"), salt: Buffer.alloc(16, 7).toString("base64url"),
    expires_at: new Date(Date.now() + 120_000).toISOString(), server_time: new Date().toISOString(),
  })],
  ["POST", /\/queue$/, ({ request, response, url, body }) => {
    const proof = proofOf(request, url);
    if (proof === null || body.nonces.length !== 32) return problem(response, 401, "proof-of-possession-failed");
    if (sale.phase() === "scheduled") return problem(response, 403, "registration-not-open");
    const place = sale.join(proof.jkt);
    json(response, 201, {
      ticket: token({ jkt: proof.jkt }), place: { lane: 0, batch: 0, slot: 1 }, position: place.position, ahead_of_you: null,
      poll_after_ms: 2000, server_time: new Date().toISOString(),
    });
  }],
  ["GET", /\/queue\/me$/, ({ request, response }) => {
    const { jkt } = claimsOf((request.headers.authorization ?? "").replace(/^Bearer /, ""));
    const standing = sale.standing(jkt);
    return standing === null ? problem(response, 401, "ticket-invalid") : json(response, 200, standing);
  }],
  ["POST", /\/admission$/, ({ request, response, url }) => {
    const ticket = (request.headers.authorization ?? "").replace(/^DPoP /, "");
    const proof = proofOf(request, url, ticket);
    if (proof === null) return problem(response, 401, "proof-of-possession-failed");
    const answer = sale.ask(proof.jkt);
    if (answer.refused) return problem(response, answer.status, answer.refused);
    if (!answer.granted) return json(response, 202, { position: answer.position, poll_after_ms: 1500 });
    json(response, 200, { admission_token: token({ jkt: proof.jkt }), expires_at: new Date(Date.now() + 120_000).toISOString() });
  }],
  ["POST", /\/session$/, ({ request, response, url }) => {
    const proof = proofOf(request, url, request.headers["x-admission-token"]);
    if (proof === null) return problem(response, 401, "proof-of-possession-failed");
    const exp = sale.openSession(proof.jkt);
    const session = token({ jkt: proof.jkt, exp: Math.floor(exp / 1000) });
    json(response, 201, { session_token: session, expires_at: new Date(exp).toISOString() },
      { "Set-Cookie": `fairgate-${sale.event}=${session}; HttpOnly; SameSite=Lax; Path=/` });
  }],
  ["GET", /\/layout$/, ({ response }) => json(response, 200, sale.layout, { "Cache-Control": "public, max-age=60" })],
  ["GET", /\/seatmap$/, ({ response }) => {
    response.writeHead(200, { "Content-Type": "application/octet-stream", "Cache-Control": "public, max-age=1" });
    response.end(sale.map());
  }],
  ["GET", /\/seatmap\/changes$/, ({ response, url }) => {
    const changes = sale.changes(Number(url.searchParams.get("since")));
    return changes === null ? problem(response, 410, "version-too-old") : json(response, 200, changes);
  }],
  ["GET", /\/holds\/mine$/, ({ request, response }) => {
    const session = sessionOf(request);
    return session === null ? problem(response, 403, "admission-required") : json(response, 200, { holds: sale.holdsOf(session.jkt) });
  }],
  ["POST", /\/holds$/, (call) => withSession(call, ({ jkt }) => {
    const answer = sale.hold(jkt, call.body.seat_ids);
    return answer.refused ? problem(call.response, answer.status, answer.refused, answer.extra, { "Retry-After": "2" }) : json(call.response, 201, answer);
  })],
  ["POST", /\/holds\/([^/]+)\/extend$/, (call) => withSession(call, ({ jkt }) => {
    const hold = sale.extend(jkt, call.match[1]);
    return hold === null ? problem(call.response, 409, "already-extended") : json(call.response, 200, hold);
  })],
  ["DELETE", /\/holds\/([^/]+)$/, (call) => withSession(call, ({ jkt }) => {
    sale.release(jkt, call.match[1]);
    json(call.response, 204);
  })],
  ["POST", /\/holds\/([^/]+)\/purchase$/, (call) => withSession(call, async ({ jkt }) => {
    const method = call.body.payment_method_token;
    if (method === "pm_sim_slow_8000") await new Promise((resolve) => setTimeout(resolve, 8000));
    if (method.includes("Declined")) {
      const code = method.includes("Insufficient") ? "insufficient_funds" : "generic_decline";
      return problem(call.response, 402, "payment-failed", { decline_code: code });
    }
    const booking = sale.buy(jkt, call.match[1]);
    if (booking === null) return problem(call.response, 410, "hold-expired");
    json(call.response, 201, { booking_id: booking.booking_id, order_id: booking.order_id, payment_ref: "pi_1", status: "captured" });
  })],
  ["GET", /\/orders\/([^/]+)$/, ({ request, response, url, match }) => {
    const booking = sale.order(proofOf(request, url)?.jkt, match[1]);
    return booking === null ? problem(response, 404, "not-found") : json(response, 200, { ...booking, status: "captured" });
  }],
  ["GET", /^\/v1\/users\/me\/bookings$/, ({ request, response, url }) => {
    const proof = proofOf(request, url);
    if (proof === null) return problem(response, 401, "proof-of-possession-failed");
    json(response, 200, sale.bookingsOf(proof.jkt, Number(url.searchParams.get("limit")), url.searchParams.get("cursor")));
  }],
  ["GET", /^\/v1\/events\/[^/]+$/, ({ response }) => json(response, 200, {
    event_id: sale.event, title: sale.title, starts_at: "2027-06-05T19:30:00", timezone: "Europe/Madrid", event_ticket_limit: 6,
  })],
];

function withSession(call, act) {
  const session = sessionOf(call.request);
  if (session === null) return problem(call.response, 403, "admission-required");
  if (proofOf(call.request, call.url, session.text) === null) return problem(call.response, 401, "proof-of-possession-failed");
  return act(session);
}

async function bodyOf(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text === "" ? null : JSON.parse(text);
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, `http://${request.headers.host}`);
  const file = files.get(url.pathname);
  if (file !== undefined) {
    response.writeHead(200, { "Content-Type": file.type, "Content-Security-Policy": POLICY, "Cache-Control": "no-cache" });
    return response.end(await readFile(join(dist, file.file)));
  }
  for (const [method, path, handle] of routes) {
    const match = request.method === method ? url.pathname.match(path) : null;
    if (match !== null) return handle({ request, response, url, match, body: await bodyOf(request) });
  }
  problem(response, 404, "not-found");
});
server.listen(number("port"), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/waiting-room?event=${sale.event}`);
});
