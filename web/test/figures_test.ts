// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareCells, parseFigure, tickText, timeText,
} from '../src/figures.js';

test('figures are read as they are printed', () => {
  const cases: [string, number | null][] = [
    ['1.420', 1.42], ['1,234,567', 1234567], ['+0.262', 0.262],
    ['−0.026', -0.026], ['-3', -3], ['<0.001', 0.0005], ['≤ 2.11', 2.11],
    ['≥ 0.5', 0.5], ['47.8 %', 47.8], ['12 of 40', 12], ['—', null], ['', null],
    ['=', null], ['A', null],
  ];
  for (const [text, value] of cases) assert.equal(parseFigure(text), value, text);
});

test('cells: figures by size, then words, what is empty last', () => {
  const cells = ['', 'b', '10.0', '9.5', '—', '−1', '<0.001', 'a'];
  cells.sort(compareCells);
  assert.deepEqual(cells, ['−1', '<0.001', '9.5', '10.0', 'a', 'b', '—', '']);
});

test('times have significant digits and a unit', () => {
  assert.equal(timeText(0), '0 ns');
  assert.equal(timeText(940), '940 ns');
  assert.equal(timeText(18_100), '18.10 µs');
  assert.equal(timeText(-8_190_000), '−8.190 ms');
  assert.equal(timeText(1_234_567, 6), '1.23457 ms');
  assert.equal(timeText(2_500_000_000), '2.500 s');
  assert.equal(timeText(123_456_000_000), '123.5 s');
});

test('ticks have one unit and the digits that they need', () => {
  assert.equal(tickText(2_000_000, 500_000, 4_500_000), '2.0 ms');
  assert.equal(tickText(3_000_000, 1_000_000, 9_000_000), '3 ms');
  assert.equal(tickText(0, 250_000, 2_000_000), '0.00 ms');
  assert.equal(tickText(1_204_500, 500, 1_208_000), '1204.5 µs');
  assert.equal(tickText(-40, 20, 100), '−40 ns');
  assert.equal(tickText(5_000, 20, 5_100), '5.00 µs');
});
