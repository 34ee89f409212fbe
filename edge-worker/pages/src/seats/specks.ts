// Sections seen from afar: their seats as specks, drawn once into a bitmap and stamped while the map
// is moved. Nine thousand rectangles a frame are too many for a cheap phone; four bitmaps are not.

import type { Choice } from "./choice";
import { type Filter, matches } from "./filter";
import type { Plan, Section } from "./plan";
import { categoryColour, type Palette } from "./sprites";

/** Bitmaps are drawn for scales a factor of √2 apart, and shrunk to the one at hand. */
const SCALE_STEP = Math.SQRT2;

interface Layer {
  canvas: HTMLCanvasElement;
  scale: number;
  revision: number;
}

export class Specks {
  readonly #layers = new Map<Section, Layer>();
  #revision = 0;

  constructor(private readonly plan: Plan, private readonly choice: Choice) {}

  /** Availability, choice, filter or colours have changed. */
  invalidate(): void {
    this.#revision += 1;
  }

  /** A bitmap of the section's box, at least as fine as `scale` (device pixels a plan unit). */
  layer(section: Section, scale: number, filter: Filter, palette: Palette): HTMLCanvasElement {
    const wanted = SCALE_STEP ** Math.ceil(Math.log(scale) / Math.log(SCALE_STEP));
    const known = this.#layers.get(section);
    if (known !== undefined && known.scale === wanted && known.revision === this.#revision) return known.canvas;
    const canvas = known?.canvas ?? document.createElement("canvas");
    this.#draw(canvas, section, wanted, filter, palette);
    this.#layers.set(section, { canvas, scale: wanted, revision: this.#revision });
    return canvas;
  }

  #draw(canvas: HTMLCanvasElement, section: Section, scale: number, filter: Filter, palette: Palette): void {
    const { left, top, right, bottom } = section.box;
    canvas.width = Math.ceil((right - left) * scale);
    canvas.height = Math.ceil((bottom - top) * scale);
    const pen = canvas.getContext("2d")!;
    const side = Math.max(1, this.plan.spacing * scale * 0.72);
    for (const [colour, seats] of this.#byColour(section, filter, palette)) {
      pen.fillStyle = colour;
      const own = colour === palette.mine ? Math.max(6, side * 1.5) : colour === palette.off ? side * 0.6 : side;
      for (const seat of seats) {
        pen.fillRect((this.plan.x[seat]! - left) * scale - own / 2, (this.plan.y[seat]! - top) * scale - own / 2, own, own);
      }
    }
  }

  /** What is taken first, what is chosen last: on top. */
  #byColour(section: Section, filter: Filter, palette: Palette): [string, number[]][] {
    const free = new Map<string, number[]>();
    const off: number[] = [];
    const mine: number[] = [];
    for (const seat of section.seats) {
      if (this.choice.has(seat)) mine.push(seat);
      else if (!this.choice.isFree(seat) || !matches(this.plan, filter, seat)) off.push(seat);
      else {
        const colour = categoryColour(palette, this.plan.category[seat]!);
        const seats = free.get(colour);
        if (seats === undefined) free.set(colour, [seat]);
        else seats.push(seat);
      }
    }
    return [[palette.off, off], ...free, [palette.mine, mine]];
  }
}
