// Builds the pages into dist/: content-hashed assets, one HTML file a page, and manifest.json, which
// edge-worker/build.rs turns into the table of files the Worker serves.
//
//   node edge-worker/pages/build.mjs        FAIRGATE_SOLVER_WASM names the solver if it lies elsewhere

import { createHash } from "node:crypto";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const dist = join(here, "dist");
const assets = join(dist, "assets");
const solver = process.env.FAIRGATE_SOLVER_WASM
  ?? join(root, "target", "wasm32-unknown-unknown", "release", "edge_solver.wasm");

const PAGES = ["waiting-room", "seats", "checkout", "bookings"];
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };
/** What the browsers that can hold a key and run our wasm (64-bit integers across the border) speak. */
const TARGET = ["es2021", "chrome90", "firefox90", "safari15"];
/** A data address, so that no browser asks for /favicon.ico. */
const ICON = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
  + "%3Crect width='16' height='16' rx='4' fill='%231f4f8f'/%3E%3Cpath d='M4 12V7a4 4 0 0 1 8 0v5' "
  + "fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

async function readSolver() {
  try {
    return await readFile(solver);
  } catch {
    throw new Error(`no solver at ${solver}: build it first with\n`
      + "  cargo build --release -p edge-solver --target wasm32-unknown-unknown");
  }
}

function hashed(name, bytes) {
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const dot = name.lastIndexOf(".");
  return `${name.slice(0, dot)}.${hash}${name.slice(dot)}`;
}

async function place(name, bytes) {
  const file = hashed(name, bytes);
  await writeFile(join(assets, file), bytes);
  return `/assets/${file}`;
}

async function bundleOne(entry, define) {
  const result = await build({
    entryPoints: [join(here, "src", entry)], bundle: true, minify: true, write: false, target: TARGET,
    format: "iife", legalComments: "none", define,
  });
  return result.outputFiles[0].contents;
}

/** The pages' scripts, with what they share in common chunks, named by their content. */
async function bundlePages(define) {
  const result = await build({
    entryPoints: Object.fromEntries(PAGES.map((page) => [page, join(here, "src", page, "main.ts")])),
    bundle: true, splitting: true, minify: true, format: "esm", target: TARGET, legalComments: "none",
    outdir: assets, entryNames: "[name].[hash]", chunkNames: "part.[hash]", metafile: true, define,
  });
  const outputs = {};
  for (const [path, output] of Object.entries(result.metafile.outputs)) {
    outputs[`/${relative(dist, join(process.cwd(), path))}`] = output;
  }
  return outputs;
}

function scriptsOf(page, outputs) {
  const [script, output] = Object.entries(outputs).find(([, output]) => output.entryPoint?.endsWith(`${page}/main.ts`));
  const parts = output.imports.filter((part) => part.kind === "import-statement")
    .map((part) => `/${relative(dist, join(process.cwd(), part.path))}`);
  return { script, parts };
}

async function english() {
  const code = await build({
    entryPoints: [join(here, "src", "i18n", "en.ts")], bundle: true, write: false, format: "esm", target: "node20",
  });
  const module = await import(`data:text/javascript;base64,${Buffer.from(code.outputFiles[0].contents).toString("base64")}`);
  return module.en;
}

function escape(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/"/g, "&quot;");
}

/** Puts the English texts into the elements that name a key, so the page reads before it runs. */
function translate(html, catalogue) {
  const text = (key) => {
    const message = catalogue[key];
    if (typeof message !== "string") throw new Error(`the HTML names an unknown text: ${key}`);
    return escape(message);
  };
  return html
    .replace(/(data-t="([^"]+)"[^>]*>)(<\/)/g, (_, open, key, close) => `${open}${text(key)}${close}`)
    .replace(/data-t-label="([^"]+)"/g, (whole, key) => `${whole} aria-label="${text(key)}"`);
}

async function writePage(page, { outputs, style, catalogue, parts }) {
  const { script, parts: shared } = scriptsOf(page, outputs);
  const head = [
    `<link rel="icon" href="${ICON}">`,
    `<link rel="stylesheet" href="${style}">`,
    ...shared.map((part) => `<link rel="modulepreload" href="${part}">`),
    `<script type="module" src="${script}"></script>`,
  ].join("\n");
  const source = await readFile(join(here, "html", `${page}.html`), "utf8");
  const html = source.replace("<!-- head -->", () => head)
    .replace("<!-- top -->\n", () => parts.top).replace("<!-- bottom -->\n", () => parts.bottom);
  await writeFile(join(dist, `${page}.html`), translate(html, catalogue));
}

async function main() {
  const wasm = await readSolver();
  await rm(dist, { recursive: true, force: true });
  await mkdir(assets, { recursive: true });
  const wasmUrl = await place("solver.wasm", wasm);
  const workerUrl = await place("solver-worker.js", await bundleOne("solver/worker.ts", {}));
  const outputs = await bundlePages({
    SOLVER_WORKER_URL: JSON.stringify(workerUrl), SOLVER_WASM_URL: JSON.stringify(wasmUrl),
  });
  const style = await place("style.css", await bundleOne("styles/index.css", {}));
  const parts = {
    top: await readFile(join(here, "html", "top.part.html"), "utf8"),
    bottom: await readFile(join(here, "html", "bottom.part.html"), "utf8"),
  };
  const catalogue = await english();
  for (const page of PAGES) await writePage(page, { outputs, style, catalogue, parts });
  const files = [wasmUrl, workerUrl, style, ...Object.keys(outputs)].sort();
  const manifest = {
    pages: PAGES.map((page) => ({ file: `${page}.html`, route: `/${page}` })),
    assets: files.map((route) => ({ file: route.slice(1), route, type: TYPES[route.slice(route.lastIndexOf("."))] })),
  };
  await writeFile(join(dist, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

await main();
