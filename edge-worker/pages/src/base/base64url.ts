// base64url without padding (RFC 4648, section 5), as JOSE wants it.

export function encode(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export function encodeText(text: string): string {
  return encode(new TextEncoder().encode(text));
}

export function decode(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The claims of a compact JWS, unverified: for showing a deadline, never for deciding a right. */
export function claimsOf(token: string): Record<string, unknown> | null {
  try {
    const middle = token.split(".")[1];
    if (middle === undefined) return null;
    const claims: unknown = JSON.parse(new TextDecoder().decode(decode(middle)));
    return typeof claims === "object" && claims !== null ? (claims as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
