// Our side of the interoperability tests: the example `token_cli` of shared-token, one JSON line a command.
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const target = process.env.CARGO_TARGET_DIR ?? `${root}target`;

/** Builds and starts the example; `ask` sends a command and resolves to its answer, `stop` ends it. */
export function start() {
  const build = spawnSync("cargo", ["build", "-q", "-p", "shared-token", "--example", "token_cli"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (build.status !== 0) throw new Error("token_cli does not build");
  const child = spawn(`${target}/debug/examples/token_cli`, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async ask(command) {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      const { value, done } = await lines.next();
      if (done) throw new Error(`token_cli ended at ${JSON.stringify(command)}`);
      return JSON.parse(value);
    },
    stop: () => child.stdin.end(),
  };
}

export const ISS = "https://fairgate.example";
export const NOW = Math.floor(Date.now() / 1000);

export const seeds = { k1: Buffer.alloc(32, 11), k0: Buffer.alloc(32, 12) };
export const signing_keys = {
  keys: Object.entries(seeds).map(([kid, seed]) => ({ kid, seed: seed.toString("base64url") })),
};

const JKT = "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I";
const shared = { iss: ISS, aud: "evt_1", inc: "inc-1", sub: `key:${JKT}`, iat: NOW, cnf: { jkt: JKT } };

/** Claims of each kind, as the contract lists them. */
export const claims = {
  ticket: { ...shared, jti: "t-1", exp: NOW + 3600, place: { lane: 3, batch: 0, slot: 42 } },
  admission: { ...shared, jti: "a-1", nbf: NOW, exp: NOW + 120 },
  session: { ...shared, sub: "acct:auth0|42", sid: "s-1", batch: 1, exp: NOW + 900 },
};
export const KINDS = Object.keys(claims);
