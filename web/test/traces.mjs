// SPDX-License-Identifier: Apache-2.0
// Traces and pages for the tests and the benchmark.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

/** Kernels of a layer: name, duration in µs of A, how much longer on B. */
const LAYER = [
  ['fused_add_rms_norm_kernel<bf16>', 2.1, 1.2],
  ['nvjet_hsh_128x64_qkv_TNT', 6.4, 0.9],
  ['rotary_embedding_kernel<bf16, true>', 1.8, 2],
  ['reshape_and_cache_flash_kernel<bf16>', 1.5, 1],
  ['flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>', 11.2, 1.6],
  ['nvjet_hsh_64x64_o_proj_TNT', 4.3, 1],
  ['fused_add_rms_norm_kernel<bf16>', 2.1, 1.2],
  ['nvjet_hsh_128x128_gate_up_TNT', 9.7, 1.1],
  ['silu_and_mul_kernel<bf16>', 2.4, 1.3],
  ['nvjet_hsh_128x64_down_TNT', 5.5, 0.8],
];

/**
 * A Kineto trace of `steps` graph replays of about `ops` kernels each, every
 * twentieth on another stream beside the others.
 */
export function madeTrace(path, ops, slower, steps = 4) {
  const lines = [];
  let at = 1000;
  const event = (cat, name, ts, dur, tid, args) => lines.push(JSON.stringify(
    { ph: 'X', cat, name, pid: 0, tid, ts, dur, args }));
  for (let step = 0; step < steps; ++step) {
    const correlation = step + 1;
    event('cuda_runtime', 'cudaGraphLaunch', at - 40, 20, 1, { correlation });
    for (let op = 0; op < ops; ++op) {
      const [name, dur, more] = LAYER[op % LAYER.length];
      const takes = Number((dur * (slower ? more : 1)).toFixed(3));
      const beside = op % 20 === 13;
      const stream = beside ? 8 : 7;
      event('kernel', name, Number(at.toFixed(3)), takes, stream,
            { device: 0, stream, correlation });
      if (!beside) at += takes + 0.3;
    }
    at += 120;
  }
  const head = '{"schemaVersion":1,"deviceProperties":[{"id":0,'
    + '"name":"Made-up GPU","computeMajor":9,"computeMinor":0}],'
    + '"traceEvents":[\n';
  writeFileSync(path, `${head}${lines.join(',\n')}\n]}\n`);
}

/** Text that wants to be markup, to run or to hide. */
export const HOSTILE = [
  '</script><script>window.hacked=1</script>',
  '<img src=x onerror="window.hacked=1">',
  '"><svg onload=window.hacked=1>',
  "' onmouseover='window.hacked=1",
  '\u202egnp.evil\u202c',
  '&lt;b&gt;&amp;<!--',
  ']]><script>window.hacked=1</script>',
  '`code` **bold** [x](javascript:window.hacked=1)',
  'nul\u0000bel\u0007esc\u001b[31m',
  '\u2028line\u2029para\ufeff',
  `${'long_name_'.repeat(2000)}end`,
];

/** The sample trace, with hostile text in every name and label it has. */
export function hostileTrace(sample, path) {
  const trace = JSON.parse(gunzipSync(readFileSync(sample)).toString());
  let next = 0;
  const hostile = () => HOSTILE[next++ % HOSTILE.length];
  const renamed = new Map();
  const rename = (name) => {
    if (!renamed.has(name)) renamed.set(name, `${name}${hostile()}`);
    return renamed.get(name);
  };
  for (const event of trace.traceEvents) {
    if (event.cat === 'kernel' || event.cat === 'gpu_memcpy')
      event.name = rename(event.name);
    else if (/annotation/.test(event.cat ?? ''))
      event.name = `${event.name} ${HOSTILE[0]}`;
    for (const [key, value] of Object.entries(event.args ?? {}))
      if (typeof value === 'string') event.args[key] = `${value}${hostile()}`;
  }
  for (const device of trace.deviceProperties ?? [])
    device.name = `${device.name}${HOSTILE[0]}`;
  writeFileSync(path, JSON.stringify(trace));
}

export function run(program, ...words) {
  return execFileSync(program, words, { maxBuffer: 1 << 28 });
}
