// The few DOM gestures the pages need. No markup from strings anywhere: text is text.

export type Child = Node | string | null | undefined | false;

export function el<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Record<string, string | boolean | number | null | undefined> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(key, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

export function append(parent: Node, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.textContent = "";
  append(parent, children);
}

/** An element the page's HTML promises; its absence is a fault of the build, so it is loud. */
export function need<T extends Element = HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element as unknown as T;
}

/** Writes text only when it differs: a live region that is rewritten speaks again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setHidden(element: HTMLElement, hidden: boolean): void {
  if (element.hidden !== hidden) element.hidden = hidden;
}

export function button(label: string, onPress: () => void, attributes: Record<string, string | boolean> = {}): HTMLButtonElement {
  const element = el("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onPress);
  return element;
}

/** A timer that the page's teardown can stop. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    }, { once: true });
  });
}

/** Waits `ms`, or less if the page comes back into view meanwhile (a phone unlocked, a tab chosen). */
export async function pauseOrReturn(ms: number, signal: AbortSignal): Promise<void> {
  const woken = new AbortController();
  const wake = (): void => {
    if (document.visibilityState === "visible") woken.abort();
  };
  document.addEventListener("visibilitychange", wake);
  window.addEventListener("pageshow", wake);
  window.addEventListener("online", wake);
  signal.addEventListener("abort", () => woken.abort(), { once: true });
  await pause(ms, woken.signal);
  document.removeEventListener("visibilitychange", wake);
  window.removeEventListener("pageshow", wake);
  window.removeEventListener("online", wake);
}
