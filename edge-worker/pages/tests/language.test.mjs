import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { load } from "./source.mjs";

const { en } = await load("i18n/en.ts");
const { es } = await load("i18n/es.ts");
const { chooseLanguage, fill, localTime } = await load("i18n/language.ts");
const pages = join(dirname(fileURLToPath(import.meta.url)), "..");

const placeholders = (message) => [...new Set(JSON.stringify(message).match(/\{\w+\}/g) ?? [])].sort();

test("Spanish fills every key and every placeholder", () => {
  assert.deepEqual(Object.keys(es), Object.keys(en));
  for (const key of Object.keys(en)) assert.deepEqual(placeholders(es[key]), placeholders(en[key]), key);
});

test("every text is used, and every text that the HTML names exists", async () => {
  let used = "";
  for (const folder of ["src", "html"]) {
    for (const file of await readdir(join(pages, folder), { recursive: true })) {
      if (/\.(ts|html)$/.test(file) && !file.startsWith("i18n/e")) used += await readFile(join(pages, folder, file), "utf8");
    }
  }
  // Statuses of bookings are looked up by name.
  const unused = Object.keys(en).filter((key) => !used.includes(`"${key}"`) && !key.startsWith("bookings.status."));
  assert.deepEqual(unused, []);
  for (const [, key] of used.matchAll(/data-t(?:-label)?="([^"]+)"/g)) assert.ok(key in en, key);
});

test("plural forms and numbers are the language's", () => {
  assert.equal(fill({ one: "{n} seat", other: "{n} seats" }, { n: 1 }, "en"), "1 seat");
  assert.equal(fill({ one: "{n} seat", other: "{n} seats" }, { n: 12345 }, "en"), "12,345 seats");
  assert.equal(fill({ one: "{n} asiento", other: "{n} asientos" }, { n: 12345 }, "es"), "12.345 asientos");
  assert.equal(fill("{a} {unknown}", { a: "x" }, "en"), "x {unknown}");
});

test("the language asked for, else the browser's, else English", () => {
  assert.equal(chooseLanguage(["es", "en"]), "es");
  assert.equal(chooseLanguage([null, null, "de-DE", "es-MX"]), "es");
  assert.equal(chooseLanguage([null, "constructor", "de"]), "en");
});

test("an event's time is the venue's, whatever zone the reader is in", () => {
  assert.match(localTime("2027-06-05T19:30:00"), /June 5, 2027.*7:30/);
});
