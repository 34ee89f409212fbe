// Closes the empty stretches between far-apart sections. A race track's stands lie kilometres from
// each other; drawn to scale a whole stand is a speck on a phone. Sections keep their size, shape and
// order on both axes; only emptiness shrinks.

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A gap may be this share of what is not gap. */
const GAP_SHARE = 0.1;

/** For each interval, how far it moves towards the origin. */
export function shifts(intervals: { from: number; to: number }[]): number[] {
  const order = intervals.map((_, index) => index).sort((a, b) => intervals[a]!.from - intervals[b]!.from);
  const filled = filledLength(order.map((index) => intervals[index]!));
  const allowed = filled * GAP_SHARE;
  const result = new Array<number>(intervals.length).fill(0);
  let reach = Number.NaN;
  let shift = 0;
  for (const index of order) {
    const { from, to } = intervals[index]!;
    if (from - reach > allowed) shift += from - reach - allowed;
    reach = Number.isNaN(reach) ? to : Math.max(reach, to);
    result[index] = shift;
  }
  return result;
}

function filledLength(sorted: { from: number; to: number }[]): number {
  let filled = 0;
  let reach = Number.NEGATIVE_INFINITY;
  for (const { from, to } of sorted) {
    filled += Math.max(0, to - Math.max(from, reach));
    reach = Math.max(reach, to);
  }
  return filled;
}

export function closeGaps(boxes: Box[]): { dx: number; dy: number }[] {
  const dx = shifts(boxes.map((box) => ({ from: box.left, to: box.right })));
  const dy = shifts(boxes.map((box) => ({ from: box.top, to: box.bottom })));
  return boxes.map((_, index) => ({ dx: -dx[index]!, dy: -dy[index]! }));
}

export function union(boxes: Box[]): Box {
  return {
    left: Math.min(...boxes.map((box) => box.left)), top: Math.min(...boxes.map((box) => box.top)),
    right: Math.max(...boxes.map((box) => box.right)), bottom: Math.max(...boxes.map((box) => box.bottom)),
  };
}
