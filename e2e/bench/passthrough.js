// Denominator: the least a Worker can do in front of an origin.
export default {
  fetch(request, env) {
    const url = new URL(request.url);
    return fetch(env.UPSTREAM + url.pathname + url.search, request);
  },
};
