// SPDX-License-Identifier: Apache-2.0
// Sorting, filtering and searching of the tables that are on the page anyway.
import { compareCells } from './figures.js';

/** A row and those that belong to it. */
type Block = HTMLTableRowElement[];

function cellText(row: HTMLTableRowElement, column: number): string {
  const cell = row.cells[column];
  // What unfolds is not what a row is sorted by.
  const shown = cell?.querySelector('summary') ?? cell;
  return shown?.textContent?.trim() ?? '';
}

/** Rows that belong to the one above them stay with it. */
function blocksOf(body: HTMLTableSectionElement): Block[] {
  const blocks: Block[] = [];
  for (const row of body.rows) {
    const last = blocks[blocks.length - 1];
    if (row.classList.contains('detail') && last) last.push(row);
    else blocks.push([row]);
  }
  return blocks;
}

function sortBody(body: HTMLTableSectionElement, column: number,
                  falling: boolean): void {
  const fixed = (block: Block) => block[0]?.matches('.total, .group') ?? false;
  const blocks = blocksOf(body);
  const heads = blocks.filter((b) => b[0]?.classList.contains('group'));
  const totals = blocks.filter((b) => b[0]?.classList.contains('total'));
  const rows = blocks.filter((b) => !fixed(b)).map((block) => ({
    block, text: block[0] ? cellText(block[0], column) : '',
  }));
  rows.sort((x, y) => {
    if (x.text === '' || y.text === '') return compareCells(x.text, y.text);
    return (falling ? -1 : 1) * compareCells(x.text, y.text);
  });
  body.append(...heads.flat(), ...rows.flatMap(({ block }) => block),
              ...totals.flat());
}

/** Each heading becomes a button: first the largest on top, then the least. */
function makeSortable(table: HTMLTableElement): void {
  const head = table.tHead?.rows[0];
  if (!head || table.tBodies.length === 0) return;
  const bodies = [...table.tBodies];
  const order = bodies.map((body) => [...body.rows]);
  [...head.cells].forEach((cell, column) => {
    if (cell.tagName !== 'TH') return;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'sort';
    button.append(...cell.childNodes);
    button.title = 'Sort by this column';
    cell.append(button);
    button.addEventListener('click', () => {
      const numbers = cell.classList.contains('n');
      const now = cell.getAttribute('aria-sort');
      const first = numbers ? 'descending' : 'ascending';
      const second = numbers ? 'ascending' : 'descending';
      const next = now === null ? first : now === first ? second : null;
      for (const other of head.cells) other.removeAttribute('aria-sort');
      if (next === null) {
        bodies.forEach((body, i) => body.append(...(order[i] ?? [])));
        return;
      }
      cell.setAttribute('aria-sort', next);
      for (const body of bodies) sortBody(body, column, next === 'descending');
    });
  });
}

function labelled(text: string, control: HTMLElement): HTMLLabelElement {
  const label = document.createElement('label');
  label.append(`${text} `, control);
  return label;
}

function choice(options: [value: string, text: string][]): HTMLSelectElement {
  const select = document.createElement('select');
  for (const [value, text] of options) {
    const option = document.createElement('option');
    option.value = value;
    option.textContent = text;
    select.append(option);
  }
  return select;
}

/** Search, side and category of the table of kernels. */
class KernelFilter {
  private readonly search = document.createElement('input');
  private readonly side: HTMLSelectElement | null;
  private readonly group: HTMLSelectElement;
  private readonly count = document.createElement('span');
  private readonly bodies: HTMLTableSectionElement[];

  constructor(table: HTMLTableElement) {
    this.bodies = [...table.tBodies];
    this.search.type = 'search';
    this.search.placeholder = 'name or part of it';
    const sides = table.querySelector('tr[data-side]') !== null;
    this.side = sides
      ? choice([['', 'A and B'], ['A', 'A'], ['B', 'B']]) : null;
    this.group = choice([['', 'all categories'],
      ...this.bodies.map((body): [string, string] =>
        [body.id, body.rows[0]?.textContent?.trim() ?? ''])]);
    this.count.className = 'count';
    this.count.setAttribute('role', 'status');
    const bar = document.createElement('div');
    bar.className = 'filter';
    bar.append(labelled('Search', this.search));
    if (this.side) bar.append(labelled('Side', this.side));
    bar.append(labelled('Category', this.group), this.count);
    (table.closest('.scroll') ?? table).before(bar);
    for (const control of [this.search, this.side, this.group])
      control?.addEventListener('input', () => this.apply());
    window.addEventListener('hashchange', () => this.follow());
    this.follow();
    this.apply();
  }

  /** A link to a category's kernels shows that category alone. */
  private follow(): void {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!this.bodies.some((body) => body.id === id)) return;
    this.group.value = id;
    this.search.value = '';
    if (this.side) this.side.value = '';
    this.apply();
    this.bodies[0]?.closest('section')?.scrollIntoView();
  }

  private apply(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    let all = 0;
    for (const body of this.bodies) {
      const wanted = this.group.value === '' || this.group.value === body.id;
      let any = false;
      for (const row of body.rows) {
        if (row.classList.contains('group')) continue;
        ++all;
        const text = row.textContent?.toLowerCase() ?? '';
        const fits = wanted && words.every((word) => text.includes(word))
          && (!this.side?.value || row.dataset['side'] === this.side.value);
        row.hidden = !fits;
        any ||= fits;
        if (fits) ++shown;
      }
      body.hidden = !any;
    }
    this.count.textContent = `${shown} of ${all}`;
  }
}

function tables(look: string): NodeListOf<HTMLTableElement> {
  return document.querySelectorAll<HTMLTableElement>(`table.${look}`);
}

export function improveTables(): void {
  for (const table of tables('figures')) makeSortable(table);
  for (const table of tables('kernels')) new KernelFilter(table);
}
