// The layout as the page uses it: typed arrays by seat index, sections of rows of seat indices.

import type { LayoutDocument, LayoutSeat } from "../wire/types";
import { type Box, closeGaps } from "./gaps";

export interface Category {
  id: string;
  name: string;
  price: number | null;
  currency: string | null;
}

export interface Row {
  name: string;
  section: number;
  /** Seat indices in the layout's order, which is adjacency. */
  seats: number[];
}

export interface Section {
  name: string;
  rows: number[];
  seats: number[];
  box: Box;
  /** Corners of the convex hull around the seats, x and y in turn. */
  hull: number[];
}

export class Plan {
  readonly count: number;
  readonly ids: string[];
  readonly numbers: string[];
  readonly x: Float32Array;
  readonly y: Float32Array;
  readonly category: Uint8Array;
  readonly row: Uint16Array;
  /** Bit 0: wheelchair place, bit 1: companion seat, bit 2: restricted view. */
  readonly flags: Uint8Array;
  readonly rows: Row[] = [];
  readonly sections: Section[] = [];
  readonly categories: Category[];
  /** Distance between neighbours of a row: the measure of everything drawn. */
  readonly spacing: number;
  readonly hasAccessible: boolean;
  /** Sections were moved together. */
  readonly gapsClosed: boolean;
  readonly #index = new Map<string, number>();

  constructor(layout: LayoutDocument) {
    const { seats } = layout;
    this.count = seats.length;
    this.ids = seats.map((seat) => seat.seat_id);
    this.numbers = seats.map((seat) => seat.number);
    this.categories = layout.categories;
    this.x = Float32Array.from(seats, (seat) => seat.x);
    this.y = Float32Array.from(seats, (seat) => seat.y);
    this.row = new Uint16Array(this.count);
    this.flags = Uint8Array.from(seats, flagsOf);
    const categoryIndex = new Map<string, number>();
    layout.categories.forEach(({ id, name }, index) => categoryIndex.set(id, index).set(name, categoryIndex.get(name) ?? index));
    this.category = Uint8Array.from(seats, (seat) => categoryIndex.get(seat.category) ?? 0);
    this.#group(seats);
    this.spacing = this.#medianSpacing();
    this.gapsClosed = this.#closeGaps();
    this.hasAccessible = this.flags.some((flags) => (flags & ACCESSIBLE) !== 0);
  }

  indexOf(seatId: string): number | undefined {
    return this.#index.get(seatId);
  }

  indicesOf(seatIds: readonly string[]): number[] {
    return seatIds.map((id) => this.#index.get(id)).filter((index): index is number => index !== undefined);
  }

  sectionOf(seat: number): Section {
    return this.sections[this.rows[this.row[seat]!]!.section]!;
  }

  rowOf(seat: number): Row {
    return this.rows[this.row[seat]!]!;
  }

  priceOf(seat: number): number | null {
    return this.categories[this.category[seat]!]?.price ?? null;
  }

  get currency(): string {
    return this.categories.find((category) => category.currency !== null)?.currency ?? "EUR";
  }

  #group(seats: LayoutSeat[]): void {
    const sections = new Map<string, number>();
    const rows = new Map<string, number>();
    seats.forEach((seat, index) => {
      this.#index.set(seat.seat_id, index);
      let section = sections.get(seat.section);
      if (section === undefined) {
        section = this.sections.push({ name: seat.section, rows: [], seats: [], box: EMPTY, hull: [] }) - 1;
        sections.set(seat.section, section);
      }
      const path = JSON.stringify([seat.section, seat.row]);
      let row = rows.get(path);
      if (row === undefined) {
        row = this.rows.push({ name: seat.row, section, seats: [] }) - 1;
        rows.set(path, row);
        this.sections[section]!.rows.push(row);
      }
      this.row[index] = row;
      this.rows[row]!.seats.push(index);
      this.sections[section]!.seats.push(index);
    });
  }

  #medianSpacing(): number {
    const distances: number[] = [];
    for (const { seats } of this.rows) {
      for (let i = 1; i < seats.length; i++) {
        const [a, b] = [seats[i - 1]!, seats[i]!];
        distances.push(Math.hypot(this.x[a]! - this.x[b]!, this.y[a]! - this.y[b]!));
      }
    }
    distances.sort((a, b) => a - b);
    return distances[Math.floor(distances.length / 2)] || 1;
  }

  #closeGaps(): boolean {
    const margin = this.spacing * 1.5;
    for (const section of this.sections) section.box = this.#boxOf(section.seats, margin);
    const moves = closeGaps(this.sections.map((section) => section.box));
    this.sections.forEach((section, index) => {
      const { dx, dy } = moves[index]!;
      for (const seat of section.seats) {
        this.x[seat]! += dx;
        this.y[seat]! += dy;
      }
      section.box = this.#boxOf(section.seats, margin);
      section.hull = hullOf(section.seats.map((seat) => [this.x[seat]!, this.y[seat]!] as const), margin);
    });
    return moves.some(({ dx, dy }) => dx !== 0 || dy !== 0);
  }

  #boxOf(seats: number[], margin: number): Box {
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (const seat of seats) {
      box.left = Math.min(box.left, this.x[seat]! - margin);
      box.right = Math.max(box.right, this.x[seat]! + margin);
      box.top = Math.min(box.top, this.y[seat]! - margin);
      box.bottom = Math.max(box.bottom, this.y[seat]! + margin);
    }
    return box;
  }
}

export const ACCESSIBLE = 1;
export const COMPANION = 2;
export const RESTRICTED = 4;
const EMPTY: Box = { left: 0, top: 0, right: 0, bottom: 0 };

function flagsOf(seat: LayoutSeat): number {
  return (seat.accessible === true ? ACCESSIBLE : 0) | (seat.companion === true ? COMPANION : 0)
    | (seat.restricted_view === true ? RESTRICTED : 0);
}

/** Andrew's monotone chain, then every corner pushed away from the centre by `margin`. */
export function hullOf(points: (readonly [number, number])[], margin: number): number[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (source: typeof sorted): (readonly [number, number])[] => {
    const chain: (readonly [number, number])[] = [];
    for (const point of source) {
      while (chain.length >= 2 && !turnsLeft(chain[chain.length - 2]!, chain[chain.length - 1]!, point)) chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  const hull = sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
  const centreX = hull.reduce((sum, [x]) => sum + x, 0) / hull.length;
  const centreY = hull.reduce((sum, [, y]) => sum + y, 0) / hull.length;
  return hull.flatMap(([x, y]) => {
    const distance = Math.hypot(x - centreX, y - centreY) || 1;
    return [x + ((x - centreX) / distance) * margin, y + ((y - centreY) / distance) * margin];
  });
}

/** Whether a point lies in a convex hull: on the same side of all its edges. */
export function isInside(hull: readonly number[], x: number, y: number): boolean {
  let side = 0;
  for (let i = 0; i < hull.length; i += 2) {
    const j = (i + 2) % hull.length;
    const turn = (hull[j]! - hull[i]!) * (y - hull[i + 1]!) - (hull[j + 1]! - hull[i + 1]!) * (x - hull[i]!);
    if (turn !== 0 && side !== 0 && Math.sign(turn) !== side) return false;
    if (turn !== 0) side = Math.sign(turn);
  }
  return hull.length >= 6;
}

function turnsLeft(a: readonly [number, number], b: readonly [number, number], c: readonly [number, number]): boolean {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 0;
}
