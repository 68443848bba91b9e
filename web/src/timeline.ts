// SPDX-License-Identifier: Apache-2.0
// The timelines: both sides on one canvas, so that what does the same work can
// be joined by a line.
//
//   A   layers   |0     |1     |2     |
//       replays  [-----------------------]
//       lane 0   [norm][qkv][attention..]
//       lane 1        [copy]
//                        \  \            counterparts of what is pointed at
//   B   layers   |0   |1   |2   |
//       ...
import { scaleLinear } from 'd3-scale';
import { select } from 'd3-selection';
import { type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom';
import { tickText, timeText } from './figures.js';
import { type View, laneRectangles, makeRectangles } from './paint.js';
import {
  type Lane, type Packed, type Side, groupIndex, opAt, unpack,
} from './steps.js';

const AXIS = 22; // height of the axis, in CSS pixels, as all that follows
const BAND = 14; // of the row of layers
const REPLAY = 5;
const GAP = 30; // between the sides
const LABEL = 62; // left of the drawing
const MOST_LANES = 40; // that are drawn

interface Colours {
  fill: Map<string, string>;
  text: string;
  faint: string;
  line: string;
  ground: string;
  mark: string;
}

interface LaneBox {
  lane: Lane;
  y: number;
  height: number; // of one row
}

interface SideBox {
  side: Side;
  groups: Map<number, number[]>;
  top: number;
  bottom: number;
  boxes: LaneBox[];
}

interface Target {
  box: SideBox;
  op: number;
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K, look = '', text = ''): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (look) made.className = look;
  if (text) made.textContent = text;
  return made;
}

/** `label` says what a sign stands for, and more of what words do. */
function button(text: string, label: string, act: () => void) {
  const made = element('button', 'tool', text);
  made.type = 'button';
  made.title = label;
  if (text.length === 1) made.setAttribute('aria-label', label);
  made.addEventListener('click', act);
  return made;
}

