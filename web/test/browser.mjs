// SPDX-License-Identifier: Apache-2.0
// Chromium, and pages in it that must not ask for anything.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const PLACES = [process.env.INFERDIFF_CHROMIUM, '/usr/bin/chromium',
                '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Ends with 77, a skip, where it cannot be had and may be missed. */
export async function launch() {
  const give = (what) => {
    console.log(`skipped: ${what}`);
    process.exit(process.env.INFERDIFF_NO_SKIP ? 1 : 77);
  };
  const program = PLACES.find((place) => place && existsSync(place));
  if (!program) return give('there is no Chromium');
  let playwright;
  try {
    playwright = await import('playwright-core');
  } catch {
    return give('`npm ci` in web/ has not been run');
  }
  return playwright.chromium.launch(
    { executablePath: program, args: ['--no-sandbox'] });
}

/** What a page asked for beyond itself, and what it had to say. */
export function watch(page, path) {
  const heard = [];
  const own = pathToFileURL(path).href;
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== own) heard.push(`asks ${request.url()}`);
  });
  page.on('console', (message) => heard.push(`says ${message.text()}`));
  page.on('pageerror', (error) => heard.push(`fails ${error.message}`));
  page.on('dialog', (dialog) => heard.push(`opens ${dialog.message()}`));
  return heard;
}

export async function open(browser, path, options = {}) {
  const context = await browser.newContext(
    { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce',
      ...options });
  const page = await context.newPage();
  const heard = watch(page, path);
  await page.goto(pathToFileURL(path).href);
  if (options.javaScriptEnabled !== false)
    await page.waitForFunction(
      () => document.documentElement.dataset.ready === 'true');
  return { page, heard, close: () => context.close() };
}
