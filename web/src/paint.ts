// SPDX-License-Identifier: Apache-2.0
// Which rectangles a lane is drawn as: few, however many ops there are.
import { type Lane, type Side, visibleOps } from './steps.js';

/** Ops narrower than a pixel share one: the longest gives its colour. */
export interface Rectangles {
  count: number;
  x: Float32Array;
  width: Float32Array;
  row: Uint8Array;
  op: Int32Array;
}

export function makeRectangles(most: number): Rectangles {
  return {
    count: 0,
    x: new Float32Array(most),
    width: new Float32Array(most),
    row: new Uint8Array(most),
    op: new Int32Array(most),
  };
}

/** Pixels of a time: (time - from) * scale. */
export interface View {
  from: number; // ns at the left border
  scale: number; // pixels a ns
  width: number; // pixels
}

function add(out: Rectangles, x: number, width: number, row: number,
             op: number) {
  const i = out.count++;
  out.x[i] = x;
  out.width[i] = width;
  out.row[i] = row;
  out.op[i] = op;
}

/**
 * `out` has room for an op's rectangle and one a pixel and row. Each row is
 * gone through on its own, since only neighbours of one row are merged.
 */
export function laneRectangles(
  side: Side, lane: Lane, view: View, out: Rectangles): void {
  out.count = 0;
  const to = view.from + view.width / view.scale;
  const [first, last] = visibleOps(side, lane, view.from, to);
  for (let row = 0; row < lane.rows; ++row) {
    let pixel = -1;
    let longest = -1;
    let duration = -1;
    for (let op = first; op < last; ++op) {
      if (lane.rows > 1 && side.row[op] !== row) continue;
      const start = side.start[op] ?? 0;
      const length = (side.end[op] ?? 0) - start;
      const width = length * view.scale;
      const x = (start - view.from) * view.scale;
      if (x + width < 0) continue;
      if (width >= 1) {
        if (longest >= 0) add(out, pixel, 1, row, longest);
        longest = -1;
        pixel = -1;
        add(out, x, width, row, op);
        continue;
      }
      const at = Math.floor(x);
      if (at !== pixel) {
        if (longest >= 0) add(out, pixel, 1, row, longest);
        pixel = at;
        longest = op;
        duration = length;
      } else if (length > duration) {
        longest = op;
        duration = length;
      }
    }
    if (longest >= 0) add(out, pixel, 1, row, longest);
  }
}
