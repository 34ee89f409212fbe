// How one seat looks, drawn once per size and look, then stamped. Category is a colour and a shape,
// status is a fill: full = available, hollow = in a basket, small cross = sold, dark with a tick = chosen.

import { AVAILABLE, SOLD } from "./availability";
import { ACCESSIBLE, COMPANION, RESTRICTED } from "./plan";

export interface Palette {
  map: string;
  section: string;
  line: string;
  ink: string;
  muted: string;
  off: string;
  mine: string;
  onMine: string;
  onCategory: string;
  categories: string[];
}

export function readPalette(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    map: colour("--map"), section: colour("--section"), line: colour("--line"), ink: colour("--ink"), muted: colour("--muted"),
    off: colour("--seat-off"), mine: colour("--seat-mine"), onMine: colour("--on-mine"), onCategory: colour("--on-category"),
    categories: [0, 1, 2, 3, 4, 5].map((index) => colour(`--category-${index}`)),
  };
}

export function categoryColour(palette: Palette, category: number): string {
  return palette.categories[category % palette.categories.length]!;
}

export interface Look {
  category: number;
  status: number;
  flags: number;
  chosen: boolean;
}

/** Traces the category's shape around (0, 0): disc, rounded square, diamond, triangle, hexagon, cross. */
function trace(pen: CanvasRenderingContext2D, category: number, radius: number): void {
  pen.beginPath();
  const polygon = (corners: number, turn: number, r: number): void => {
    for (let i = 0; i < corners; i++) {
      const angle = turn + (i * 2 * Math.PI) / corners;
      if (i === 0) pen.moveTo(r * Math.cos(angle), r * Math.sin(angle));
      else pen.lineTo(r * Math.cos(angle), r * Math.sin(angle));
    }
    pen.closePath();
  };
  switch (category % 5) {
    case 0: pen.arc(0, 0, radius, 0, 2 * Math.PI); break;
    case 1: pen.rect(-radius * 0.88, -radius * 0.88, radius * 1.76, radius * 1.76); break;
    case 2: polygon(4, 0, radius * 1.12); break;
    case 3: polygon(3, -Math.PI / 2, radius * 1.2); break;
    default: polygon(6, 0, radius * 1.05);
  }
}

export function drawSeat(pen: CanvasRenderingContext2D, look: Look, radius: number, palette: Palette): void {
  if (look.chosen) {
    trace(pen, look.category, radius * 1.12);
    pen.fillStyle = palette.mine;
    pen.fill();
    tick(pen, radius, palette.onMine);
    return;
  }
  if (look.status === AVAILABLE) {
    trace(pen, look.category, radius);
    pen.fillStyle = categoryColour(palette, look.category);
    pen.fill();
    if (radius >= 4) badge(pen, look.flags, radius, palette.onCategory);
    return;
  }
  pen.strokeStyle = palette.off;
  pen.lineWidth = Math.max(1, radius * 0.22);
  if (look.status === SOLD) {
    const arm = radius * 0.42;
    pen.beginPath();
    pen.moveTo(-arm, -arm);
    pen.lineTo(arm, arm);
    pen.moveTo(arm, -arm);
    pen.lineTo(-arm, arm);
    pen.stroke();
    return;
  }
  trace(pen, look.category, radius * 0.82);
  pen.stroke();
}

function tick(pen: CanvasRenderingContext2D, radius: number, colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = Math.max(1.2, radius * 0.26);
  pen.beginPath();
  pen.moveTo(-radius * 0.45, 0);
  pen.lineTo(-radius * 0.1, radius * 0.38);
  pen.lineTo(radius * 0.5, -radius * 0.38);
  pen.stroke();
}

/** A wheel for wheelchair places, a plus for companions, a bar for a restricted view. */
function badge(pen: CanvasRenderingContext2D, flags: number, radius: number, colour: string): void {
  pen.strokeStyle = colour;
  pen.fillStyle = colour;
  pen.lineWidth = Math.max(1, radius * 0.2);
  if (flags & ACCESSIBLE) {
    pen.beginPath();
    pen.arc(-radius * 0.05, radius * 0.15, radius * 0.42, -0.4, Math.PI * 1.25);
    pen.moveTo(-radius * 0.15, -radius * 0.35);
    pen.lineTo(-radius * 0.05, radius * 0.12);
    pen.lineTo(radius * 0.4, radius * 0.12);
    pen.stroke();
    pen.beginPath();
    pen.arc(-radius * 0.18, -radius * 0.55, radius * 0.16, 0, 2 * Math.PI);
    pen.fill();
  } else if (flags & COMPANION) {
    pen.fillRect(-radius * 0.4, -radius * 0.1, radius * 0.8, radius * 0.2);
    pen.fillRect(-radius * 0.1, -radius * 0.4, radius * 0.2, radius * 0.8);
  } else if (flags & RESTRICTED) {
    pen.fillRect(-radius * 0.5, -radius * 0.1, radius, radius * 0.2);
  }
}

/** Sprites kept: sizes × looks of a few zoom steps; beyond that the oldest zooms are forgotten. */
const SPRITES_MAX = 240;

export class Sprites {
  readonly #kept = new Map<string, HTMLCanvasElement>();

  constructor(readonly palette: Palette) {}

  /** A canvas of 2.6 radii square with the seat in its middle; `radius` is in device pixels. */
  get(look: Look, radius: number): HTMLCanvasElement {
    const key = `${radius} ${look.category} ${look.status} ${look.flags} ${look.chosen}`;
    let sprite = this.#kept.get(key);
    if (sprite === undefined) {
      if (this.#kept.size >= SPRITES_MAX) this.#kept.clear();
      sprite = document.createElement("canvas");
      sprite.width = sprite.height = Math.ceil(radius * 2.6);
      const pen = sprite.getContext("2d")!;
      pen.translate(sprite.width / 2, sprite.height / 2);
      drawSeat(pen, look, radius, this.palette);
      this.#kept.set(key, sprite);
    }
    return sprite;
  }
}
