// SPDX-License-Identifier: Apache-2.0
// How long the page keeps one waiting: until something is on the screen, beside
// a page without anything, and for each frame while it is dragged.
//
//   node bench.mjs PROGRAM [OPERATIONS]    a side; default 10000
//
// First paint: medians of loads that alternate. A frame: what its callback
// takes, until the pixels are there (one is read back, which ends the drawing).
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch } from './browser.mjs';
import { madeTrace, run } from './traces.mjs';

const LOADS = 15;
const PANS = 300;

const program = resolve(process.argv[2]);
const operations = Number(process.argv[3] ?? 10_000);
const folder = mkdtempSync(join(tmpdir(), 'bench-'));
const file = (name) => join(folder, name);
madeTrace(file('a.json'), operations, false);
madeTrace(file('b.json'), operations, true);
run(program, 'compare', file('a.json'), '--', file('b.json'), '-o',
    file('page.html'));
writeFileSync(file('blank.html'),
              '<!doctype html><title>blank</title><body>.</body>');

const browser = await launch();
const quantile = (values, share) =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1];

async function firstPaint(name) {
  const context = await browser.newContext(
    { viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file(name)).href);
  const paint = await page.evaluate(() => new Promise((done) => {
    new PerformanceObserver((list) => done(list.getEntries()[0].startTime))
      .observe({ type: 'paint', buffered: true });
  }));
  await context.close();
  return paint;
}

/** Times of each frame's callback while the timeline is dragged about. */
async function pans(zoom) {
  const context = await browser.newContext(
    { viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    globalThis.frames_ms = [];
    const ask = globalThis.requestAnimationFrame.bind(globalThis);
    globalThis.requestAnimationFrame = (callback) => ask((now) => {
      const begin = performance.now();
      callback(now);
      const canvas = document.querySelector('.stage canvas');
      canvas?.getContext('2d').getImageData(0, 0, 1, 1);
      globalThis.frames_ms.push(performance.now() - begin);
    });
  });
  await page.goto(pathToFileURL(file('page.html')).href);
  await page.waitForFunction(
    () => document.documentElement.dataset.ready === 'true');
  const stage = page.locator('.stage');
  await stage.scrollIntoViewIfNeeded();
  await stage.focus();
  for (let i = 0; i < zoom; ++i) await page.keyboard.press('+');
  const box = await stage.boundingBox();
  await page.mouse.move(box.x + 600, box.y + 60);
  await page.mouse.down();
  await page.evaluate(() => { globalThis.frames_ms.length = 0; });
  for (let i = 0; i < PANS; ++i) {
    await page.mouse.move(box.x + 600 + 250 * Math.sin(i / 11), box.y + 60);
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  // Half of them only waited for the others.
  const times = (await page.evaluate(() => globalThis.frames_ms))
    .sort((a, b) => b - a).slice(0, PANS);
  await context.close();
  return times;
}

const blank = [];
const full = [];
for (let i = 0; i < LOADS; ++i) {
  blank.push(await firstPaint('blank.html'));
  full.push(await firstPaint('page.html'));
}
const paint = quantile(full, 0.5) - quantile(blank, 0.5);
console.log(`2 x ${operations} operations, page of `
  + `${statSync(file('page.html')).size} bytes, ${browser.version()}, `
  + `${cpus().length} processors`);
console.log(`first paint ${quantile(full, 0.5).toFixed(0)} ms, blank `
  + `${quantile(blank, 0.5).toFixed(0)} ms: ${paint.toFixed(0)} ms more (≤ 200)`);
let slow = paint > 200;
for (const [name, zoom] of [['whole step', 1], ['zoomed in', 12]]) {
  const times = await pans(zoom);
  const p95 = quantile(times, 0.95);
  slow ||= p95 > 8;
  console.log(`${times.length} frames, ${name}: median `
    + `${quantile(times, 0.5).toFixed(2)} ms, p95 ${p95.toFixed(2)} ms (≤ 8)`);
}
await browser.close();
rmSync(folder, { recursive: true });
process.exit(slow ? 1 : 0);
