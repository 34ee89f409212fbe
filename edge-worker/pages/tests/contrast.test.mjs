// The colours' contrast, light and dark, as WCAG 2.2 measures it: 4.5 for text, 3 for seats and borders.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";

const css = await readFile(new URL("../src/styles/tokens.css", import.meta.url), "utf8");
const [light, dark] = css.split("@media (prefers-color-scheme: dark)").map((part) =>
  Object.fromEntries([...part.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map(([, name, value]) => [name, value])));

const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => channel(parseInt(hex.slice(at, at + 2), 16) / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const categories = [0, 1, 2, 3, 4, 5].map((index) => `category-${index}`);
const PAIRS = [
  ...["page", "surface", "sunken", "map"].flatMap((ground) => [["ink", ground, 4.5], ["muted", ground, 4.5]]),
  ["accent", "page", 4.5], ["accent", "surface", 4.5], ["on-accent", "accent", 4.5], ["on-accent", "accent-strong", 4.5],
  ["good", "good-soft", 4.5], ["warn", "warn-soft", 4.5], ["bad", "bad-soft", 4.5], ["on-mine", "seat-mine", 4.5],
  ["surface", "ink", 4.5], ["edge", "page", 3], ["edge", "surface", 3], ["focus", "page", 3], ["focus", "surface", 3],
  ["seat-mine", "section", 3], ["accent", "sunken", 3],
  ...categories.flatMap((category) => [[category, "section", 3], [category, "map", 3], ["on-category", category, 4.5]]),
];

for (const [scheme, colours] of [["light", light], ["dark", { ...light, ...dark }]]) {
  test(`contrast in ${scheme}`, () => {
    const weak = PAIRS.filter(([a, b, least]) => contrast(colours[a], colours[b]) < least)
      .map(([a, b]) => `${a} on ${b}: ${contrast(colours[a], colours[b]).toFixed(2)}`);
    assert.deepEqual(weak, []);
  });
}
