// SPDX-License-Identifier: Apache-2.0
// What the page can do beyond being read. Nothing that it says depends on it.
import type { Packed } from './steps.js';
import { improveTables } from './tables.js';
import { addThemeButton } from './theme.js';
import { Timeline } from './timeline.js';

function drawTimelines(): Timeline | null {
  const host = document.getElementById('timelines');
  const data = document.getElementById('drawing')?.textContent;
  if (!host || !data) return null;
  return new Timeline(JSON.parse(data) as Packed, host);
}

/** The part that is read is marked in the list of contents. */
function followContents(): void {
  const links = new Map<string, Element>();
  for (const link of document.querySelectorAll('#contents li a'))
    links.set(link.getAttribute('href')?.slice(1) ?? '', link);
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const link = links.get(entry.target.id);
      if (!entry.isIntersecting || !link) continue;
      for (const other of links.values()) other.removeAttribute('aria-current');
      link.setAttribute('aria-current', 'true');
    }
  }, { rootMargin: '-20% 0px -70% 0px' });
  for (const section of document.querySelectorAll('main > section'))
    seen.observe(section);
}

document.documentElement.classList.add('script');
let timeline: Timeline | null = null;
addThemeButton(() => timeline?.recolour());
// Text first: what has to be drawn waits until that is on the screen.
requestAnimationFrame(() => setTimeout(() => {
  timeline = drawTimelines();
  improveTables();
  followContents();
  document.documentElement.dataset['ready'] = 'true';
}));
