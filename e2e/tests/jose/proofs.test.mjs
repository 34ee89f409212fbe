// DPoP (RFC 9449) against `jose`: keys as a browser makes them, proofs in both directions.
import assert from "node:assert/strict";
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import * as jose from "jose";
import { NOW, start } from "./ours.mjs";

const CURVES = [
  { curve: "Ed25519", alg: "EdDSA" },
  { curve: "P-256", alg: "ES256" },
];
const url = "https://fairgate.example/v1/events/evt_1/queue";
const access_token = "header.payload.signature";
const ath = createHash("sha256").update(access_token).digest("base64url");

let ours;
before(() => (ours = start()));
after(() => ours.stop());

/** A key pair that cannot be exported, its public half as WebCrypto writes it (`ext`, `key_ops` and all). */
async function browserKey({ curve, alg }) {
  const algorithm = curve === "P-256" ? { name: "ECDSA", namedCurve: curve } : { name: curve };
  const pair = await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"]);
  const jwk = await crypto.subtle.exportKey("jwk", pair.publicKey);
  return { alg, jwk, privateKey: pair.privateKey };
}

function prove({ alg, jwk, privateKey }, change = {}, header = {}) {
  const { kty, crv, x, y } = jwk;
  return new jose.SignJWT({ htm: "POST", htu: url, iat: NOW, jti: randomUUID(), ath, ...change })
    .setProtectedHeader({ typ: "dpop+jwt", alg, jwk: { kty, crv, x, y }, ...header })
    .sign(privateKey);
}

const check = (proof, change = {}) =>
  ours.ask({ do: "check_proof", proof, method: "POST", url, now: NOW, access_token, jkt: null, ...change });

test("we accept jose's proofs by keys of WebCrypto, and name the key as jose does", async () => {
  for (const kind of CURVES) {
    const key = await browserKey(kind);
    const jkt = await jose.calculateJwkThumbprint(key.jwk);
    const jti = randomUUID();
    const proof = await prove(key, { jti, htu: `${url}?from=page` });
    const answer = await check(proof, { jkt });
    assert.deepEqual({ ...answer, jwk: undefined }, { jkt, jti, iat: NOW, jwk: undefined });
    // The whole exported key stands in the header, as clients that do not pick members send it.
    assert.equal((await check(await prove(key, {}, { jwk: key.jwk }))).jkt, jkt);
  }
});

test("jose accepts our proofs", async () => {
  for (const { curve, alg } of CURVES) {
    const secret = randomBytes(32).fill(1, 0, 1).toString("base64url");
    const jti = randomUUID();
    const { proof, jwk, jkt } = await ours.ask({
      do: "prove", curve, secret, method: "POST", url: `${url}?a=b`, iat: NOW, jti, access_token,
    });
    const { payload, protectedHeader } = await jose.jwtVerify(proof, jose.EmbeddedJWK, { typ: "dpop+jwt", algorithms: [alg] });
    assert.deepEqual(payload, { jti, htm: "POST", htu: url, iat: NOW, ath });
    assert.deepEqual(protectedHeader, { typ: "dpop+jwt", alg, jwk });
    assert.equal(jkt, await jose.calculateJwkThumbprint(protectedHeader.jwk));
  }
});

test("we refuse jose's proofs for anything else", async () => {
  for (const kind of CURVES) {
    const key = await browserKey(kind);
    const refused = async (reason, change, header, expected) =>
      assert.match((await check(await prove(key, change, header), expected)).refused, reason);
    await refused(/method/, { htm: "GET" });
    await refused(/another URL/, { htu: "https://other.example/v1/events/evt_1/queue" });
    await refused(/too old/, { iat: NOW - 61 });
    await refused(/future/, { iat: NOW + 61 });
    await refused(/another token/, { ath: undefined });
    await refused(/another token/, { ath: createHash("sha256").update("x").digest("base64url") });
    await refused(/another type/, {}, { typ: "JWT" });
    await refused(/malformed/, { jti: undefined });
    await refused(/malformed/, { iat: "now" });
    await refused(/malformed/, {}, { jwk: { ...key.jwk, d: "AA" } });
    const other = await browserKey(kind);
    await refused(/signature/, {}, { jwk: other.jwk });
    await refused(/another key/, {}, {}, { jkt: await jose.calculateJwkThumbprint(other.jwk) });
  }
});

test("we refuse keys and algorithms we do not know", async () => {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-384" }, false, ["sign", "verify"]);
  const jwk = await crypto.subtle.exportKey("jwk", pair.publicKey);
  assert.match((await check(await prove({ alg: "ES384", jwk, privateKey: pair.privateKey }))).refused, /malformed/);
});
