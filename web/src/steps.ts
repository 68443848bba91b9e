// SPDX-License-Identifier: Apache-2.0
// The steps to draw, unpacked from the page's JSON. What packs them is
// src/report/html_timeline.h.

interface PackedSide {
  name: string;
  label: string;
  step: number;
  rank: string;
  wall: number | null;
  absent: string;
  kernels: [name: string, category: number][];
  lanes: number[];
  counts: number[];
  start: number[];
  ordinal: number[];
  group: number[];
  dur: number[];
  kernel: number[];
  role: number[];
  kind: number[];
  layer: number[];
  replay: number[];
  wait: number[];
  layers: [begin: number, end: number][];
  replays: [begin: number, end: number][];
}

export interface Packed {
  categories: [id: string, title: string, colour: string][];
  roles: string[];
  sides: PackedSide[];
}

/** Ops of one lane: from `begin` up to, not including, `end`. */
export interface Lane {
  lane: number;
  begin: number;
  end: number;
  rows: number; // it takes, where its ops overlap
  longest: number; // duration of an op, ns
}

export interface Span {
  begin: number;
  end: number;
}

/** One side's ops, by index: lane by lane, in order of start. Times in ns. */
export interface Side {
  name: string;
  label: string;
  step: number;
  rank: string;
  wall: number | null;
  kernels: { name: string; category: number }[];
  lanes: Lane[];
  start: Float64Array;
  end: Float64Array;
  ordinal: Float64Array;
  wait: Float64Array;
  kernel: Int32Array;
  role: Int32Array;
  kind: Int32Array;
  layer: Int32Array;
  replay: Int32Array;
  group: Int32Array;
  row: Uint8Array; // within its lane
  layers: Span[];
  replays: Span[];
  first: number; // start of any op
  last: number; // end of any op
}

export const MOST_ROWS = 4;

/** value, length, value, length: one value an op. */
export function unpackRuns(runs: number[], count: number): number[] {
  const values = new Array<number>(count);
  let at = 0;
  for (let i = 0; i + 1 < runs.length; i += 2)
    for (let n = runs[i + 1] ?? 0; n > 0 && at < count; --n)
      values[at++] = runs[i] ?? 0;
  return values;
}

/** Differences to the op before, from 0 in each lane. */
export function unpackDifferences(differences: number[], counts: number[]) {
  const values = new Float64Array(differences.length);
  let at = 0;
  for (const count of counts) {
    let value = 0;
    for (let i = 0; i < count; ++i, ++at) {
      value += differences[at] ?? 0;
      values[at] = value;
    }
  }
  return values;
}

/**
 * Ops of one lane may overlap: a kernel that is launched early starts before
 * the one in front of it ends. Each takes the first row that is free.
 */
export function placeInRows(
  start: Float64Array, end: Float64Array, begin: number, stop: number,
  row: Uint8Array): number {
  const free = new Float64Array(MOST_ROWS).fill(-Infinity);
  let rows = 1;
  for (let i = begin; i < stop; ++i) {
    let r = 0;
    while (r < MOST_ROWS - 1 && (free[r] ?? 0) > (start[i] ?? 0)) ++r;
    row[i] = r;
    free[r] = Math.max(free[r] ?? 0, end[i] ?? 0);
    rows = Math.max(rows, r + 1);
  }
  return rows;
}

function unpackSide(packed: PackedSide): Side {
  const count = packed.dur.length;
  const start = unpackDifferences(packed.start, packed.counts);
  const end = start.map((value, i) => value + (packed.dur[i] ?? 0));
  const row = new Uint8Array(count);
  const lanes: Lane[] = [];
  let begin = 0;
  packed.lanes.forEach((lane, i) => {
    const stop = begin + (packed.counts[i] ?? 0);
    const rows = placeInRows(start, end, begin, stop, row);
    let longest = 0;
    for (let op = begin; op < stop; ++op)
      longest = Math.max(longest, packed.dur[op] ?? 0);
    lanes.push({ lane, begin, end: stop, rows, longest });
    begin = stop;
  });
  const span = ([from, to]: [number, number]) => ({ begin: from, end: to });
  const whole = (name: 'kind' | 'layer' | 'replay') =>
    Int32Array.from(unpackRuns(packed[name], count));
  return {
    name: packed.name,
    label: packed.label,
    step: packed.step,
    rank: packed.rank,
    wall: packed.wall,
    kernels: packed.kernels.map(([name, category]) => ({ name, category })),
    lanes,
    start,
    end,
    row,
    ordinal: unpackDifferences(packed.ordinal, packed.counts),
    wait: Float64Array.from(unpackRuns(packed.wait, count)),
    kernel: Int32Array.from(packed.kernel),
    role: Int32Array.from(packed.role),
    kind: whole('kind'),
    layer: whole('layer'),
    replay: whole('replay'),
    group: Int32Array.from(unpackDifferences(packed.group, packed.counts)),
    layers: packed.layers.map(span),
    replays: packed.replays.map(span),
    first: start.reduce((a, b) => Math.min(a, b), Infinity),
    last: end.reduce((a, b) => Math.max(a, b), -Infinity),
  };
}

