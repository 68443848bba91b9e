// SPDX-License-Identifier: Apache-2.0
// Colours of categories, seen with each kind of colour blindness. The matrices
// are those of Machado, Oliveira and Fernandes (2009) for full deficiency, on
// linear RGB; distance is that of OKLab, where 0.02 is about what can be told
// apart side by side.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inkOn } from '../src/draw.js';

type Triple = [number, number, number];

const NORMAL: Triple[] = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const SIGHT: Record<string, Triple[]> = {
  normal: NORMAL,
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968],
                 [0.280085, 0.672501, 0.047413],
                 [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779],
               [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.3039]],
};

function linear(colour: string): Triple {
  const part = (at: number) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

const apply = (rows: Triple[], v: Triple) => rows.map(
  (row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as Triple;

function oklab(rgb: Triple): Triple {
  const cone = apply([[0.4122214708, 0.5363325363, 0.0514459929],
                      [0.2119034982, 0.6806995451, 0.1073969566],
                      [0.0883024619, 0.2817188376, 0.6299787005]], rgb)
    .map(Math.cbrt) as Triple;
  return apply([[0.2104542553, 0.793617785, -0.0040720468],
                [1.9779984951, -2.428592205, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.808675766]], cone);
}

const seen = (colour: string, sight: Triple[]) => oklab(
  apply(sight, linear(colour)).map((v) => Math.min(1, Math.max(0, v))) as Triple);

function luminance(colour: string): number {
  const [r, g, b] = linear(colour);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

/** Custom properties of each theme, as the style sheet has them. */
function themes(): Map<string, Map<string, string>> {
  const css = readFileSync('src/page.css', 'utf8');
  const found = new Map<string, Map<string, string>>();
  for (const [, selector, body] of css.matchAll(/(:root[^{]*)\{([^}]*)\}/g)) {
    const values = new Map([...(body ?? '').matchAll(/--([\w-]+):\s*(#\w+)/g)]
      .map(([, name, value]) => [name ?? '', value ?? '']));
    if (values.has('c-moe')) found.set((selector ?? '').trim(), values);
  }
  return found;
}

const WORK = ['comm', 'moe', 'attn', 'gemm', 'norm', 'elem', 'quant', 'spec',
              'copy', 'other'];

test('the style sheet has both themes, dark ones alike', () => {
  const all = [...themes().values()];
  assert.equal(all.length, 3);
  assert.deepEqual(all[1], all[2]);
});

test('categories can be told apart with any kind of sight', () => {
  for (const [theme, values] of themes()) {
    for (const [sight, matrix] of Object.entries(SIGHT)) {
      for (const a of WORK) for (const b of WORK) {
        if (a >= b) continue;
        const x = seen(values.get(`c-${a}`) ?? '', matrix);
        const y = seen(values.get(`c-${b}`) ?? '', matrix);
        const apart = Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
        assert.ok(apart > 0.11, `${theme} ${sight} ${a} ${b} ${apart}`);
      }
    }
  }
});

test('colours stand out from the ground, and text from both', () => {
  for (const [theme, values] of themes()) {
    const panel = values.get('panel') ?? '';
    for (const name of WORK)
      assert.ok(contrast(values.get(`c-${name}`) ?? '', panel) >= 2,
                `${theme} ${name}`);
    for (const name of ['text', 'soft', 'faint', 'accent', 'good', 'bad',
                        'side-a', 'side-b'])
      for (const ground of ['panel', 'ground'])
        assert.ok(contrast(values.get(name) ?? '', values.get(ground) ?? '')
                  >= 4.5, `${theme} ${name} on ${ground}`);
  }
});

test('names on a colour can be read', () => {
  for (const values of themes().values())
    for (const name of WORK) {
      const colour = values.get(`c-${name}`) ?? '';
      const ink = inkOn(colour) === '#000' ? '#000000' : '#ffffff';
      assert.ok(contrast(ink, colour) >= 4.5, name);
    }
});
