// SPDX-License-Identifier: Apache-2.0
// Pages that the program wrote, in a browser: every control is pressed, and
// nothing may be fetched, logged, or taken for markup.
//
//   node page.mjs PROGRAM REPOSITORY
import assert from 'node:assert/strict';
import {
  copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open } from './browser.mjs';
import { HOSTILE, hostileTrace, madeTrace, run } from './traces.mjs';

const [, , program, repository] = process.argv.map((word, i) =>
  i > 1 ? resolve(word) : word);
const browser = await launch();
const folder = mkdtempSync(join(tmpdir(), 'page-'));
const file = (name) => join(folder, name);
const sample = (name) => join(repository, 'examples', name);
const library = sample('decode-h200/library.trace.json.gz');
const compiled = sample('decode-h200/compiled.trace.json.gz');

let failed = 0;
async function check(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (error) {
    ++failed;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}

const compare = (out, a, b, ...more) => {
  run(program, 'compare', ...a, '--', ...b, '-o', file(out), ...more);
  return file(out);
};

const picture = (page) => page.evaluate(
  () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(
    () => done(document.querySelector('.stage canvas').toDataURL())))));

/** Serious or critical findings of axe. */
async function accessibility(page) {
  const require = createRequire(import.meta.url);
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'),
                                   'utf8'));
  const result = await page.evaluate(() => globalThis.axe.run());
  return result.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((n) => n.html)}`);
}

// --- the pages ---------------------------------------------------------------

const demo = compare('demo.html', [library], [compiled]);
const ranks = ['TP-0', 'TP-1'].map((rank) =>
  sample(`ranks-h200/large-${rank}.trace.json.gz`));
const late = ['TP-0', 'TP-1'].map((rank) =>
  sample(`ranks-h200/host-delay-${rank}.trace.json.gz`));
const set = compare('ranks.html', ranks, late);
run(program, 'ledger', library, '-o', file('ledger.html'), '-o',
    file('ledger.json'));
const fromJson = compare('json.html', [file('ledger.json')], [compiled]);
const badName = file('a<img src=x onerror=alert(1)>\u202eb.json');
hostileTrace(library, badName);
const hostile = compare('hostile.html', [badName], [compiled]);
run(program, 'ledger', badName, '-o', file('hostile-ledger.html'));
// Facts of a set-up and rows of a table come from strangers, too.
mkdirSync(file('side'));
copyFileSync(library, file('side/a.trace.json.gz'));
writeFileSync(file('side/server_args.json'), JSON.stringify(
  { model_path: HOSTILE[0], attention_backend: HOSTILE[1],
    kv_cache_dtype: HOSTILE[4], dtype: HOSTILE[5], quantization: HOSTILE[3],
    moe_runner_backend: HOSTILE[2], served_model_name: HOSTILE[8] }));
const facts = compare('facts.html', [file('side/a.trace.json.gz')], [compiled]);
const csv = (text) => `"${text.replace(/"/g, '""')}"`;
writeFileSync(file('table.csv'), ['category,a_us,b_us',
  ...HOSTILE.slice(0, 6).map((text) => `${csv(text)},100,90`),
  'a b,10,10', 'a-b,10,10', 'MoE,5,5', 'idle,20,30', 'total,645,595', '']
  .join('\n'));
const table = compare('table.html', [`${file('table.csv')}:a`],
                      [`${file('table.csv')}:b`]);
const mixed = compare('mixed.html', [`${file('table.csv')}:a`], [compiled]);
madeTrace(file('a.json'), 10_000, false);
madeTrace(file('b.json'), 10_000, true);
const large = compare('large.html', [file('a.json')], [file('b.json')]);

const pages = { demo, set, ledger: file('ledger.html'), fromJson, hostile,
                hostileLedger: file('hostile-ledger.html'), facts, table,
                mixed, large };

for (const [name, path] of Object.entries(pages)) {
  for (const colorScheme of ['light', 'dark']) {
    await check(`${name}, ${colorScheme}: quiet and accessible`, async () => {
      const { page, heard, close } = await open(browser, path, { colorScheme });
      assert.deepEqual(await accessibility(page), []);
      await page.waitForTimeout(50);
      assert.deepEqual(heard, []);
      assert.equal(await page.evaluate(() => globalThis.hacked), undefined);
      await close();
    });
  }
  await check(`${name}: fits a phone`, async () => {
    const { page, heard, close } =
      await open(browser, path, { viewport: { width: 390, height: 844 } });
    const width = await page.evaluate(
      () => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `${width} px wide`);
    assert.deepEqual(heard, []);
    await close();
  });
  await check(`${name}: no element or attribute that was not meant`, async () => {
    const { page, close } = await open(browser, path);
    const odd = await page.evaluate(() => {
      const known = new Set(['onclick']);
      const found = [];
      for (const node of document.querySelectorAll('*')) {
        if (['IMG', 'IFRAME', 'OBJECT', 'EMBED', 'LINK', 'BASE', 'FORM',
             'VIDEO'].includes(node.tagName)) found.push(node.outerHTML);
        for (const { name: attribute } of node.attributes)
          if (/^on|^style$/.test(attribute) && !known.has(attribute)
              && !node.closest('.stage')) found.push(node.outerHTML);
      }
      return found;
    });
    assert.deepEqual(odd, []);
    assert.equal(await page.locator('script').count(), 2);
    await close();
  });
}

