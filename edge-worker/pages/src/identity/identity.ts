// A fan's key: made in the browser, not exportable, one per event; and the DPoP proofs it signs.

import * as base64url from "../base/base64url";

export type PublicJwk =
  | { kty: "OKP"; crv: "Ed25519"; x: string }
  | { kty: "EC"; crv: "P-256"; x: string; y: string };

export interface Identity {
  privateKey: CryptoKey;
  jwk: PublicJwk;
  /** RFC 7638 thumbprint of `jwk`. */
  jkt: string;
}

export async function generate(kind: "Ed25519" | "P-256"): Promise<Identity> {
  const algorithm = kind === "Ed25519" ? { name: "Ed25519" } : { name: "ECDSA", namedCurve: "P-256" };
  const pair = (await crypto.subtle.generateKey(algorithm, false, ["sign", "verify"])) as CryptoKeyPair;
  const jwk = publicJwk(await crypto.subtle.exportKey("jwk", pair.publicKey));
  return { privateKey: pair.privateKey, jwk, jkt: await thumbprint(jwk) };
}

function publicJwk(jwk: JsonWebKey): PublicJwk {
  if (jwk.kty === "OKP" && jwk.x !== undefined) return { kty: "OKP", crv: "Ed25519", x: jwk.x };
  if (jwk.kty === "EC" && jwk.x !== undefined && jwk.y !== undefined) return { kty: "EC", crv: "P-256", x: jwk.x, y: jwk.y };
  throw new Error("the browser exported a key of another kind");
}

/** RFC 7638: required members only, in lexicographic order, no white space. */
export function thumbprintInput(jwk: PublicJwk): string {
  return jwk.kty === "OKP"
    ? JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x })
    : JSON.stringify({ crv: jwk.crv, kty: jwk.kty, x: jwk.x, y: jwk.y });
}

export async function thumbprint(jwk: PublicJwk): Promise<string> {
  return sha256(thumbprintInput(jwk));
}

async function sha256(text: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

export interface ProofOf {
  method: string;
  /** Absolute; query and fragment are dropped, as RFC 9449 says. */
  url: string;
  token?: string;
}

export function proofHeader(jwk: PublicJwk): Record<string, unknown> {
  return { typ: "dpop+jwt", alg: jwk.kty === "OKP" ? "EdDSA" : "ES256", jwk };
}

export async function proofClaims(of: ProofOf, iat: number, jti: string): Promise<Record<string, unknown>> {
  const htu = of.url.replace(/[?#].*$/s, "");
  const claims: Record<string, unknown> = { jti, htm: of.method, htu, iat };
  if (of.token !== undefined) claims["ath"] = await sha256(of.token);
  return claims;
}

export async function proofFor(identity: Identity, iat: number, of: ProofOf): Promise<string> {
  const jti = base64url.encode(crypto.getRandomValues(new Uint8Array(16)));
  const header = base64url.encodeText(JSON.stringify(proofHeader(identity.jwk)));
  const claims = base64url.encodeText(JSON.stringify(await proofClaims(of, iat, jti)));
  const signed = `${header}.${claims}`;
  const algorithm = identity.jwk.kty === "OKP" ? { name: "Ed25519" } : { name: "ECDSA", hash: "SHA-256" };
  // Ed25519 and ECDSA in WebCrypto both give the raw concatenation that JWS wants.
  const signature = await crypto.subtle.sign(algorithm, identity.privateKey, new TextEncoder().encode(signed));
  return `${signed}.${base64url.encode(new Uint8Array(signature))}`;
}
