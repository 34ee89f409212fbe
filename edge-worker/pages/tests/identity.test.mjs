import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from "jose";
import { load } from "./source.mjs";

const { generate, proofFor, thumbprint } = await load("identity/identity.ts");
const { encode, decode, claimsOf } = await load("base/base64url.ts");

test("base64url: both ways, no padding, url-safe alphabet", () => {
  for (let length = 0; length < 40; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 89 + length * 7) % 256);
    assert.equal(encode(bytes), Buffer.from(bytes).toString("base64url"));
    assert.deepEqual(decode(encode(bytes)), bytes);
  }
});

test("thumbprint: RFC 8037 appendix A.3", async () => {
  const jwk = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
  assert.equal(await thumbprint(jwk), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
});

for (const kind of ["Ed25519", "P-256"]) {
  test(`a proof by ${kind} is accepted by an independent implementation`, async () => {
    const identity = await generate(kind);
    assert.equal(identity.privateKey.extractable, false);
    assert.equal(identity.jkt, await calculateJwkThumbprint(identity.jwk));
    const proof = await proofFor(identity, 1_800_000_000, {
      method: "POST", url: "https://tickets.example/v1/events/evt_1/queue?a=1#b", token: "the.access.token",
    });
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, { typ: "dpop+jwt" });
    assert.equal(payload.htu, "https://tickets.example/v1/events/evt_1/queue", "query and fragment are dropped");
    assert.equal(payload.htm, "POST");
    assert.equal(payload.iat, 1_800_000_000, "the time is the server's, not this machine's");
    assert.equal(payload.ath, createHash("sha256").update("the.access.token").digest("base64url"));
    assert.deepEqual(Object.keys(protectedHeader).sort(), ["alg", "jwk", "typ"], "the verifier takes no other member");
    assert.equal("d" in protectedHeader.jwk, false);
  });
}

test("a proof without a token has no ath, and no two proofs share a jti", async () => {
  const identity = await generate("P-256");
  const of = { method: "GET", url: "https://tickets.example/x" };
  const [first, second] = await Promise.all([proofFor(identity, 1, of), proofFor(identity, 1, of)]);
  assert.equal("ath" in claimsOf(first), false);
  assert.notEqual(claimsOf(first).jti, claimsOf(second).jti);
});

test("claims of what is no token are null", () => {
  for (const text of ["", "a", "a.b", "a.!!.c", `a.${encode(new TextEncoder().encode("7"))}.c`]) assert.equal(claimsOf(text), null);
});
