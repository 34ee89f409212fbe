// Paints the map: sections always, seats as specks from afar and as shapes from near, names where
// there is room. One pass over typed arrays; what is out of sight is skipped.

import { number, t } from "../i18n/language";
import { AVAILABLE, type Availability } from "./availability";
import type { Choice } from "./choice";
import { type Filter, matches } from "./filter";
import { isInside, type Plan, type Section } from "./plan";
import { type Palette, readPalette, Sprites } from "./sprites";
import { Specks } from "./specks";
import type { Viewport } from "./viewport";

/** Distance of neighbours on screen, in CSS pixels, from which seats are shapes / can be chosen / carry numbers. */
export const SHAPES_FROM_PX = 5;
export const CHOOSE_FROM_PX = 15;
const NUMBERS_FROM_PX = 30;
const SECTION_NAMES_UNTIL_PX = 13;
/** The zoom buttons' column, where no name should lie. */
const BUTTONS_PX = 62;

export class Painter {
  #sprites = new Sprites(readPalette());
  readonly #specks: Specks;
  readonly #pen: CanvasRenderingContext2D;

  constructor(
    canvas: HTMLCanvasElement, private readonly plan: Plan,
    private readonly availability: Availability, private readonly choice: Choice,
  ) {
    this.#specks = new Specks(plan, choice);
    this.#pen = canvas.getContext("2d", { alpha: false })!;
  }

  /** After a change of the colour scheme. */
  reloadPalette(): void {
    this.#sprites = new Sprites(readPalette());
    this.#specks.invalidate();
  }

  /** After a change of what is drawn, as opposed to where from. */
  invalidate(): void {
    this.#specks.invalidate();
  }

  paint(view: Viewport, filter: Filter, ratio: number, hovered: number | null): void {
    const pen = this.#pen;
    const palette = this.#sprites.palette;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = palette.map;
    pen.fillRect(0, 0, view.width, view.height);
    const step = this.plan.spacing * view.scale;
    for (const section of this.plan.sections) {
      if (!visible(section, view)) continue;
      this.#ground(section, view, palette);
      if (step < SHAPES_FROM_PX) this.#stamp(section, view, filter, ratio);
      else this.#shapes(section, view, filter, step, ratio);
    }
    if (step >= CHOOSE_FROM_PX) this.#rowNames(view, step, palette);
    if (hovered !== null && step >= CHOOSE_FROM_PX) this.#ring(hovered, view, step, palette);
    if (step < SECTION_NAMES_UNTIL_PX) {
      for (const section of this.plan.sections) if (visible(section, view)) this.#sectionName(section, view, palette);
    }
  }

