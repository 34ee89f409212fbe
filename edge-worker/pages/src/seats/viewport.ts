// Where the map is looked at from: screen = plan × scale + offset, in CSS pixels.

import type { Box } from "./gaps";

/** Kept free around what is fitted; the name of a section hangs below it. */
const SIDE_PX = 20;
const TOP_PX = 16;
const BOTTOM_PX = 52;

export class Viewport {
  scale = 1;
  offsetX = 0;
  offsetY = 0;
  width = 1;
  height = 1;
  #fit = 1;

  /** `maxScale` is where seats are as large as they need ever be. */
  constructor(private readonly bounds: Box, private readonly maxScale: number) {}

  resize(width: number, height: number): void {
    const fitted = this.isFit();
    const [centreX, centreY] = [this.planX(this.width / 2), this.planY(this.height / 2)];
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.#fit = this.#fitScale(this.bounds);
    if (fitted) this.fit();
    else this.#centre(centreX, centreY);
  }

  isFit(): boolean {
    return Math.abs(this.scale - this.#fit) < this.#fit * 1e-3;
  }

  fit(): void {
    this.show(this.bounds);
  }

  show(box: Box): void {
    this.scale = Math.min(this.maxScale, this.#fitScale(box));
    this.#centre((box.left + box.right) / 2, (box.top + box.bottom) / 2);
    this.pan(0, (TOP_PX - BOTTOM_PX) / 2);
  }

  /** Brings a place to the middle at a scale: a tap on a section too small to choose from. */
  approach(planX: number, planY: number, scale: number): void {
    this.scale = this.#clampScale(scale);
    this.#centre(planX, planY);
  }

  /** Zooms by `factor` so that what is under (x, y) stays there. */
  zoomAt(x: number, y: number, factor: number): void {
    const [planX, planY] = [this.planX(x), this.planY(y)];
    this.scale = this.#clampScale(this.scale * factor);
    this.offsetX = x - planX * this.scale;
    this.offsetY = y - planY * this.scale;
    this.#keepInView();
  }

  pan(dx: number, dy: number): void {
    this.offsetX += dx;
    this.offsetY += dy;
    this.#keepInView();
  }

  planX(x: number): number {
    return (x - this.offsetX) / this.scale;
  }

  planY(y: number): number {
    return (y - this.offsetY) / this.scale;
  }

  x(planX: number): number {
    return planX * this.scale + this.offsetX;
  }

  y(planY: number): number {
    return planY * this.scale + this.offsetY;
  }

  #centre(planX: number, planY: number): void {
    this.offsetX = this.width / 2 - planX * this.scale;
    this.offsetY = this.height / 2 - planY * this.scale;
    this.#keepInView();
  }

  #fitScale(box: Box): number {
    const width = Math.max(1, this.width - 2 * SIDE_PX);
    const height = Math.max(1, this.height - TOP_PX - BOTTOM_PX);
    return Math.min(width / (box.right - box.left), height / (box.bottom - box.top));
  }

  #clampScale(scale: number): number {
    return Math.min(this.maxScale, Math.max(this.#fit, scale));
  }

  /** The middle of the screen never leaves the plan. */
  #keepInView(): void {
    const { left, top, right, bottom } = this.bounds;
    this.offsetX = Math.min(this.width / 2 - left * this.scale, Math.max(this.width / 2 - right * this.scale, this.offsetX));
    this.offsetY = Math.min(this.height / 2 - top * this.scale, Math.max(this.height / 2 - bottom * this.scale, this.offsetY));
  }
}
