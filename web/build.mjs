// SPDX-License-Identifier: Apache-2.0
// src/ -> ../build/web: one script, one style sheet, and the two lines of a
// Content-Security-Policy that allow exactly these by their hashes.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const out = new URL('../build/web/', import.meta.url);
const source = (name) => new URL(`src/${name}`, import.meta.url).pathname;

async function bundle(name) {
  const result = await build({
    entryPoints: [source(name)],
    bundle: true,
    minify: true,
    write: false,
    charset: 'utf8',
    format: 'iife',
    target: ['chrome100', 'firefox100', 'safari15'],
    legalComments: 'inline',
    logLevel: 'warning',
    metafile: true,
  });
  const text = result.outputFiles[0].text;
  return { text, files: Object.keys(result.metafile.inputs) };
}

/** The page is copied about, and the licences of what is in it with it. */
function notices(files) {
  const names = new Set(
    files.map((file) => /node_modules\/([^/]+)\//.exec(file)?.[1]));
  names.delete(undefined);
  const texts = new Map();
  for (const name of [...names].sort()) {
    const file = new URL(`node_modules/${name}/LICENSE`, import.meta.url);
    const text = readFileSync(file, 'utf8').trim();
    texts.set(text, [...(texts.get(text) ?? []), name]);
  }
  const parts = [...texts].map(([text, of]) => `${of.join(', ')}:\n${text}`);
  return `/*! inferdiff, Apache-2.0. With these modules:\n\n${parts.join('\n\n')}\n*/`;
}

const hash = (text) =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A file that is written again only where it changes: nothing is rebuilt. */
function write(name, text) {
  const path = new URL(name, out);
  let old = null;
  try {
    old = readFileSync(path, 'utf8');
  } catch {
    // There was none.
  }
  if (old !== text) writeFileSync(path, text);
}

const { text: body, files } = await bundle('main.ts');
const script = `${notices(files)}\n${body}`;
const { text: style } = await bundle('page.css');
// Nothing in them may end the element that they stand in.
for (const text of [script, style])
  if (/<\/(script|style)|<!--/i.test(text)) throw new Error('ends its element');
mkdirSync(out, { recursive: true });
write('page.js', script);
write('page.css', style);
write('policy.txt', `script-src ${hash(script)}; style-src ${hash(style)}\n`);