  #ground(section: Section, view: Viewport, palette: Palette): void {
    const pen = this.#pen;
    pen.beginPath();
    for (let i = 0; i < section.hull.length; i += 2) {
      const [x, y] = [view.x(section.hull[i]!), view.y(section.hull[i + 1]!)];
      if (i === 0) pen.moveTo(x, y);
      else pen.lineTo(x, y);
    }
    pen.closePath();
    pen.fillStyle = palette.section;
    pen.strokeStyle = palette.line;
    pen.lineWidth = 1;
    pen.fill();
    pen.stroke();
  }

  #stamp(section: Section, view: Viewport, filter: Filter, ratio: number): void {
    const { left, top, right, bottom } = section.box;
    const layer = this.#specks.layer(section, view.scale * ratio, filter, this.#sprites.palette);
    this.#pen.drawImage(layer, view.x(left), view.y(top), (right - left) * view.scale, (bottom - top) * view.scale);
  }

  #shapes(section: Section, view: Viewport, filter: Filter, step: number, ratio: number): void {
    const pen = this.#pen;
    // Half a device pixel is close enough, and keeps the number of sprites small while zooming.
    const radius = Math.round(step * 0.42 * ratio * 2) / 2;
    const numbers = step >= NUMBERS_FROM_PX;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `600 ${Math.round(step * 0.32)}px system-ui, sans-serif`;
    for (const seat of section.seats) {
      const x = view.x(this.plan.x[seat]!);
      const y = view.y(this.plan.y[seat]!);
      if (x < -step || y < -step || x > view.width + step || y > view.height + step) continue;
      const chosen = this.choice.has(seat);
      const status = this.choice.isFree(seat) ? AVAILABLE : this.availability.status[seat]!;
      const flags = this.plan.flags[seat]!;
      const sprite = this.#sprites.get({ category: this.plan.category[seat]!, status, flags, chosen }, radius);
      const side = sprite.width / ratio;
      const dim = !chosen && !matches(this.plan, filter, seat);
      if (dim) pen.globalAlpha = 0.22;
      pen.drawImage(sprite, x - side / 2, y - side / 2, side, side);
      if (numbers && status === AVAILABLE && !chosen && flags === 0) {
        pen.fillStyle = this.#sprites.palette.onCategory;
        pen.fillText(this.plan.numbers[seat]!, x, y);
      }
      if (dim) pen.globalAlpha = 1;
    }
  }

  /** A row's name beyond its first seat, in line with the row. */
  #rowNames(view: Viewport, step: number, palette: Palette): void {
    const pen = this.#pen;
    pen.fillStyle = palette.muted;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = `600 ${Math.min(16, Math.round(step * 0.5))}px system-ui, sans-serif`;
    for (const row of this.plan.rows) {
      const first = row.seats[0]!;
      const second = row.seats[1] ?? first;
      const x = view.x(this.plan.x[first]! * 2 - this.plan.x[second]!);
      const y = view.y(this.plan.y[first]! * 2 - this.plan.y[second]!);
      if (x < -20 || y < -20 || x > view.width + 20 || y > view.height + 20) continue;
      pen.fillText(row.name, x, y);
    }
  }

  #ring(seat: number, view: Viewport, step: number, palette: Palette): void {
    const pen = this.#pen;
    pen.beginPath();
    pen.arc(view.x(this.plan.x[seat]!), view.y(this.plan.y[seat]!), step * 0.56, 0, 2 * Math.PI);
    pen.strokeStyle = palette.ink;
    pen.lineWidth = 2;
    pen.stroke();
  }

  /** On the section where it fits, else below or above it: a name must not hide seats, if it can be helped. */
  #nameLine(section: Section, view: Viewport, x: number, width: number): number {
    const { left, top, right, bottom } = section.box;
    const middle = view.y((top + bottom) / 2);
    if ((right - left) * view.scale > width * 2 && (bottom - top) * view.scale > 120) return middle;
    const places = [view.y(bottom) + 22, view.y(top) - 22, middle].map((y) => clampTo(y, 26, view.height - 26));
    const free = (y: number): boolean => this.plan.sections.every((other) => !covers(other, view, x, y, width));
    return places.find(free) ?? places[0]!;
  }

  #sectionName(section: Section, view: Viewport, palette: Palette): void {
    const pen = this.#pen;
    const free = this.availability.countAvailable(section.seats);
    const lines = [section.name, number(free)];
    const label = t("seats.sectionFree", { n: free });
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.font = "600 13px system-ui, sans-serif";
    if (view.width >= 640) lines[1] = label;
    const width = Math.max(...lines.map((line) => pen.measureText(line).width)) + 18;
    const { left, right } = section.box;
    const x = clampTo(view.x((left + right) / 2), width / 2 + 4, view.width - width / 2 - BUTTONS_PX);
    const y = clampTo(this.#nameLine(section, view, x, width), 26, view.height - 26);
    pen.fillStyle = palette.map;
    pen.strokeStyle = palette.line;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.rect(x - width / 2, y - 21, width, 42);
    pen.fill();
    pen.stroke();
    pen.fillStyle = palette.ink;
    pen.fillText(lines[0]!, x, y - 9);
    pen.fillStyle = palette.muted;
    pen.font = "13px system-ui, sans-serif";
    pen.fillText(lines[1]!, x, y + 9);
  }
}

/** Whether a name centred on (x, y) lies on a section: points along its edges stand for all of it. */
function covers(section: Section, view: Viewport, x: number, y: number, width: number): boolean {
  const inside = (h: number, v: number): boolean =>
    isInside(section.hull, view.planX(x + (h * width) / 2), view.planY(y + v * 19));
  return [-1, -0.5, 0, 0.5, 1].some((h) => inside(h, -1) || inside(h, 0) || inside(h, 1));
}

function visible(section: Section, view: Viewport): boolean {
  const { left, top, right, bottom } = section.box;
  return view.x(right) >= 0 && view.x(left) <= view.width && view.y(bottom) >= 0 && view.y(top) <= view.height;
}

function clampTo(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), Math.max(low, high));
}
