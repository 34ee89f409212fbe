// Denominator: a ready answer of the same size as the packed seat map.
let body;
export default {
  fetch(request, env) {
    body ??= new Uint8Array(Number(env.BODY_BYTES)).map((_, i) => (i * 31) & 255);
    return new Response(body, { headers: { "content-type": "application/octet-stream", etag: '"1"', "cache-control": "public, max-age=1" } });
  },
};