/** A wheel or a touchpad that is moved to the side moves, and does not zoom. */
function isSideways(event: WheelEvent): boolean {
  return Math.abs(event.deltaX) > Math.abs(event.deltaY);
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

export class Timeline {
  private readonly packed: Packed;
  private readonly sides: SideBox[] = [];
  private readonly canvas = element('canvas');
  private readonly stage = element('div', 'stage');
  private readonly tip = element('div', 'tip');
  private readonly detail = element('div', 'pinned');
  private readonly help = element('dl', 'keys');
  private readonly stretch: HTMLButtonElement;
  private readonly context: CanvasRenderingContext2D;
  private readonly rectangles;
  private readonly zoomer;
  private transform: ZoomTransform = zoomIdentity;
  private colours: Colours;
  private width = 0;
  private height = 0;
  private stretched = false;
  private hover: Target | null = null;
  private pinned: Target | null = null;
  private only: string | null = null; // a colour; all others are faint
  private waiting = false;

  constructor(packed: Packed, host: HTMLElement) {
    this.packed = packed;
    for (const side of unpack(packed))
      this.sides.push(
        { side, groups: groupIndex(side), top: 0, bottom: 0, boxes: [] });
    const most = Math.max(...this.sides.map((s) => s.side.start.length), 1);
    this.rectangles = makeRectangles(most + 4 * 8192);
    const context = this.canvas.getContext('2d', { alpha: false });
    if (!context) throw new Error('no canvas');
    this.context = context;
    this.colours = this.readColours();
    this.stretch = button('Stretch to each other', 'Same scale for both sides,'
      + ' or each as wide as it can be', () => this.setStretched());
    this.stretch.setAttribute('aria-pressed', 'false');
    this.build(host);
    this.zoomer = zoom<HTMLDivElement, unknown>()
      .scaleExtent([1, this.closest()])
      .filter((event: WheelEvent) => event.type === 'wheel'
        ? !isSideways(event) : !event.button)
      .on('zoom', (event: { transform: ZoomTransform }) => {
        this.transform = event.transform;
        this.ask();
      });
    select(this.stage).call(this.zoomer).on('dblclick.zoom', null);
    this.listen();
    this.layOut();
  }

  /** Draws again with the colours of another theme. */
  recolour(): void {
    this.colours = this.readColours();
    this.ask();
  }

  // --- building ------------------------------------------------------------

  private build(host: HTMLElement): void {
    const tools = element('div', 'tools');
    tools.append(
      button('−', 'Zoom out', () => this.zoomBy(1 / 2)),
      button('+', 'Zoom in', () => this.zoomBy(2)),
      button('Whole step', 'Show the whole step', () => this.reset()));
    if (this.sides.length > 1) tools.append(this.stretch);
    tools.append(button('?', 'Keys', () => this.toggleHelp()));
    for (const [keys, what] of HELP) {
      const line = element('div');
      line.append(element('dt', '', keys), element('dd', '', what));
      this.help.append(line);
    }
    this.help.hidden = true;
    this.stage.tabIndex = 0;
    this.stage.setAttribute('role', 'application');
    this.stage.setAttribute('aria-label', this.describe());
    this.tip.hidden = true;
    this.tip.setAttribute('role', 'tooltip');
    this.detail.setAttribute('aria-live', 'polite');
    this.stage.append(this.canvas, this.tip);
    host.append(tools, this.help, this.legend(), this.stage, this.detail);
    for (const { side } of this.sides) {
      const more = side.lanes.length - MOST_LANES;
      if (more > 0)
        host.append(element('p', 'aside', `${side.name} ${side.label}: `
          + `${more} more lanes are not drawn.`));
    }
    this.showPinned();
  }

  private describe(): string {
    const each = this.sides.map(({ side }) =>
      `${side.name || side.label}: step ${side.step}, `
      + `${side.start.length} operations on ${side.lanes.length} lanes`);
    return `Timeline. ${each.join('; ')}. Arrow keys move, plus and minus `
      + 'zoom, Shift and arrows go from operation to operation, question mark '
      + 'lists the keys.';
  }

  private legend(): HTMLElement {
    const list = element('div', 'legend');
    list.setAttribute('role', 'group');
    list.setAttribute('aria-label', 'Categories: press one to see it alone');
    const titles = new Map<string, string[]>();
    const used = new Set<number>();
    for (const { side } of this.sides)
      for (const kernel of side.kernels) used.add(kernel.category);
    this.packed.categories.forEach(([, title, colour], i) => {
      if (used.has(i))
        titles.set(colour, [...(titles.get(colour) ?? []), title]);
    });
    for (const [colour, names] of titles) {
      const entry = element('button', 'entry');
      entry.type = 'button';
      entry.setAttribute('aria-pressed', 'false');
      entry.append(element('i', `swatch c-${colour}`), names.join(', '));
      entry.addEventListener('click', () => {
        this.only = this.only === colour ? null : colour;
        for (const other of list.children)
          other.setAttribute('aria-pressed',
                             String(other === entry && this.only !== null));
        this.ask();
      });
      list.append(entry);
    }
    return list;
  }

  private readColours(): Colours {
    const style = getComputedStyle(document.documentElement);
    const read = (name: string) => style.getPropertyValue(name).trim();
    const fill = new Map<string, string>();
    for (const [, , colour] of this.packed.categories)
      fill.set(colour, read(`--c-${colour}`));
    return {
      fill, text: read('--text'), faint: read('--faint'), line: read('--line'),
      ground: read('--panel'), mark: read('--mark'),
    };
  }

  private listen(): void {
    new ResizeObserver(() => this.layOut()).observe(this.stage);
    const stage = this.stage;
    stage.addEventListener('pointermove', (event) => {
      this.hover = this.find(event);
      this.showTip(event.offsetX, event.offsetY);
      this.ask();
    });
    stage.addEventListener('pointerleave', () => {
      this.hover = null;
      this.tip.hidden = true;
      this.ask();
    });
    stage.addEventListener('wheel', (event) => {
      if (!isSideways(event)) return;
      event.preventDefault();
      this.moveBy(-event.deltaX);
    }, { passive: false });
    stage.addEventListener('click', (event) => this.pin(this.find(event)));
    stage.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.key(event.key, event.shiftKey)) event.preventDefault();
    });
  }

  // --- scales --------------------------------------------------------------

  /** What is drawn of a side, ns; of one scale, both begin together. */
  private range(side: Side): [number, number] {
    const of = this.stretched ? [side] : this.sides.map((box) => box.side);
    const first = Math.min(0, ...of.map((one) => one.first));
    const last = Math.max(...of.map((one) => Math.max(one.last, one.wall ?? 0)));
    return [first, Math.max(last, first + 1)];
  }
  private longestSpan(): number {
    return Math.max(...this.sides.map(({ side }) => {
      const [first, last] = this.range(side);
      return last - first;
    }));
  }
  private drawn(): number { return Math.max(this.width - LABEL, 1); }

  /** Zoom until 20 ns fill the drawing, but a little at least. */
  private closest(): number { return Math.max(8, this.longestSpan() / 20); }

  private view(side: Side): View {
    const [first, last] = this.range(side);
    // The end stands clear of the border.
    const scale = ((this.drawn() - 8) / (last - first)) * this.transform.k;
    return {
      from: first - this.transform.x / scale,
      scale,
      width: this.drawn(),
    };
  }

  private layOut(): void {
    const width = this.stage.clientWidth;
    if (width === 0) return;
    this.width = width;
    let y = 0;
    this.sides.forEach((box, i) => {
      if (i > 0) y += GAP;
      box.top = y;
      y += AXIS + BAND + (box.side.replays.length > 0 ? REPLAY + 3 : 0) + 3;
      const lanes = box.side.lanes.slice(0, MOST_LANES);
      const height = lanes.length > 12 ? 9 : lanes.length > 5 ? 14 : 22;
      box.boxes = lanes.map((lane) => {
        const row = lane.rows > 1 ? Math.max(7, height * 0.6) : height;
        const at = { lane, y, height: row };
        y += row * lane.rows + 3;
        return at;
      });
      box.bottom = y;
    });
    this.height = y + 4;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    const extent: [[number, number], [number, number]] =
      [[0, 0], [this.drawn(), this.height]];
    this.zoomer.extent(extent).translateExtent(extent);
    this.draw();
  }

  // --- acting --------------------------------------------------------------

  private zoomBy(factor: number): void {
    select(this.stage).call(this.zoomer.scaleBy, factor);
  }
  private moveBy(pixels: number): void {
    select(this.stage).call(
      this.zoomer.translateBy, pixels / this.transform.k, 0);
  }
  private reset(): void {
    select(this.stage).call(this.zoomer.transform, zoomIdentity);
  }
  private toggleHelp(): void { this.help.hidden = !this.help.hidden; }

  private setStretched(): void {
    this.stretched = !this.stretched;
    this.stretch.setAttribute('aria-pressed', String(this.stretched));
    this.ask();
  }

  private key(key: string, shift: boolean): boolean {
    const step = this.drawn() / 5;
    if (shift && key === 'ArrowRight') return this.walk(1);
    if (shift && key === 'ArrowLeft') return this.walk(-1);
    switch (key) {
      case 'ArrowLeft': this.moveBy(step); break;
      case 'ArrowRight': this.moveBy(-step); break;
      case 'ArrowUp': return this.climb(-1);
      case 'ArrowDown': return this.climb(1);
      case '+': case '=': this.zoomBy(1.5); break;
      case '-': case '_': this.zoomBy(1 / 1.5); break;
      case 'Home': this.reset(); break;
      case 's': case 'S': this.setStretched(); break;
      case '?': this.toggleHelp(); break;
      case 'Enter': this.pin(this.hover); break;
      case 'Escape': this.pin(null); break;
      default: return false;
    }
    return true;
  }

  /** From operation to operation of a lane. */
  private walk(by: number): boolean {
    const from = this.pinned;
    if (!from) {
      const box = this.sides[0];
      if (box) this.pin({ box, op: box.boxes[0]?.lane.begin ?? 0 });
      return true;
    }
    const lane = from.box.side.lanes.find(
      ({ begin, end }) => from.op >= begin && from.op < end);
    const op = from.op + by;
    if (lane && op >= lane.begin && op < lane.end)
      this.pin({ box: from.box, op }, true);
    return true;
  }

  /** To the operation of the next lane, of either side, at the same time. */
  private climb(by: number): boolean {
    const all = this.sides.flatMap((box) => box.boxes.map((lane) => ({ box, lane })));
    const from = this.pinned;
    const at = from ? all.findIndex(({ box, lane }) => box === from.box
      && from.op >= lane.lane.begin && from.op < lane.lane.end) : -1;
    const next = all[at + by];
    if (!from || !next) return this.walk(0);
    const time = from.box.side.start[from.op] ?? 0;
    let op = next.lane.lane.begin;
    for (let i = op; i < next.lane.lane.end; ++i)
      if ((next.box.side.start[i] ?? 0) <= time) op = i;
    this.pin({ box: next.box, op }, true);
    return true;
  }

  private pin(target: Target | null, follow = false): void {
    this.pinned = target;
    if (target && follow) this.reveal(target);
    this.showPinned();
    this.ask();
  }

  private reveal({ box, op }: Target): void {
    const view = this.view(box.side);
    const x = ((box.side.start[op] ?? 0) - view.from) * view.scale;
    if (x < 0 || x > view.width - 10) this.moveBy(view.width / 2 - x);
  }

  // --- pointing ------------------------------------------------------------

  private find(event: MouseEvent): Target | null {
    const { offsetX: px, offsetY: y } = event;
    for (const box of this.sides) {
      const view = this.view(box.side);
      const time = view.from + (px - LABEL) / view.scale;
      for (const { lane, y: top, height } of box.boxes) {
        const row = Math.floor((y - top) / height);
        if (y < top || row >= lane.rows) continue;
        const op = opAt(box.side, lane, row, time, 3 / view.scale);
        if (op >= 0) return { box, op };
      }
    }
    return null;
  }

  private counterparts({ box, op }: Target): Target[] {
    const group = box.side.group[op] ?? -1;
    if (group < 0) return [];
    return this.sides.filter((other) => other !== box).flatMap((other) =>
      (other.groups.get(group) ?? []).map((mate) => ({ box: other, op: mate })));
  }

  private facts(target: Target): [string, string][] {
    const { box: { side }, op } = target;
    const kernel = side.kernels[side.kernel[op] ?? 0];
    const category = this.packed.categories[kernel?.category ?? 0];
    const start = side.start[op] ?? 0;
    const end = side.end[op] ?? 0;
    const lane = side.lanes.find(({ begin, end: stop }) => op >= begin && op < stop);
    const facts: [string, string][] = [
      ['category', category?.[1] ?? ''],
      ['role', this.packed.roles[side.role[op] ?? 0] ?? ''],
      ['takes', timeText(end - start)],
      ['starts', `${timeText(start, 6)} into step ${side.step}`],
      ['lane', String(lane?.lane ?? '')],
    ];
    if ((side.layer[op] ?? -1) >= 0) facts.push(['layer', String(side.layer[op])]);
    if ((side.replay[op] ?? -1) >= 0)
      facts.push(['graph replay', String(side.replay[op])]);
    if ((side.wait[op] ?? 0) > 0)
      facts.push(['of it rank wait', timeText(side.wait[op] ?? 0)]);
    facts.push(['record', String(side.ordinal[op])]);
    return facts;
  }

  private fill(panel: HTMLElement, target: Target): void {
    const { box: { side }, op } = target;
    const name = side.kernels[side.kernel[op] ?? 0]?.name ?? '';
    const head = element('p', 'what');
    if (side.name) head.append(element('b', `side ${side.name}`, side.name), ' ');
    head.append(element('code', '', name));
    const list = element('dl');
    for (const [word, value] of this.facts(target)) {
      const line = element('div');
      line.append(element('dt', '', word), element('dd', '', value));
      list.append(line);
    }
    panel.replaceChildren(head, list);
    if (this.sides.length < 2) return;
    const mates = this.counterparts(target);
    const all = mates.reduce((sum, mate) => sum
      + (mate.box.side.end[mate.op] ?? 0) - (mate.box.side.start[mate.op] ?? 0), 0);
    const other = this.sides.find((box) => box !== target.box)?.side.name ?? '';
    const text = mates.length === 0
      ? `No counterpart on ${other}.`
      : `Counterpart on ${other}: ${mates.length} operation`
        + `${mates.length > 1 ? 's' : ''}, ${timeText(all)} together.`;
    panel.append(element('p', 'mates', text));
    const names = element('ul');
    for (const mate of mates.slice(0, 4)) {
      const line = element('li');
      const of = mate.box.side;
      line.append(element('code', '', of.kernels[of.kernel[mate.op] ?? 0]?.name ?? ''),
                  ` ${timeText((of.end[mate.op] ?? 0) - (of.start[mate.op] ?? 0))}`);
      names.append(line);
    }
    if (mates.length > 0) panel.append(names);
  }

  private showTip(x: number, y: number): void {
    this.tip.hidden = this.hover === null;
    if (!this.hover) return;
    this.fill(this.tip, this.hover);
    const right = x + 16 + this.tip.offsetWidth > this.width;
    this.tip.style.left =
      `${Math.max(0, right ? x - 16 - this.tip.offsetWidth : x + 16)}px`;
    this.tip.style.top = `${y + 16}px`;
  }

  private showPinned(): void {
    if (this.pinned) {
      this.fill(this.detail, this.pinned);
      return;
    }
    const mate = this.sides.length > 1 ? ' with its counterpart' : '';
    this.detail.replaceChildren(element('p', 'hint',
      `Point at an operation, or click it to keep it here${mate}.`
      + ' Press ? for the keys.'));
  }

  // --- drawing -------------------------------------------------------------

  /** Draws once before the screen is next shown, however often it is asked. */
  private ask(): void {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.draw();
    });
  }

  private draw(): void {
    const draw = this.context;
    const ratio = window.devicePixelRatio || 1;
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.globalAlpha = 1;
    draw.fillStyle = this.colours.ground;
    draw.fillRect(0, 0, this.width, this.height);
    draw.font = '11px system-ui, sans-serif';
    draw.textBaseline = 'middle';
    for (const box of this.sides) this.drawSide(box);
    for (const target of [this.hover, this.pinned])
      if (target) this.drawTarget(target);
  }

  private drawSide(box: SideBox): void {
    const draw = this.context;
    const view = this.view(box.side);
    this.drawNames(box);
    draw.save();
    draw.beginPath();
    draw.rect(LABEL, box.top, this.drawn(), box.bottom - box.top);
    draw.clip();
    draw.translate(LABEL, 0);
    this.drawAxis(box, view);
    this.drawLayers(box, view);
    for (const at of box.boxes) this.drawLane(box.side, at, view);
    this.drawWall(box, view);
    draw.restore();
  }

  private drawNames(box: SideBox): void {
    const draw = this.context;
    draw.fillStyle = this.colours.text;
    draw.font = '600 13px system-ui, sans-serif';
    draw.fillText(box.side.name, 2, box.top + AXIS / 2);
    draw.font = '11px system-ui, sans-serif';
    draw.fillStyle = this.colours.faint;
    if (box.side.layers.length > 0)
      draw.fillText('layers', 2, box.top + AXIS + BAND / 2);
    let below = -Infinity;
    for (const { lane, y, height } of box.boxes) {
      const middle = y + (height * lane.rows) / 2;
      if (middle - below < 11) continue;
      draw.fillText(`lane ${lane.lane}`, 2, middle);
      below = middle;
    }
  }

  private drawAxis(box: SideBox, view: View): void {
    const draw = this.context;
    const scale = scaleLinear()
      .domain([view.from, view.from + view.width / view.scale])
      .range([0, view.width]);
    const ticks = scale.ticks(Math.max(2, Math.floor(view.width / 110)))
      .filter(Number.isInteger);
    const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
    const largest = Math.max(...ticks.map(Math.abs), 1);
    // Its words stand in the same line.
    const next = box.side.wall === null ? -Infinity : scale(box.side.wall);
    for (const tick of ticks) {
      const x = Math.round(scale(tick)) + 0.5;
      draw.fillStyle = this.colours.line;
      draw.fillRect(x - 0.5, box.top + AXIS - 4, 1, box.bottom - box.top);
      if (x > next - 64 && x < next + 4) continue;
      draw.fillStyle = this.colours.faint;
      draw.fillText(tickText(tick, step, largest), x + 4, box.top + AXIS / 2);
    }
  }

  private drawLayers(box: SideBox, view: View): void {
    const draw = this.context;
    const top = box.top + AXIS;
    let before = -Infinity;
    let labelled = -Infinity;
    box.side.layers.forEach(({ begin, end }, i) => {
      const x = (begin - view.from) * view.scale;
      const width = (end - begin) * view.scale;
      if (x + width < 0 || x > view.width || x - before < 2) return;
      before = x;
      draw.fillStyle = this.colours.line;
      draw.fillRect(Math.round(x), top, 1, box.bottom - top);
      draw.globalAlpha = i % 2 === 0 ? 0.75 : 0.4;
      draw.fillRect(x, top, Math.max(width - 1, 1), BAND - 2);
      draw.globalAlpha = 1;
      // The number stays in sight where the layer's begin is not.
      const label = Math.max(x + 4, 4);
      if (width < 20 || label + 12 > x + width || label - labelled < 20) return;
      labelled = label;
      draw.fillStyle = this.colours.text;
      draw.fillText(String(i), label, top + BAND / 2 - 1);
    });
    draw.fillStyle = this.colours.faint;
    for (const { begin, end } of box.side.replays) {
      const x = (begin - view.from) * view.scale;
      const width = Math.max((end - begin) * view.scale, 2);
      if (x + width < 0 || x > view.width) continue;
      draw.fillRect(x, top + BAND + 2, width, 1);
      draw.fillRect(x, top + BAND, 1, REPLAY);
      draw.fillRect(x + width - 1, top + BAND, 1, REPLAY);
    }
  }

  private drawLane(side: Side, { lane, y, height }: LaneBox, view: View): void {
    const draw = this.context;
    const out = this.rectangles;
    laneRectangles(side, lane, view, out);
    const colourOf = (op: number) =>
      this.packed.categories[side.kernels[side.kernel[op] ?? 0]?.category ?? 0]?.[2] ?? '';
    const bars = height - (lane.rows > 1 ? 1 : 0);
    let colour = '';
    for (let i = 0; i < out.count; ++i) {
      const next = colourOf(out.op[i] ?? 0);
      if (next !== colour) {
        colour = next;
        draw.fillStyle = this.colours.fill.get(colour) ?? '#888';
        draw.globalAlpha = this.only === null || this.only === colour ? 1 : 0.15;
      }
      const x = out.x[i] ?? 0;
      const width = out.width[i] ?? 1;
      const left = Math.max(x, -2);
      const right = Math.min(x + width, view.width + 2);
      // A gap of half a pixel tells neighbours of one colour apart.
      draw.fillRect(left, y + (out.row[i] ?? 0) * height,
                    Math.max(right - left - (width > 4 ? 0.5 : 0), 1), bars);
    }
    draw.globalAlpha = 1;
    if (height >= 13) this.drawTitles(side, { lane, y, height }, view);
  }

  /** Names where there is room for them. */
  private drawTitles(side: Side, { y, height }: LaneBox, view: View): void {
    const draw = this.context;
    const out = this.rectangles;
    for (let i = 0; i < out.count; ++i) {
      if ((out.width[i] ?? 0) < 46) continue;
      const op = out.op[i] ?? 0;
      const left = Math.max(out.x[i] ?? 0, 0);
      const right = Math.min((out.x[i] ?? 0) + (out.width[i] ?? 0), view.width);
      const room = Math.floor((right - left - 8) / 6);
      if (room < 5) continue;
      const role = this.packed.roles[side.role[op] ?? 0] ?? '';
      const kernel = side.kernels[side.kernel[op] ?? 0];
      const colour = this.packed.categories[kernel?.category ?? 0]?.[2] ?? '';
      const text = role === 'other' ? kernel?.name ?? '' : role;
      draw.fillStyle = inkOn(this.colours.fill.get(colour) ?? '#888');
      draw.fillText(text.length > room ? `${text.slice(0, room - 1)}…` : text,
                    left + 4, y + ((out.row[i] ?? 0) + 0.5) * height);
    }
  }

  /** Where the next step begins. */
  private drawWall(box: SideBox, view: View): void {
    if (box.side.wall === null) return;
    const x = Math.round((box.side.wall - view.from) * view.scale);
    this.context.fillStyle = this.colours.mark;
    this.context.fillRect(x - 1, box.top + AXIS - 4, 2, box.bottom - box.top);
    if (x > 60) this.context.fillText('next step', x - 54, box.top + AXIS / 2);
  }

  private frame({ box, op }: Target): [number, number, number, number] | null {
    const view = this.view(box.side);
    const at = box.boxes.find(({ lane }) => op >= lane.begin && op < lane.end);
    if (!at) return null;
    const x = ((box.side.start[op] ?? 0) - view.from) * view.scale;
    const width = ((box.side.end[op] ?? 0) - (box.side.start[op] ?? 0)) * view.scale;
    return [LABEL + x, at.y + (box.side.row[op] ?? 0) * at.height,
            Math.max(width, 2), at.height];
  }

  private drawTarget(target: Target): void {
    const draw = this.context;
    draw.save();
    draw.beginPath();
    draw.rect(LABEL, 0, this.drawn(), this.height);
    draw.clip();
    draw.strokeStyle = this.colours.mark;
    draw.lineWidth = 2;
    const own = this.frame(target);
    if (own) draw.strokeRect(own[0] - 1, own[1] - 1, own[2] + 2, own[3] + 2);
    for (const mate of this.counterparts(target)) {
      const other = this.frame(mate);
      if (!other || !own) continue;
      draw.strokeRect(other[0] - 1, other[1] - 1, other[2] + 2, other[3] + 2);
      const [above, below] = own[1] < other[1] ? [own, other] : [other, own];
      const from = above[1] + above[3];
      const middle = (from + below[1]) / 2;
      draw.globalAlpha = 0.7;
      draw.beginPath();
      draw.moveTo(above[0] + above[2] / 2, from);
      draw.bezierCurveTo(above[0] + above[2] / 2, middle,
                         below[0] + below[2] / 2, middle,
                         below[0] + below[2] / 2, below[1]);
      draw.stroke();
      draw.globalAlpha = 1;
    }
    draw.restore();
  }
}

/** Black or white, whichever can be read on a colour "#rrggbb". */
export function inkOn(colour: string): string {
  const part = (at: number) => parseInt(colour.slice(at, at + 2), 16) / 255;
  const light = 0.2126 * part(1) ** 2.2 + 0.7152 * part(3) ** 2.2
    + 0.0722 * part(5) ** 2.2;
  return light > 0.2 ? '#000' : '#fff';
}
