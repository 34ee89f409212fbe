// Loads one of the pages' modules into Node: bundled by esbuild in memory, as the build does it.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const src = join(dirname(fileURLToPath(import.meta.url)), "..", "src");

export async function load(...paths) {
  const contents = paths.map((path) => `export * from ${JSON.stringify(`./${path}`)};`).join("\n");
  const result = await build({
    stdin: { contents, resolveDir: src, loader: "ts" }, bundle: true, write: false, format: "esm", target: "node20",
    define: { SOLVER_WORKER_URL: '"/worker.js"', SOLVER_WASM_URL: '"/solver.wasm"' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].contents).toString("base64")}`);
}
