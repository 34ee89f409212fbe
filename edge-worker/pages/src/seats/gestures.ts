// Pointer, wheel and keyboard on the map, told apart: drag, pinch, tap, hover.

import type { Viewport } from "./viewport";

export interface Gestures {
  onTap(x: number, y: number): void;
  onHover(x: number, y: number | null): void;
  onMove(): void;
}

/** Further than this, a press is a drag. */
const TAP_SLOP_PX = 8;
const PAN_STEP_PX = 60;
export const ZOOM_STEP = 1.5;

export function listen(canvas: HTMLCanvasElement, view: Viewport, gestures: Gestures): void {
  const fingers = new Map<number, { x: number; y: number }>();
  let dragged = false;
  let start = { x: 0, y: 0 };
  const at = (event: PointerEvent | WheelEvent): { x: number; y: number } => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, at(event));
    dragged = fingers.size > 1 ? true : false;
    start = at(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event);
    const before = fingers.get(event.pointerId);
    if (before === undefined) return gestures.onHover(now.x, now.y);
    if (!dragged && Math.hypot(now.x - start.x, now.y - start.y) < TAP_SLOP_PX) return;
    dragged = true;
    if (fingers.size === 1) view.pan(now.x - before.x, now.y - before.y);
    else pinch(view, [...fingers.entries()], event.pointerId, now);
    fingers.set(event.pointerId, now);
    gestures.onMove();
  });
  const lift = (event: PointerEvent): void => {
    const wasTap = fingers.delete(event.pointerId) && !dragged && fingers.size === 0;
    if (wasTap && event.type === "pointerup") gestures.onTap(start.x, start.y);
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => gestures.onHover(0, null));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const { x, y } = at(event);
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    view.zoomAt(x, y, Math.exp(Math.max(-80, Math.min(80, -event.deltaY * lines)) * 0.004));
    gestures.onMove();
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !press(view, event.key)) return;
    event.preventDefault();
    gestures.onMove();
  });
}

function pinch(view: Viewport, fingers: [number, { x: number; y: number }][], moving: number, now: { x: number; y: number }): void {
  const still = fingers.find(([id]) => id !== moving)?.[1];
  const before = fingers.find(([id]) => id === moving)?.[1];
  if (still === undefined || before === undefined) return;
  const [was, is] = [Math.hypot(before.x - still.x, before.y - still.y), Math.hypot(now.x - still.x, now.y - still.y)];
  view.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
  if (was > 0) view.zoomAt((now.x + still.x) / 2, (now.y + still.y) / 2, is / was);
}

function press(view: Viewport, key: string): boolean {
  switch (key) {
    case "ArrowLeft": view.pan(PAN_STEP_PX, 0); return true;
    case "ArrowRight": view.pan(-PAN_STEP_PX, 0); return true;
    case "ArrowUp": view.pan(0, PAN_STEP_PX); return true;
    case "ArrowDown": view.pan(0, -PAN_STEP_PX); return true;
    case "+":
    case "=": view.zoomAt(view.width / 2, view.height / 2, ZOOM_STEP); return true;
    case "-": view.zoomAt(view.width / 2, view.height / 2, 1 / ZOOM_STEP); return true;
    case "0": view.fit(); return true;
    default: return false;
  }
}
