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
import { select } from 'd3-selection';
import { type ZoomTransform, zoom, zoomIdentity } from 'd3-zoom';
import { Painter, type Scene } from './draw.js';
import { timeText } from './figures.js';
import {
  LABEL, MOST_LANES, type SideBox, type Target, layOut, makeBoxes,
} from './layout.js';
import type { View } from './paint.js';
import { button, describe, element, keyList, legend } from './panel.js';
import {
  type Packed, type Reach, type Side, laneOf, opAt, reachOf,
} from './steps.js';

/** A wheel or a touchpad that is moved to the side moves, and does not zoom. */
function isSideways(event: WheelEvent): boolean {
  return Math.abs(event.deltaX) > Math.abs(event.deltaY);
}

export class Timeline {
  private readonly packed: Packed;
  private readonly sides: SideBox[];
  private readonly canvas = element('canvas');
  private readonly stage = element('div', 'stage');
  private readonly tip = element('div', 'tip');
  private readonly detail = element('div', 'pinned');
  private readonly help = keyList();
  private readonly stretch: HTMLButtonElement;
  private readonly painter: Painter;
  private readonly zoomer;
  private transform: ZoomTransform = zoomIdentity;
  private width = 0;
  private height = 0;
  private stretched = false;
  private hover: Target | null = null;
  private pinned: Target | null = null;
  private only: string | null = null; // a colour; all others are faint
  private waiting = false;

  constructor(packed: Packed, host: HTMLElement) {
    this.packed = packed;
    this.sides = makeBoxes(packed);
    const context = this.canvas.getContext('2d', { alpha: false });
    if (!context) throw new Error('no canvas');
    this.painter = new Painter(packed, context, this.scene());
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

  /** Draws again, at once, with the colours of another theme, or of paper. */
  recolour(): void {
    this.painter.recolour();
    this.draw();
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
    this.stage.tabIndex = 0;
    this.stage.setAttribute('role', 'application');
    this.stage.setAttribute('aria-label', this.name());
    this.tip.hidden = true;
    this.tip.setAttribute('role', 'tooltip');
    this.detail.setAttribute('aria-live', 'polite');
    this.stage.append(this.canvas, this.tip);
    const colours = legend(this.packed, this.sides, (colour) => {
      this.only = colour;
      this.ask();
    });
    host.append(tools, this.help, colours, this.stage, this.detail);
    for (const { side } of this.sides) {
      const { from, first } = reachOf([side]);
      if (first < from)
        host.append(element('p', 'aside', `${side.name} ${side.label}: the `
          + `first operation starts ${timeText(-first, 3)} before the step; `
          + 'move left to see it.'));
      const more = side.lanes.length - MOST_LANES;
      if (more > 0)
        host.append(element('p', 'aside', `${side.name} ${side.label}: `
          + `${more} more lanes are not drawn.`));
    }
    this.showPinned();
  }

  private name(): string {
    const each = this.sides.map(({ side }) =>
      `${side.name || side.label}: step ${side.step}, `
      + `${side.start.length} operations on ${side.lanes.length} lanes`);
    return `Timeline. ${each.join('; ')}. Arrow keys move, plus and minus `
      + 'zoom, Shift and arrows go from operation to operation, question mark '
      + 'lists the keys.';
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

  /** Of one scale, both sides begin together. */
  private reach(side: Side): Reach {
    return reachOf(
      this.stretched ? [side] : this.sides.map((box) => box.side));
  }
  /** Pixels a ns, as long as nothing is zoomed. */
  private baseScale({ from, to }: Reach): number {
    // The end stands clear of the border.
    return (this.drawn() - 8) / (to - from);
  }
  private drawn(): number { return Math.max(this.width - LABEL, 1); }

  /** Zoom until 20 ns fill the drawing, but a little at least. */
  private closest(): number { return Math.max(
    8, ...this.sides.map(({ side }) => (side.last - side.first) / 20)); }

  private view(side: Side): View {
    const reach = this.reach(side);
    const scale = this.baseScale(reach) * this.transform.k;
    return {
      from: reach.from - this.transform.x / scale,
      scale,
      width: this.drawn(),
    };
  }

  private layOut(): void {
    const width = this.stage.clientWidth;
    if (width === 0) return;
    this.width = width;
    this.height = layOut(this.sides);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${this.height}px`;
    this.setExtent();
    this.draw();
  }

  /** How far one can move: to the first operation, and to the last. */
  private setExtent(): void {
    const width = this.drawn();
    let left = 0;
    let right = width;
    for (const { side } of this.sides) {
      const reach = this.reach(side);
      const scale = this.baseScale(reach);
      left = Math.min(left, (reach.first - reach.from) * scale);
      right = Math.max(right, width + (reach.last - reach.to) * scale);
    }
    this.zoomer.extent([[0, 0], [width, this.height]])
      .translateExtent([[left, 0], [right, this.height]]);
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
    this.setExtent();
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
    const lane = laneOf(from.box.side, from.op);
    const op = from.op + by;
    if (lane && op >= lane.begin && op < lane.end)
      this.pin({ box: from.box, op }, true);
    return true;
  }

  /** To the operation of the next lane, of either side, at the same time. */
  private climb(by: number): boolean {
    const all = this.sides.flatMap(
      (box) => box.boxes.map((lane) => ({ box, lane })));
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

  private showTip(x: number, y: number): void {
    this.tip.hidden = this.hover === null;
    if (!this.hover) return;
    describe(this.tip, this.packed, this.sides, this.hover);
    const right = x + 16 + this.tip.offsetWidth > this.width;
    this.tip.style.left =
      `${Math.max(0, right ? x - 16 - this.tip.offsetWidth : x + 16)}px`;
    this.tip.style.top = `${y + 16}px`;
  }

  private showPinned(): void {
    if (this.pinned) {
      describe(this.detail, this.packed, this.sides, this.pinned);
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
    this.painter.paint(this.scene());
  }

  private scene(): Scene {
    return {
      sides: this.sides,
      width: this.width,
      height: this.height,
      view: (side) => this.view(side),
      marked: [this.hover, this.pinned],
      only: this.only,
    };
  }
}