// --- what is said ------------------------------------------------------------

await check('the page says what the terminal says', async () => {
  const text = run(program, 'compare', library, '--', compiled).toString();
  const { page, heard, close } =
    await open(browser, demo, { javaScriptEnabled: false });
  const body = (await page.locator('main').innerText()).replace(/\s+/g, ' ');
  const verdict = /A is 1\.\d+ × slower than B/.exec(text)[0];
  assert.ok((await page.locator('h1').innerText()).includes(verdict));
  // Each row of figures of the table of categories, and of the waterfall.
  const rows = text.match(/^ {4}\S.*\d\.\d{3}.*$/gm)
    .filter((row) => !/\d more /.test(row)).slice(0, 60);
  assert.ok(rows.length > 30);
  for (const row of rows) {
    const figures = row.match(/[+−]?\d+\.\d{3}/g);
    for (const figure of figures) assert.ok(body.includes(figure), row);
  }
  assert.ok(await page.locator('table').count() > 6);
  assert.ok(body.includes('switched off'));
  assert.deepEqual(heard, []);
  await close();
});

await check('without a script a bar leads to its kernels', async () => {
  const { page, close } =
    await open(browser, demo, { javaScriptEnabled: false });
  await page.locator('table.waterfall th a', { hasText: 'attention' }).click();
  const target = page.locator('#kernels-attention');
  assert.ok(await target.isVisible());
  assert.ok((await target.innerText()).includes('fmha'));
  const name = page.locator('details.name').first();
  assert.ok(!await name.locator('.whole').first().isVisible());
  await name.locator('summary').click();
  assert.ok(await name.locator('.whole').first().isVisible());
  await close();
});

await check('hostile names are text, to the last character', async () => {
  const { page, close } = await open(browser, hostile);
  const names = await page.locator('#kernels').evaluate((part) => part.textContent);
  // A name of 20 kB is known by its first 4 kB.
  for (const text of HOSTILE.filter((one) => /^[\x20-\x7e]*$/.test(one)))
    assert.ok(names.includes(text.slice(0, 3000)), text.slice(0, 60));
  assert.ok(names.includes('\\u202egnp.evil'));
  assert.ok(names.includes('nul\\x00bel\\x07esc\\x1b[31m'));
  const all = await page.evaluate(() => document.body.textContent);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069\u0000\u0007\u001b]/.test(all));
  assert.ok(!/[\u202e\u0000\u001b]/.test(readFileSync(hostile, 'utf8')));
  await close();
});

await check('facts and rows of strangers are text', async () => {
  for (const [path, texts] of [[facts, [1, 5]], [table, [0, 1, 2, 3]]]) {
    const { page, close } = await open(browser, path);
    const all = await page.evaluate(() => document.body.textContent);
    for (const i of texts) assert.ok(all.includes(HOSTILE[i]), HOSTILE[i]);
    await close();
  }
});

await check('a side without operations says so', async () => {
  const { page, close } = await open(browser, fromJson);
  assert.match(await page.locator('#timeline').innerText(),
               /A: This ledger does not hold the operations/);
  assert.equal(await page.locator('.stage canvas').count(), 1);
  await close();
});

await check('ranks: wait and transfer of both sides', async () => {
  const { page, close } = await open(browser, set);
  assert.equal(await page.locator('#ranks .rank').count(), 4);
  assert.match(await page.locator('#ranks').innerText(), /rank wait/i);
  await close();
});

await check('the same bytes for any number of threads, and small', async () => {
  const one = run(program, 'compare', file('a.json'), '--threads', '1', '--',
                  file('b.json'), '--format', 'html');
  assert.ok(one.equals(readFileSync(large)));
  assert.ok(statSync(large).size < 1_500_000, `${statSync(large).size} bytes`);
});

await check('policy: nothing but the own script and style', async () => {
  const { page, close } = await open(browser, demo);
  const policy = await page.locator('meta[http-equiv]').getAttribute('content');
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^ ]+'; /);
  assert.ok(!/unsafe|http|\*/.test(policy));
  await close();
});

// --- what it does ------------------------------------------------------------