/** The sides that have something to draw. */
export function unpack(packed: Packed): Side[] {
  return packed.sides
    .filter((side) => side.absent === '' && side.dur.length > 0)
    .map(unpackSide);
}

/** First index from `begin` up to `end` whose value is not below `value`. */
export function lowerBound(
  values: Float64Array, value: number, begin: number, end: number): number {
  while (begin < end) {
    const middle = (begin + end) >> 1;
    if ((values[middle] ?? 0) < value) begin = middle + 1;
    else end = middle;
  }
  return begin;
}

/** Ops of a lane that may be seen between two times. */
export function visibleOps(
  side: Side, lane: Lane, from: number, to: number): [number, number] {
  // None that starts earlier than this reaches the window.
  const first = lowerBound(side.start, from - lane.longest, lane.begin,
                           lane.end);
  return [first, lowerBound(side.start, to, first, lane.end)];
}

/** The op of a lane at a time and row, or the nearest within `reach` ns. */
export function opAt(
  side: Side, lane: Lane, row: number, time: number, reach: number): number {
  const [first, last] = visibleOps(side, lane, time - reach, time + reach);
  let best = -1;
  let nearest = reach;
  for (let i = first; i < last; ++i) {
    if ((side.row[i] ?? 0) !== row) continue;
    const from = side.start[i] ?? 0;
    const to = side.end[i] ?? 0;
    const distance = time < from ? from - time : time > to ? time - to : 0;
    if (distance > nearest || (best >= 0 && distance === nearest)) continue;
    nearest = distance;
    best = i;
  }
  return best;
}

/** Ops by group of the alignment. */
export function groupIndex(side: Side): Map<number, number[]> {
  const index = new Map<number, number[]>();
  side.group.forEach((group, op) => {
    if (group < 0) return;
    const ops = index.get(group);
    if (ops) ops.push(op);
    else index.set(group, [op]);
  });
  return index;
}

export function durationOf(side: Side, op: number): number {
  return (side.end[op] ?? 0) - (side.start[op] ?? 0);
}

export function nameOf(side: Side, op: number): string {
  return side.kernels[side.kernel[op] ?? 0]?.name ?? '';
}

/** Of its category: the name of a custom property without "--c-". */
export function colourOf(packed: Packed, side: Side, op: number): string {
  const category = side.kernels[side.kernel[op] ?? 0]?.category ?? 0;
  return packed.categories[category]?.[2] ?? '';
}

export function laneOf(side: Side, op: number): Lane | undefined {
  return side.lanes.find(({ begin, end }) => op >= begin && op < end);
}

/** What is seen at first, from and to, of all that there is, ns. */
export interface Reach {
  from: number;
  to: number;
  first: number;
  last: number;
}

/**
 * Other streams may run an operation of the step long before its begin, such
 * as a schedule's, or behind its end: the step itself shall fill the drawing.
 */
export function reachOf(sides: Side[]): Reach {
  const first = Math.min(0, ...sides.map((side) => side.first));
  const last = Math.max(
    ...sides.map((side) => Math.max(side.last, side.wall ?? 0)));
  const walls = sides.map(({ wall }) => wall ?? Infinity);
  const to = Math.min(last, 1.25 * Math.max(...walls));
  const from = Math.max(first, -0.1 * Math.max(to, 0));
  return { from, to: Math.max(to, from + 1), first, last };
}
