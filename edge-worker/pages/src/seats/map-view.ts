// The map on its canvas: repaints at most once a frame, chooses by tap, names what is under the mouse.

import { append, button, need, replace, setHidden, setText, el } from "../base/dom";
import { t } from "../i18n/language";
import type { Availability } from "./availability";
import type { Choice } from "./choice";
import { EVERYTHING, type Filter } from "./filter";
import { union } from "./gaps";
import { listen, ZOOM_STEP } from "./gestures";
import { fullName, priceLabel } from "./names";
import { CHOOSE_FROM_PX, Painter } from "./painter";
import type { Plan, Section } from "./plan";
import { SeatGrid } from "./seat-grid";
import { drawSeat, readPalette } from "./sprites";
import { Viewport } from "./viewport";

/** Largest and approached distance of neighbours on screen. */
const STEP_MAX_PX = 48;
const STEP_APPROACHED_PX = 30;
/** A finger may miss by this much. */
const REACH_PX = 14;
/** From afar, this close to a section means the section (its name hangs beside it). */
const NEAR_PX = 60;

export class MapView {
  readonly #canvas = need<HTMLCanvasElement>("map");
  readonly #tip = need("map-tip");
  readonly #view: Viewport;
  readonly #painter: Painter;
  readonly #grid: SeatGrid;
  #filter: Filter = EVERYTHING;
  #hovered: number | null = null;
  #scheduled = false;

  constructor(
    private readonly plan: Plan, private readonly availability: Availability, private readonly choice: Choice,
    private readonly onSeat: (seat: number) => void,
  ) {
    this.#view = new Viewport(union(plan.sections.map((section) => section.box)), STEP_MAX_PX / plan.spacing);
    this.#painter = new Painter(this.#canvas, plan, availability, choice);
    this.#grid = new SeatGrid(plan);
    listen(this.#canvas, this.#view, {
      onTap: (x, y) => this.#tap(x, y), onHover: (x, y) => this.#hover(x, y), onMove: () => this.repaint(),
    });
    new ResizeObserver(() => this.#resize()).observe(this.#canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#painter.reloadPalette();
      this.#legend();
      this.repaint();
    });
    need("zoom-in").addEventListener("click", () => this.#zoom(ZOOM_STEP));
    need("zoom-out").addEventListener("click", () => this.#zoom(1 / ZOOM_STEP));
    need("zoom-fit").addEventListener("click", () => {
      this.#view.fit();
      this.repaint();
    });
    choice.onChange(() => this.refresh());
    this.#jumps();
    this.#legend();
    setHidden(need("not-to-scale"), !plan.gapsClosed);
    this.#resize();
  }

  setFilter(filter: Filter): void {
    this.#filter = filter;
    this.refresh();
  }

  /** Seats, choice or filter have changed. */
  refresh(): void {
    this.#painter.invalidate();
    this.repaint();
  }

  /** The map has been moved. */
  repaint(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#painter.paint(this.#view, this.#filter, this.#ratio(), this.#hovered);
    });
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas;
    if (clientWidth === 0 || clientHeight === 0) return; // Hidden behind the list.
    this.#canvas.width = Math.round(clientWidth * this.#ratio());
    this.#canvas.height = Math.round(clientHeight * this.#ratio());
    this.#view.resize(clientWidth, clientHeight);
    this.repaint();
  }

  #ratio(): number {
    return Math.min(3, window.devicePixelRatio || 1);
  }

  #zoom(factor: number): void {
    this.#view.zoomAt(this.#view.width / 2, this.#view.height / 2, factor);
    this.repaint();
  }

  #step(): number {
    return this.plan.spacing * this.#view.scale;
  }

  #seatAt(x: number, y: number): number | null {
    const reach = Math.min(this.plan.spacing, REACH_PX / this.#view.scale);
    return this.#grid.nearest(this.#view.planX(x), this.#view.planY(y), reach);
  }

  #tap(x: number, y: number): void {
    if (this.#step() < CHOOSE_FROM_PX) {
      this.#approach(x, y);
      return;
    }
    const seat = this.#seatAt(x, y);
    if (seat !== null) this.onSeat(seat);
  }

  /** Too small to choose from: closer to the seats that were meant, or nothing if none are near. */
  #approach(x: number, y: number): void {
    const { seat, distance } = this.#grid.nearestOfAll(this.#view.planX(x), this.#view.planY(y));
    if (distance * this.#view.scale > NEAR_PX) return;
    this.#view.approach(this.plan.x[seat]!, this.plan.y[seat]!, STEP_APPROACHED_PX / this.plan.spacing);
    this.repaint();
  }

  #hover(x: number, y: number | null): void {
    const seat = y === null || this.#step() < CHOOSE_FROM_PX ? null : this.#seatAt(x, y);
    if (seat === this.#hovered) return;
    this.#hovered = seat;
    setHidden(this.#tip, seat === null);
    if (seat !== null) setText(this.#tip, fullName(this.plan, seat, this.availability.status[seat]!, this.choice.has(seat)));
    this.#canvas.style.cursor = seat !== null && this.choice.isFree(seat) ? "pointer" : "grab";
    this.repaint();
  }

  /** One button a section: the keyboard's way to look at it closely. */
  #jumps(): void {
    const jump = (section: Section) => (): void => {
      this.#view.show(section.box);
      const [x, y] = [(section.box.left + section.box.right) / 2, (section.box.top + section.box.bottom) / 2];
      if (this.#step() < CHOOSE_FROM_PX) this.#view.approach(x, y, CHOOSE_FROM_PX / this.plan.spacing);
      this.repaint();
    };
    replace(need("section-jumps"), ...this.plan.sections.map((section) => button(section.name, jump(section))));
  }

  #legend(): void {
    const palette = readPalette();
    const entry = (look: Parameters<typeof drawSeat>[1], text: string): HTMLLIElement => {
      const canvas = el("canvas", { width: 40, height: 40, "aria-hidden": "true" });
      const pen = canvas.getContext("2d")!;
      pen.translate(20, 20);
      drawSeat(pen, look, 14, palette);
      const item = el("li");
      append(item, [canvas, el("span", {}, text)]);
      return item;
    };
    const plain = { category: 0, status: 0, flags: 0, chosen: false };
    replace(
      need("legend"),
      ...this.plan.categories.map((category, index) => entry({ ...plain, category: index },
        category.price === null ? category.name : `${category.name}, ${priceLabel(this.plan, category.price)}`)),
      entry({ ...plain, chosen: true }, t("seats.legend.mine")),
      entry({ ...plain, status: 1 }, t("seats.legend.taken")),
      entry({ ...plain, status: 2 }, t("seats.legend.sold")),
      this.plan.hasAccessible && entry({ ...plain, flags: 1 }, t("seats.legend.accessible")),
    );
  }
}
