// The way to an origin in one call across the wasm border: nine would cost as much as the gate's own work.
// What is sent and why is said in origin.rs; this file decides nothing.

// Sends `request` on to `address` as it came, with our own headers in place of what the client sent under their names.
export function forward(request, address, edge, session, bound_ms) {
  // The runtime reads a request where it asks for a description of one: method, headers, body, redirect mode.
  const outgoing = new Request(address, request);
  const { headers } = outgoing;
  if (edge === undefined) headers.delete("Fairgate-Edge");
  else headers.set("Fairgate-Edge", edge);
  if (session === undefined) headers.delete("Fairgate-Session");
  else headers.set("Fairgate-Session", session);
  headers.delete("Fairgate-Command");
  return send(outgoing, bound_ms);
}

// Resolves to the response, or to undefined if its headers did not arrive within the bound. The body has no bound:
// it may be a stream of events.
export function send(request, bound_ms) {
  return new Promise((resolve, reject) => {
    const bound = setTimeout(resolve, bound_ms);
    fetch(request).then(
      (response) => {
        clearTimeout(bound);
        resolve(response);
      },
      (error) => {
        clearTimeout(bound);
        reject(error);
      },
    );
  });
}
