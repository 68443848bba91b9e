// SPDX-License-Identifier: Apache-2.0
// Bundles *_test.ts and runs them with node's own runner.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = mkdtempSync(join(tmpdir(), 'page-tests-'));
const tests = readdirSync(here).filter((name) => name.endsWith('_test.ts'));
if (tests.length === 0) throw new Error('no test');
await build({
  entryPoints: tests.map((name) => join(here, name)),
  bundle: true,
  platform: 'node',
  format: 'esm',
  outdir: out,
  outExtension: { '.js': '.mjs' },
  loader: { '.css': 'text' },
});
const run = spawnSync(
  process.execPath,
  ['--test', ...tests.map((name) => join(out, name.replace('.ts', '.mjs')))],
  { stdio: 'inherit' });
rmSync(out, { recursive: true });
process.exit(run.status ?? 1);
