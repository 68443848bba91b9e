// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { laneRectangles, makeRectangles } from '../src/paint.js';
import {
  type Packed, type Side, groupIndex, lowerBound, opAt, unpack,
  reachOf, unpackDifferences, unpackRuns, visibleOps,
} from '../src/steps.js';

/** One side of ops [lane, start, duration, group], lane by lane. */
function pack(ops: [number, number, number, number?][]): Packed {
  const lanes = [...new Set(ops.map(([lane]) => lane))];
  const counts = lanes.map((lane) => ops.filter(([l]) => l === lane).length);
  const differences = (values: number[]) => values.map((value, i) =>
    ops[i - 1]?.[0] === ops[i]?.[0] ? value - (values[i - 1] ?? 0) : value);
  const count = ops.length;
  return {
    categories: [['norm', 'norm', 'norm']],
    roles: ['other'],
    sides: [{
      name: 'A', label: 'a', step: 3, rank: '', wall: 1000, absent: '',
      kernels: [['k', 0]], lanes, counts,
      start: differences(ops.map(([, start]) => start)),
      ordinal: differences(ops.map((_, i) => 100 - i)),
      group: differences(ops.map(([, , , group]) => group ?? -1)),
      dur: ops.map(([, , dur]) => dur),
      kernel: ops.map(() => 0), role: ops.map(() => 0),
      kind: [0, count], layer: [-1, count], replay: [0, count], wait: [0, count],
      layers: [[0, 10]], replays: [],
    }],
  };
}

function side(ops: [number, number, number, number?][]): Side {
  const [only] = unpack(pack(ops));
  assert.ok(only);
  return only;
}

test('runs and differences unpack to what was packed', () => {
  assert.deepEqual(unpackRuns([5, 2, -1, 3], 5), [5, 5, -1, -1, -1]);
  assert.equal(unpackRuns([7, 9], 2).length, 2);
  assert.deepEqual([...unpackDifferences([-5, 3, 10, 1], [2, 2])],
                   [-5, -2, 10, 11]);
});

test('an op has its own start, end, record and group', () => {
  const of = side([[0, -20, 5, 4], [0, 0, 10, 2], [7, 3, 4]]);
  assert.deepEqual([...of.start], [-20, 0, 3]);
  assert.deepEqual([...of.end], [-15, 10, 7]);
  assert.deepEqual([...of.ordinal], [100, 99, 98]);
  assert.deepEqual([...of.group], [4, 2, -1]);
  assert.deepEqual(of.lanes.map(({ lane, begin, end }) => [lane, begin, end]),
                   [[0, 0, 2], [7, 2, 3]]);
  assert.deepEqual([of.first, of.last], [-20, 10]);
  assert.deepEqual(groupIndex(of).get(2), [1]);
  assert.equal(groupIndex(of).has(-1), false);
});

test('a side without ops is not drawn', () => {
  const packed = pack([]);
  assert.deepEqual(unpack(packed), []);
  const absent = pack([[0, 0, 1]]);
  if (absent.sides[0]) absent.sides[0].absent = 'A table has none.';
  assert.deepEqual(unpack(absent), []);
});

test('ops that overlap on a lane take rows of their own', () => {
  const of = side([[0, 0, 10], [0, 8, 10], [0, 18, 2], [0, 19, 9]]);
  assert.deepEqual([...of.row], [0, 1, 0, 1]);
  assert.equal(of.lanes[0]?.rows, 2);
  const many = side(Array.from({ length: 9 }, (_, i) => [0, i, 100]));
  assert.equal(many.lanes[0]?.rows, 4);
});

test('lower bound is that of a linear search', () => {
  const values = Float64Array.from([1, 1, 4, 4, 9]);
  for (let value = 0; value < 11; ++value) {
    const found = values.findIndex((v) => v >= value);
    assert.equal(lowerBound(values, value, 0, 5), found < 0 ? 5 : found);
  }
});

test('what overlaps a window is among its visible ops', () => {
  let seed = 7;
  const random = (most: number) =>
    (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
  for (let round = 0; round < 200; ++round) {
    let at = 0;
    const of = side(Array.from({ length: 40 }, () =>
      [0, (at += random(20)), random(60)]));
    const lane = of.lanes[0];
    assert.ok(lane);
    const from = random(500);
    const to = from + random(100);
    const [first, last] = visibleOps(of, lane, from, to);
    for (let op = 0; op < 40; ++op) {
      const seen = (of.start[op] ?? 0) < to && (of.end[op] ?? 0) > from;
      if (seen) assert.ok(op >= first && op < last, `${round}: ${op}`);
    }
  }
});

test('the op at a time, or the nearest within reach', () => {
  const of = side([[0, 0, 10], [0, 20, 10], [0, 22, 2]]);
  const lane = of.lanes[0];
  assert.ok(lane);
  assert.equal(opAt(of, lane, 0, 5, 0), 0);
  assert.equal(opAt(of, lane, 0, 13, 2), -1);
  assert.equal(opAt(of, lane, 0, 12, 3), 0);
  assert.equal(opAt(of, lane, 0, 19, 3), 1);
  assert.equal(opAt(of, lane, 1, 23, 1), 2);
});

test('ops under a pixel share one, and the longest gives its colour', () => {
  const ops: [number, number, number][] =
    Array.from({ length: 1000 }, (_, i) => [0, i * 10, 2]);
  ops[537] = [0, 5370, 9];
  const of = side(ops);
  const lane = of.lanes[0];
  assert.ok(lane);
  const out = makeRectangles(2000);
  laneRectangles(of, lane, { from: 0, scale: 0.01, width: 100 }, out);
  assert.equal(out.count, 100);
  const at = [...out.x.subarray(0, out.count)].indexOf(53);
  assert.equal(out.op[at], 537);
  laneRectangles(of, lane, { from: 0, scale: 1, width: 100 }, out);
  assert.equal(out.count, 10);
  assert.deepEqual([out.x[1], out.width[1]], [10, 2]);
});

test('a hundred thousand ops are few rectangles', () => {
  const of = side(Array.from({ length: 100_000 }, (_, i) => [0, i * 3, 2]));
  const lane = of.lanes[0];
  assert.ok(lane);
  const out = makeRectangles(110_000);
  laneRectangles(of, lane, { from: 0, scale: 1000 / 300_000, width: 1000 }, out);
  assert.ok(out.count <= 1001, String(out.count));
});

test('the step fills the drawing, whatever runs long before or behind', () => {
  const near = side([[0, -20, 5], [0, 0, 900]]);
  assert.deepEqual(reachOf([near]), { from: -20, to: 1000, first: -20, last: 1000 });
  const far = side([[0, -46_000, 5], [0, 0, 900], [0, 7000, 9]]);
  assert.deepEqual(reachOf([far]),
                   { from: -125, to: 1250, first: -46_000, last: 7009 });
  far.wall = null;
  assert.equal(reachOf([near, far]).to, 7009);
});
