import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe } from 'vitest';
import { isFull } from '../../../../test/support/sample.ts';

const CHROMIUM = '/usr/bin/chromium';
/** For whatever is waited for on a page: the bench judges the machine, no test does. */
const HANGS_AFTER_MS = 120_000;

export interface BrowserOptions {
  /** The story that `npm test` plays, too; the others are of the full run. */
  readonly inSample?: boolean;
}

/** `describe`, where there is a browser; elsewhere skipped, with the reason. */
export function describeInBrowser(
  name: string,
  tests: (open: Opener) => void,
  { inSample = false }: BrowserOptions = {},
): void {
  if (!isFull && !inSample) {
    describe.skip(name, () => tests(new Opener()));
    return;
  }
  if (!existsSync(CHROMIUM)) {
    console.warn(`skipped: ${name}: there is no ${CHROMIUM}`);
    describe.skip(name, () => tests(new Opener()));
    return;
  }
  describe(name, () => {
    const opener = new Opener();
    beforeAll(() => opener.start());
    afterEach(() => opener.closePages());
    afterAll(() => opener.stop());
    tests(opener);
  });
}

const WIDE = { width: 1600, height: 900 };

/** One browser of a test file; each page has a context, so a memory, of its own. */
export class Opener {
  #browser: Browser | undefined;
  readonly #contexts: BrowserContext[] = [];
  /** What pages complained of: a test file that ends with one in here should fail. */
  readonly complaints: string[] = [];

  async start(): Promise<void> {
    this.#browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  }

  async page(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    if (this.#browser === undefined) throw new Error('the browser was not started');
    const context = await this.#browser.newContext({ viewport: WIDE, reducedMotion: 'reduce', ...options });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(HANGS_AFTER_MS);
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      // The browser's own word on a request that failed; the page has its own ways to say so.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        this.complaints.push(message.text());
    });
    await page.goto(url);
    await page.locator('.page').waitFor();
    return page;
  }

  async closePages(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }

  async stop(): Promise<void> {
    await this.closePages();
    await this.#browser?.close();
  }
}