await check('timeline: wheel, drag, keys and buttons', async () => {
  const { page, heard, close } = await open(browser, demo);
  const stage = page.locator('.stage');
  await stage.scrollIntoViewIfNeeded();
  const box = await stage.boundingBox();
  const whole = await picture(page);
  const seen = new Map([[whole, 'whole']]);
  const isNew = async (what) => {
    const now = await picture(page);
    assert.ok(!seen.has(now), `${what}: as ${seen.get(now)}`);
    seen.set(now, what);
  };
  await page.mouse.move(box.x + 400, box.y + 60);
  await page.mouse.wheel(0, -600);
  await isNew('wheel');
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await isNew('drag');
  await page.mouse.wheel(80, 0);
  await isNew('sideways');
  await page.mouse.move(5, 5);
  await stage.focus();
  await page.keyboard.press('Escape');
  for (const key of ['+', 'ArrowRight', 'ArrowRight', 'ArrowLeft', '-', 's']) {
    await page.keyboard.press(key);
    if (key !== 'ArrowLeft') await isNew(`${key} ${seen.size}`);
  }
  assert.equal(await page.locator('.tool[aria-pressed]')
    .getAttribute('aria-pressed'), 'true');
  await page.keyboard.press('s');
  await page.keyboard.press('Home');
  assert.equal(await picture(page), whole);
  assert.ok(!await page.locator('.keys').isVisible());
  await page.keyboard.press('?');
  assert.ok(await page.locator('.keys').isVisible());
  await page.getByRole('button', { name: 'Zoom in' }).click();
  await page.getByRole('button', { name: 'Zoom out' }).click();
  await page.getByRole('button', { name: 'Whole step' }).click();
  await page.getByRole('button', { name: 'Keys' }).click();
  assert.ok(!await page.locator('.keys').isVisible());
  await page.mouse.move(5, 5);
  assert.equal(await picture(page), whole);
  assert.deepEqual(heard, []);
  await close();
});

await check('timeline: pointing, keeping, walking, counterparts', async () => {
  const { page, heard, close } = await open(browser, demo);
  const stage = page.locator('.stage');
  await stage.scrollIntoViewIfNeeded();
  const box = await stage.boundingBox();
  const tip = page.locator('.tip');
  let y = 30;
  // The lanes lie below the axis and the layers.
  for (; y < box.height / 2; y += 4) {
    await page.mouse.move(box.x + 120, box.y + y);
    if (await tip.isVisible()) break;
  }
  const shown = await tip.innerText();
  for (const word of ['category', 'role', 'takes', 'starts', 'lane', 'layer',
                      'graph replay', 'record', 'ounterpart'])
    assert.ok(shown.includes(word), `${word} in ${shown}`);
  await page.mouse.click(box.x + 120, box.y + y);
  const kept = page.locator('.pinned');
  assert.equal(await kept.locator('.what code').innerText(),
               await tip.locator('.what code').innerText());
  assert.match(await kept.innerText(), /Counterpart on B: \d+ operation/);
  await page.mouse.move(5, 5);
  await tip.waitFor({ state: 'hidden' });
  const record = () => kept.locator('div', { hasText: 'record' }).innerText();
  const first = await record();
  await stage.focus();
  await page.keyboard.press('Shift+ArrowRight');
  assert.notEqual(await record(), first);
  await page.keyboard.press('Shift+ArrowLeft');
  assert.equal(await record(), first);
  await page.keyboard.press('ArrowDown');
  assert.match(await kept.locator('.what').innerText(), /^B/);
  assert.match(await kept.innerText(), /ounterpart on A/);
  await page.keyboard.press('ArrowUp');
  assert.match(await kept.locator('.what').innerText(), /^A/);
  await page.keyboard.press('Escape');
  assert.match(await kept.innerText(), /Point at an operation/);
  assert.deepEqual(heard, []);
  await close();
});

await check('timeline: what is said of an op is what its record says', async () => {
  const { page, close } = await open(browser, demo);
  await page.locator('.stage').focus();
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  const kept = page.locator('.pinned');
  const value = async (word) => kept.locator('dl div').filter(
    { has: page.locator('dt', { hasText: new RegExp(`^${word}$`) }) })
    .locator('dd').innerText();
  const record = Number(await value('record'));
  const rows = run(program, 'dump', library).toString().split('\n')
    .map((line) => line.split('\t'));
  const head = rows.find((row) => row.includes('ordinal'));
  const row = rows.find((one) => one[head.indexOf('ordinal')] === String(record));
  const dur = Number(row[head.indexOf('dur_ns')]);
  const [number, unit] = (await value('takes')).split(' ');
  assert.ok(Math.abs(Number(number) * (unit === 'µs' ? 1000 : 1) - dur) < 10,
            `${number} ${unit} of ${dur}`);
  assert.equal(await value('lane'), row[head.indexOf('normal_lane')]);
  assert.equal(await value('graph replay'), '0');
  assert.equal((await value('category')).replace(/[ +]+/g, '_'),
               row[head.indexOf('category')]);
  await close();
});

