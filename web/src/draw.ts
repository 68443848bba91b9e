// SPDX-License-Identifier: Apache-2.0
// Draws the timelines on a canvas.
import { scaleLinear } from 'd3-scale';
import { tickText } from './figures.js';
import {
  AXIS, BAND, LABEL, type LaneBox, REPLAY, type SideBox, type Target,
  counterparts,
} from './layout.js';
import { type View, laneRectangles, makeRectangles } from './paint.js';
import {
  type Packed, type Side, colourOf, durationOf, nameOf,
} from './steps.js';

/** What is to be seen. */
export interface Scene {
  sides: SideBox[];
  width: number;
  height: number;
  view: (side: Side) => View;
  marked: (Target | null)[];
  only: string | null; // a colour; all others are faint
}

interface Colours {
  fill: Map<string, string>;
  text: string;
  faint: string;
  line: string;
  ground: string;
  mark: string;
}

/** Black or white, whichever can be read on a colour "#rrggbb". */
export function inkOn(colour: string): string {
  const part = (at: number) => parseInt(colour.slice(at, at + 2), 16) / 255;
  const light = 0.2126 * part(1) ** 2.2 + 0.7152 * part(3) ** 2.2
    + 0.0722 * part(5) ** 2.2;
  return light > 0.2 ? '#000' : '#fff';
}

export class Painter {
  private colours: Colours;
  private scene: Scene;
  private readonly rectangles;

  constructor(private readonly packed: Packed,
              private readonly context: CanvasRenderingContext2D,
              scene: Scene) {
    this.scene = scene;
    this.colours = this.readColours();
    const most = Math.max(...scene.sides.map((s) => s.side.start.length), 1);
    this.rectangles = makeRectangles(most + 4 * 8192);
  }

  /** Takes the colours of another theme. */
  recolour(): void {
    this.colours = this.readColours();
  }

  paint(scene: Scene): void {
    this.scene = scene;
    const draw = this.context;
    const ratio = window.devicePixelRatio || 1;
    draw.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw.globalAlpha = 1;
    draw.fillStyle = this.colours.ground;
    draw.fillRect(0, 0, scene.width, scene.height);
    draw.font = '11px system-ui, sans-serif';
    draw.textBaseline = 'middle';
    for (const box of scene.sides) this.drawSide(box);
    for (const target of scene.marked) if (target) this.drawTarget(target);
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

  private drawSide(box: SideBox): void {
    const draw = this.context;
    const view = this.scene.view(box.side);
    this.drawNames(box);
    draw.save();
    draw.beginPath();
    draw.rect(LABEL, box.top, (this.scene.width - LABEL), box.bottom - box.top);
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
    const { only } = this.scene;
    const bars = height - (lane.rows > 1 ? 1 : 0);
    let colour = '';
    for (let i = 0; i < out.count; ++i) {
      const next = colourOf(this.packed, side, out.op[i] ?? 0);
      if (next !== colour) {
        colour = next;
        draw.fillStyle = this.colours.fill.get(colour) ?? '#888';
        draw.globalAlpha = only === null || only === colour ? 1 : 0.15;
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
      const colour = colourOf(this.packed, side, op);
      const text = role === 'other' ? nameOf(side, op) : role;
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
    const view = this.scene.view(box.side);
    const at = box.boxes.find(({ lane }) => op >= lane.begin && op < lane.end);
    if (!at) return null;
    const x = ((box.side.start[op] ?? 0) - view.from) * view.scale;
    const width = durationOf(box.side, op) * view.scale;
    return [LABEL + x, at.y + (box.side.row[op] ?? 0) * at.height,
            Math.max(width, 2), at.height];
  }

  private drawTarget(target: Target): void {
    const draw = this.context;
    draw.save();
    draw.beginPath();
    draw.rect(LABEL, 0, this.scene.width - LABEL, this.scene.height);
    draw.clip();
    draw.strokeStyle = this.colours.mark;
    draw.lineWidth = 2;
    const own = this.frame(target);
    if (own) draw.strokeRect(own[0] - 1, own[1] - 1, own[2] + 2, own[3] + 2);
    for (const mate of counterparts(this.scene.sides, target)) {
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
