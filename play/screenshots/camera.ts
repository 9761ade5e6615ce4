import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';

export const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const MAX_BYTES = 180_000;
const WIDE = { width: 1360, height: 780 };

/** For one thing to happen: a run takes seconds. */
export const SLOW = { timeout: 25_000 };

/** Pictures of the whole page are made a little smaller than it is, which a README does anyway. */
export const WHOLE = 0.76;

export interface Look {
  readonly dark?: boolean;
  readonly scale?: number;
  readonly size?: { readonly width: number; readonly height: number };
}

/** A photographer: opens the page anew for each picture, in the same world. */
export class Camera {
  readonly #browser: Browser;
  readonly #url: string;

  constructor(browser: Browser, url: string) {
    this.#browser = browser;
    this.#url = url;
  }

  async open({ dark = false, scale = 1, size = WIDE }: Look = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      viewport: size,
      deviceScaleFactor: scale,
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      timezoneId: 'Europe/Berlin',
    });
    const page = await context.newPage();
    page.setDefaultTimeout(12_000);
    await page.goto(this.#url);
    await page.locator('.page').waitFor();
    return page;
  }

  /** The whole page, which is closed then, or a part of it. */
  async take(page: Page, name: string, what: Page | Locator = page): Promise<void> {
    await page.mouse.move(2, 2);
    await page.evaluate('document.fonts.ready');
    const png = await what.screenshot({ caret: 'hide' });
    console.log(`docs/images/${name}.png  ${Math.round(png.length / 1000)} kB`);
    if (png.length > MAX_BYTES) throw new Error(`${name}.png is larger than ${MAX_BYTES} bytes`);
    writeFileSync(`${FOLDER}${name}.png`, png);
    if (what === page) await page.context().close();
  }
}

export const button = (part: Page | Locator, name: string): Locator => part.getByRole('button', { name, exact: true });

export async function become(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /Switch person/ }).click();
  await page.getByRole('menuitemradio', { name: new RegExp(`^${name}\\b`) }).click();
  await page.getByRole('button', { name: `You are ${name}` }).waitFor();
}

export const hideGuide = (page: Page): Promise<void> =>
  button(page.getByRole('region', { name: 'Guided start' }), 'Hide').click();

export async function type(page: Page, words: string, place = '#shop-oncall'): Promise<void> {
  await page.getByRole('combobox', { name: `Message ${place}` }).fill(words);
  await page.keyboard.press('Enter');
}

export const cardOf = (page: Page, words: string): Locator =>
  page.getByRole('main').getByRole('article').filter({ hasText: words }).last();

/** What only the current person sees. */
export const privateOf = (page: Page, words: string): Locator =>
  page
    .getByRole('article', { name: /only visible to you/ })
    .filter({ hasText: words })
    .last();

export const threadOf = (page: Page): Locator => page.getByRole('complementary', { name: 'Thread' });

/** Opens the thread under a card, once the run's result is in it. */
export async function openThread(page: Page, card: Locator): Promise<void> {
  await button(card, 'Run again')
    .or(card.getByRole('button', { name: /^Retry \d+ failed/ }))
    .first()
    .waitFor(SLOW);
  await card.getByRole('button', { name: /repl(y|ies)/ }).click();
  await threadOf(page).locator('.file-lines, pre').first().waitFor(SLOW);
}
