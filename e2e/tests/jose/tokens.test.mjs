// `jose` (npm) as an independent implementation: it takes our tokens and JWK set, and we take its tokens.
import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { after, before, test } from "node:test";
import * as jose from "jose";
import { ISS, KINDS, NOW, claims, seeds, signing_keys, start } from "./ours.mjs";

let ours, jwks;
before(async () => {
  ours = start();
  jwks = await ours.ask({ do: "jwks", signing_keys });
});
after(() => ours.stop());

/** A private key jose can sign with, from a raw seed (RFC 8410 PKCS#8). */
function privateKey(seed) {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

function theirs(kind, kid = "k1", change = {}) {
  return new jose.SignJWT({ ...claims[kind], ...change })
    .setProtectedHeader({ alg: "EdDSA", typ: `${kind}+jwt`, kid })
    .sign(privateKey(seeds[kid] ?? seeds.k1));
}

const verify = (kind, token, change = {}) =>
  ours.ask({ do: "verify", kind, jwks, token, iss: ISS, aud: "evt_1", now: NOW, ...change });

test("jose verifies our tokens with our JWK set, and pins what a verifier must", async () => {
  const keys = jose.createLocalJWKSet(jwks);
  for (const kind of KINDS) {
    const { token } = await ours.ask({ do: "sign", kind, signing_keys, claims: claims[kind] });
    const options = { issuer: ISS, audience: "evt_1", typ: `${kind}+jwt`, algorithms: ["EdDSA"], clockTolerance: 0 };
    const { payload, protectedHeader } = await jose.jwtVerify(token, keys, options);
    assert.deepEqual(payload, claims[kind]);
    assert.deepEqual(protectedHeader, { alg: "EdDSA", typ: `${kind}+jwt`, kid: "k1" });
    for (const wrong of [{ issuer: "https://other.example" }, { audience: "evt_2" }, { typ: "JWT" }]) {
      await assert.rejects(jose.jwtVerify(token, keys, { ...options, ...wrong }), jose.errors.JWTClaimValidationFailed);
    }
    const damaged = token.replace(/.$/, (last) => (last === "A" ? "Q" : "A"));
    await assert.rejects(jose.jwtVerify(damaged, keys, options), jose.errors.JWSSignatureVerificationFailed);
  }
});

test("our JWK set is one to jose: public, named, and with thumbprints we agree on", async () => {
  assert.deepEqual(jwks.keys.map(({ kid }) => kid), ["k1", "k0"]);
  for (const jwk of jwks.keys) {
    assert.deepEqual(Object.keys(jwk).sort(), ["alg", "crv", "kid", "kty", "use", "x"]);
    await jose.importJWK(jwk);
    const { thumbprint } = await ours.ask({ do: "thumbprint", jwk });
    assert.equal(thumbprint, await jose.calculateJwkThumbprint(jwk));
  }
});

test("we verify jose's tokens, by every key of the ring", async () => {
  for (const kind of KINDS) {
    for (const kid of ["k1", "k0"]) {
      assert.deepEqual(await verify(kind, await theirs(kind, kid)), { claims: claims[kind] });
    }
  }
});

test("we read a JWK set as jose exports it", async () => {
  const key = await jose.exportJWK(privateKey(seeds.k1));
  delete key.d;
  const set = { keys: [{ ...key, kid: "k1" }, { kty: "RSA", n: "AQAB", e: "AQAB", kid: "skipped" }] };
  assert.deepEqual(await verify("ticket", await theirs("ticket"), { jwks: set }), { claims: claims.ticket });
});

test("we refuse jose's tokens that are valid elsewhere", async () => {
  for (const kind of KINDS) {
    const refused = async (token, reason, change) =>
      assert.match((await verify(kind, token, change)).refused, reason, kind);
    await refused(await theirs(kind, "k9"), /unknown key/);
    await refused(await theirs(kind, "k1", { iss: "https://other.example" }), /another issuer/);
    await refused(await theirs(kind, "k1", { aud: "evt_2" }), /another event/);
    await refused(await theirs(kind, "k1", { aud: ["evt_1"] }), /claims are malformed/);
    await refused(await theirs(kind, "k1", { exp: NOW }), /expired/);
    await refused(await theirs(kind, "k1", { iat: NOW + 31 }), /not valid yet/);
    await refused(await theirs(KINDS.find((other) => other !== kind)), /another type/);
    const unsecured = new jose.UnsecuredJWT(claims[kind]).encode();
    await refused(unsecured, /malformed/);
    const symmetric = await new jose.SignJWT(claims[kind])
      .setProtectedHeader({ alg: "HS256", typ: `${kind}+jwt`, kid: "k1" })
      .sign(Buffer.from(jwks.keys[0].x, "base64url"));
    await refused(symmetric, /algorithm|malformed/);
    const critical = await new jose.SignJWT(claims[kind])
      .setProtectedHeader({ alg: "EdDSA", typ: `${kind}+jwt`, kid: "k1", crit: ["b64"], b64: true })
      .sign(privateKey(seeds.k1));
    await refused(critical, /malformed/);
  }
});
