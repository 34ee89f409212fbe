// Denominator: a Worker that hands the request body to a Durable Object, which hands it back.
export class Echo {
  async fetch(request) {
    return new Response(await request.text());
  }
}
let turn = 0;
export default {
  fetch(request, env) {
    // As many objects as an event of the bench has lanes, used in turn.
    const id = env.ECHO.idFromName(String(turn++ % Number(env.LANES)));
    return env.ECHO.get(id).fetch(request);
  },
};
