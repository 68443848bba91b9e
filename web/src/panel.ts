// SPDX-License-Identifier: Apache-2.0
// What stands around the timelines: buttons, keys, legend, and the facts of an
// operation.
import { timeText } from './figures.js';
import { type SideBox, type Target, counterparts } from './layout.js';
import { type Packed, durationOf, laneOf, nameOf } from './steps.js';

const MOST_MATES = 4; // of a counterpart that are named

export function element<K extends keyof HTMLElementTagNameMap>(
  name: K, look = '', text = ''): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (look) made.className = look;
  if (text) made.textContent = text;
  return made;
}

/** `label` says what a sign stands for, and more of what words do. */
export function button(text: string, label: string, act: () => void) {
  const made = element('button', 'tool', text);
  made.type = 'button';
  made.title = label;
  if (text.length === 1) made.setAttribute('aria-label', label);
  made.addEventListener('click', act);
  return made;
}

const HELP: [string, string][] = [
  ['wheel, pinch, + −', 'zoom'],
  ['drag, sideways wheel, ← →', 'move'],
  ['Home', 'the whole step'],
  ['Shift ← →', 'the operation before, the next one'],
  ['↑ ↓', 'the lane above, the lane below'],
  ['click, Enter', 'keep an operation and its counterpart'],
  ['Esc', 'let go'],
  ['S', 'same scale, or each side as wide as it can be'],
  ['?', 'this list'],
];

export function keyList(): HTMLElement {
  const list = element('dl', 'keys');
  for (const [keys, what] of HELP) {
    const line = element('div');
    line.append(element('dt', '', keys), element('dd', '', what));
    list.append(line);
  }
  list.hidden = true;
  return list;
}

/** One entry a colour; pressed, it is seen alone, and `choose` is told. */
export function legend(
  packed: Packed, sides: SideBox[],
  choose: (colour: string | null) => void): HTMLElement {
  let only: string | null = null;
  const list = element('div', 'legend');
  list.setAttribute('role', 'group');
  list.setAttribute('aria-label', 'Categories: press one to see it alone');
  const titles = new Map<string, string[]>();
  const used = new Set<number>();
  for (const { side } of sides)
    for (const kernel of side.kernels) used.add(kernel.category);
  packed.categories.forEach(([, title, colour], i) => {
    if (used.has(i))
      titles.set(colour, [...(titles.get(colour) ?? []), title]);
  });
  for (const [colour, names] of titles) {
    const entry = element('button', 'entry');
    entry.type = 'button';
    entry.setAttribute('aria-pressed', 'false');
    entry.append(element('i', `swatch c-${colour}`), names.join(', '));
    entry.addEventListener('click', () => {
      only = only === colour ? null : colour;
      for (const other of list.children)
        other.setAttribute('aria-pressed',
                           String(other === entry && only !== null));
      choose(only);
    });
    list.append(entry);
  }
  return list;
}

function factsOf(packed: Packed, target: Target): [string, string][] {
  const { box: { side }, op } = target;
  const kernel = side.kernels[side.kernel[op] ?? 0];
  const category = packed.categories[kernel?.category ?? 0];
  const start = side.start[op] ?? 0;
  const layer = side.layer[op] ?? -1;
  const replay = side.replay[op] ?? -1;
  const wait = side.wait[op] ?? 0;
  const facts: [string, string][] = [
    ['category', category?.[1] ?? ''],
    ['role', packed.roles[side.role[op] ?? 0] ?? ''],
    ['takes', timeText(durationOf(side, op))],
    ['starts', `${timeText(start, 6)} into step ${side.step}`],
    ['lane', String(laneOf(side, op)?.lane ?? '')],
  ];
  if (layer >= 0) facts.push(['layer', String(layer)]);
  if (replay >= 0) facts.push(['graph replay', String(replay)]);
  if (wait > 0) facts.push(['of it rank wait', timeText(wait)]);
  facts.push(['record', String(side.ordinal[op])]);
  return facts;
}

function counterpartText(mates: Target[], other: string): string {
  if (mates.length === 0) return `No counterpart on ${other}.`;
  const all = mates.reduce(
    (sum, { box, op }) => sum + durationOf(box.side, op), 0);
  return `Counterpart on ${other}: ${mates.length} `
    + `operation${mates.length > 1 ? 's' : ''}, ${timeText(all)} together.`;
}

/** Everything that is known of an operation, and its counterpart. */
export function describe(
  panel: HTMLElement, packed: Packed, sides: SideBox[], target: Target): void {
  const { box: { side }, op } = target;
  const head = element('p', 'what');
  if (side.name) head.append(element('b', `side ${side.name}`, side.name), ' ');
  head.append(element('code', '', nameOf(side, op)));
  const list = element('dl');
  for (const [word, value] of factsOf(packed, target)) {
    const line = element('div');
    line.append(element('dt', '', word), element('dd', '', value));
    list.append(line);
  }
  panel.replaceChildren(head, list);
  if (sides.length < 2) return;
  const mates = counterparts(sides, target);
  const other = sides.find((box) => box !== target.box)?.side.name ?? '';
  panel.append(element('p', 'mates', counterpartText(mates, other)));
  const names = element('ul');
  for (const mate of mates.slice(0, MOST_MATES)) {
    const line = element('li');
    line.append(element('code', '', nameOf(mate.box.side, mate.op)),
                ` ${timeText(durationOf(mate.box.side, mate.op))}`);
    names.append(line);
  }
  if (mates.length > MOST_MATES)
    names.append(element('li', '', `${mates.length - MOST_MATES} more`));
  if (mates.length > 0) panel.append(names);
}
