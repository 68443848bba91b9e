// SPDX-License-Identifier: Apache-2.0
// Figures as the tables print them, and times as the timeline does.

/**
 * What a printed figure is worth for sorting: "−0.026", "+1,234", "≤ 2.11 ms",
 * "<0.001". Null where there is no figure: "—", "", "A".
 */
export function parseFigure(text: string): number | null {
  const found = /([<≤≥≈~]?)\s*([+−-]?)(\d[\d,]*(?:\.\d+)?)/.exec(text);
  if (!found) return null;
  const [, mark, sign, digits] = found;
  const value = Number((digits ?? '').replace(/,/g, ''));
  // Less than the smallest that is printed, and more than nothing.
  const shown = mark === '<' ? value / 2 : value;
  return sign === '−' || sign === '-' ? -shown : shown;
}

/** Order of two cells: figures by size, then words; what is empty is last. */
export function compareCells(a: string, b: string): number {
  const x = parseFigure(a);
  const y = parseFigure(b);
  if (x !== null && y !== null) return x - y;
  if (x !== null) return -1;
  if (y !== null) return 1;
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** "940 ns", "18.1 µs", "8.19 ms", with `digits` significant digits. */
export function timeText(ns: number, digits = 4): string {
  const size = Math.abs(ns);
  const sign = ns < 0 ? '−' : '';
  for (const [unit, scale] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]] as const) {
    if (size < scale) continue;
    const value = size / scale;
    const whole = Math.floor(value).toString().length;
    return `${sign}${value.toFixed(Math.max(0, digits - whole))} ${unit}`;
  }
  return `${sign}${Math.round(size)} ns`;
}

/**
 * A tick of an axis that reaches `largest`, and whose ticks are `step` apart:
 * one unit for all of them, and no digit more than it takes.
 */
export function tickText(ns: number, step: number, largest: number): string {
  const [unit, scale] = largest >= 1e6 && step >= 1e4 ? ['ms', 1e6]
    : largest >= 1e3 && step >= 10 ? ['µs', 1e3] : ['ns', 1];
  const apart = step / Number(scale);
  let digits = 0;
  while (digits < 3 && !isWhole(apart * 10 ** digits)) ++digits;
  const text = Math.abs(ns / Number(scale)).toFixed(digits);
  return `${ns < 0 ? '−' : ''}${text} ${unit}`;
}

function isWhole(value: number): boolean {
  return Math.abs(value - Math.round(value)) < 1e-6;
}