await check('legend and theme change what is drawn', async () => {
  const { page, heard, close } = await open(browser, demo);
  const plain = await picture(page);
  const entry = page.locator('.legend .entry').first();
  await entry.click();
  assert.equal(await entry.getAttribute('aria-pressed'), 'true');
  assert.notEqual(await picture(page), plain);
  await entry.click();
  assert.equal(await picture(page), plain);
  const ground = () => page.evaluate(
    () => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByRole('button', { name: 'Switch to dark colours' }).click();
  assert.notEqual(await ground(), light);
  assert.notEqual(await picture(page), plain);
  await page.getByRole('button', { name: 'Switch to light colours' }).click();
  assert.equal(await ground(), light);
  assert.equal(await picture(page), plain);
  assert.deepEqual(heard, []);
  await close();
});

await check('tables sort, parts stay with their group, totals below', async () => {
  const { page, close } = await open(browser, demo);
  const table = page.locator('#categories table');
  const column = async (n) => table.locator(`tbody tr`).evaluateAll(
    (rows, at) => rows.map((row) => row.cells[at].textContent), n);
  const titles = await column(0);
  const heading = table.getByRole('button', { name: 'A ms' });
  await heading.click();
  assert.equal(await table.locator('th[aria-sort="descending"]').count(), 1);
  const looks = await table.locator('tbody tr').evaluateAll(
    (rows) => rows.map((row) => [row.className, row.cells[1].textContent]));
  const main = looks.filter(([look]) => look === '').map(([, text]) => Number(text));
  assert.deepEqual(main, [...main].sort((x, y) => y - x));
  assert.equal(looks[looks.length - 1][0], 'total');
  const sorted = await column(0);
  assert.equal(sorted[sorted.indexOf('MoE') + 1].startsWith('MoE '), true);
  await heading.click();
  assert.equal(await table.locator('th[aria-sort="ascending"]').count(), 1);
  await heading.click();
  assert.deepEqual(await column(0), titles);
  await close();
});

await check('kernels: search, side, category, and the link of a bar', async () => {
  const { page, heard, close } = await open(browser, demo);
  const rows = page.locator('#kernels tbody tr:not(.group):visible');
  const count = page.locator('#kernels .count');
  const all = await rows.count();
  const control = (name) => page.locator('.filter label', { hasText: name })
    .locator('input, select');
  await control(/^Search/).fill('TRITON norm');
  const found = await rows.count();
  assert.ok(found > 0 && found < all);
  assert.equal(await count.innerText(), `${found} of ${all}`);
  await control(/^Search/).fill('');
  await control(/^Side/).selectOption('B');
  assert.ok((await rows.allInnerTexts()).every((row) => row.startsWith('B')));
  await control(/^Side/).selectOption('');
  await control(/^Category/).selectOption('kernels-norm');
  assert.ok((await rows.allInnerTexts()).every((row) => /norm/.test(row)));
  await page.locator('table.waterfall th a', { hasText: 'MoE' }).click();
  assert.equal(await control(/^Category/).inputValue(), 'kernels-moe');
  assert.ok((await rows.allInnerTexts()).every((row) => /MoE/.test(row)));
  assert.deepEqual(heard, []);
  await close();
});

await check('every link on the page leads somewhere', async () => {
  for (const path of Object.values(pages)) {
    const { page, close } = await open(browser, path);
    const lost = await page.evaluate(() => [...document.querySelectorAll('a')]
      .map((link) => link.getAttribute('href'))
      .filter((to) => !to.startsWith('#')
              || !document.getElementById(to.slice(1))));
    assert.deepEqual(lost, []);
    const ids = await page.evaluate(
      () => [...document.querySelectorAll('[id]')].map((node) => node.id));
    assert.equal(new Set(ids).size, ids.length);
    await close();
  }
});

await check('prints light, without controls', async () => {
  const { page, close } = await open(browser, demo, { colorScheme: 'dark' });
  const ground = () => page.evaluate(
    () => getComputedStyle(document.body).backgroundColor);
  const dark = await picture(page);
  assert.notEqual(await ground(), 'rgb(255, 255, 255)');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await ground(), 'rgb(255, 255, 255)');
  assert.notEqual(await picture(page), dark);
  assert.ok(!await page.locator('#contents').isVisible());
  assert.ok(!await page.locator('.filter').isVisible());
  assert.ok(await page.locator('h1').isVisible());
  assert.ok((await page.pdf()).length > 10_000);
  await close();
});

await browser.close();
if (failed > 0) console.log(`pages are kept in ${pathToFileURL(folder)}`);
else rmSync(folder, { recursive: true });
console.log(`${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
