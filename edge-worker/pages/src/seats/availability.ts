// Who has which seat, by index: the packed map, then changes by version.

import type { SeatChanges } from "../wire/types";

export const AVAILABLE = 0;
export const HELD = 1;
export const SOLD = 2;
export type Status = typeof AVAILABLE | typeof HELD | typeof SOLD;

const MAGIC = 0x46474d31; // "FGM1"
const HEADER_BYTES = 16;

export class MapMalformed extends Error {}

/** `FGM1`, u64_be version, u32_be seats, then two planes of one bit a seat, LSB first. */
export function decodeMap(bytes: Uint8Array): { version: number; status: Uint8Array } {
  if (bytes.length < HEADER_BYTES) throw new MapMalformed("shorter than its header");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0) !== MAGIC) throw new MapMalformed("no seat map");
  const version = view.getUint32(4) * 2 ** 32 + view.getUint32(8);
  const seats = view.getUint32(12);
  const plane = Math.ceil(seats / 8);
  if (bytes.length !== HEADER_BYTES + 2 * plane) throw new MapMalformed("the planes are not as long as the seats");
  const status = new Uint8Array(seats);
  for (let seat = 0; seat < seats; seat++) {
    const at = HEADER_BYTES + (seat >> 3);
    const bit = 1 << (seat & 7);
    status[seat] = bytes[at]! & bit ? AVAILABLE : bytes[at + plane]! & bit ? SOLD : HELD;
  }
  return { version, status };
}

export class Availability {
  version: number;
  status: Uint8Array;

  constructor(bytes: Uint8Array) {
    ({ version: this.version, status: this.status } = decodeMap(bytes));
  }

  /** Answers the seats whose status differs now. */
  replace(bytes: Uint8Array): number[] {
    const { version, status } = decodeMap(bytes);
    const before = this.status;
    this.version = version;
    this.status = status;
    const changed: number[] = [];
    for (let seat = 0; seat < status.length; seat++) if (status[seat] !== before[seat]) changed.push(seat);
    return changed;
  }

  apply(changes: SeatChanges): number[] {
    if (changes.version < this.version) return [];
    this.version = changes.version;
    const changed: number[] = [];
    const set = (seats: number[], status: Status): void => {
      for (const seat of seats) {
        if (seat >= this.status.length || this.status[seat] === status) continue;
        this.status[seat] = status;
        changed.push(seat);
      }
    };
    set(changes.available, AVAILABLE);
    set(changes.held, HELD);
    set(changes.sold, SOLD);
    return changed;
  }

  isAvailable(seat: number): boolean {
    return this.status[seat] === AVAILABLE;
  }

  countAvailable(seats: readonly number[]): number {
    let count = 0;
    for (const seat of seats) if (this.status[seat] === AVAILABLE) count += 1;
    return count;
  }
}
