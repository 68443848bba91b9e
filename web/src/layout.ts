// SPDX-License-Identifier: Apache-2.0
// Where everything of the timelines stands, in CSS pixels.
import type { Lane, Packed, Side } from './steps.js';
import { groupIndex, unpack } from './steps.js';

export const AXIS = 22; // height of the axis
export const BAND = 14; // of the row of layers
export const REPLAY = 5;
const GAP = 30; // between the sides
export const LABEL = 62; // left of the drawing
export const MOST_LANES = 40; // that are drawn

export interface LaneBox {
  lane: Lane;
  y: number;
  height: number; // of one row
}

export interface SideBox {
  side: Side;
  groups: Map<number, number[]>; // ops by group of the alignment
  top: number;
  bottom: number;
  boxes: LaneBox[];
}

/** An operation of a side. */
export interface Target {
  box: SideBox;
  op: number;
}

export function makeBoxes(packed: Packed): SideBox[] {
  return unpack(packed).map((side) => (
    { side, groups: groupIndex(side), top: 0, bottom: 0, boxes: [] }));
}

/** Puts the sides below each other; returns the height of all. */
export function layOut(sides: SideBox[]): number {
  let y = 0;
  sides.forEach((box, i) => {
    if (i > 0) y += GAP;
    box.top = y;
    y += AXIS + BAND + (box.side.replays.length > 0 ? REPLAY + 3 : 0) + 3;
    const lanes = box.side.lanes.slice(0, MOST_LANES);
    const height = lanes.length > 12 ? 9 : lanes.length > 5 ? 14 : 22;
    box.boxes = lanes.map((lane) => {
      const row = lane.rows > 1 ? Math.max(7, height * 0.6) : height;
      const at = { lane, y, height: row };
      y += row * lane.rows + 3;
      return at;
    });
    box.bottom = y;
  });
  return y + 4;
}

/** What does the same work on the other side. */
export function counterparts(sides: SideBox[], { box, op }: Target): Target[] {
  const group = box.side.group[op] ?? -1;
  if (group < 0) return [];
  return sides.filter((other) => other !== box).flatMap((other) =>
    (other.groups.get(group) ?? []).map((mate) => ({ box: other, op: mate })));
}
