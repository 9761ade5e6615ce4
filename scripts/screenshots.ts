import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { openStage, type Stage } from '../play/app/stage.ts';
import { startPage } from '../play/page/server/page.ts';
import { smallPng } from './small-png.ts';

/** `npm run screenshots`: makes docs/images/*.png from the real play, in Debian's chromium. */
const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));
const MOST_BYTES = 200_000;
const WIDE = { width: 1360, height: 800 };
const SLOW = { timeout: 60_000 };

interface Look {
  readonly dark?: boolean;
  readonly size?: { readonly width: number; readonly height: number };
}

/** A photographer: opens the page anew for each picture, in the same world. */
class Camera {
  readonly #browser: Browser;
  readonly #url: string;

  constructor(browser: Browser, url: string) {
    this.#browser = browser;
    this.#url = url;
  }

  async open({ dark = false, size = WIDE }: Look = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      viewport: size,
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
      timezoneId: 'Europe/Berlin',
    });
    const page = await context.newPage();
    await page.goto(this.#url);
    await page.locator('.page').waitFor();
    return page;
  }

  async take(page: Page, name: string, what: Page | Locator = page): Promise<void> {
    await page.mouse.move(2, 2);
    await page.evaluate('document.fonts.ready');
    const png = smallPng(await what.screenshot({ caret: 'hide' }));
    console.log(`docs/images/${name}.png  ${Math.round(png.length / 1000)} kB`);
    if (png.length > MOST_BYTES) throw new Error(`${name}.png is larger than ${MOST_BYTES} bytes`);
    writeFileSync(`${FOLDER}${name}.png`, png);
    if (what === page) await page.context().close();
  }
}

const become = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: /Switch person/ }).click();
  await page.getByRole('menuitemradio', { name }).click();
};

const cardOf = (page: Page, pod: string): Locator =>
  page.getByRole('main').getByRole('article').filter({ hasText: pod }).last();

const openThread = async (page: Page, pod: string): Promise<void> => {
  const card = cardOf(page, pod);
  await card
    .getByText(/Succeeded/)
    .first()
    .waitFor(SLOW);
  await card.getByRole('button', { name: /repl(y|ies)/ }).click();
  const thread = page.getByRole('complementary', { name: 'Thread' });
  await thread.locator('.file-lines, pre').first().waitFor(SLOW);
};

async function resultInThread(camera: Camera): Promise<void> {
  const page = await camera.open();
  await page.getByRole('button', { name: /A first look at a pod/ }).click();
  await page.keyboard.press('Enter');
  await openThread(page, 'nginx-pod-1234');
  await page.getByRole('region', { name: 'Log text' }).getByText('end of the log').waitFor(SLOW);
  await camera.take(page, 'channel-with-result');
}

async function approval(camera: Camera): Promise<void> {
  const page = await camera.open({ dark: true });
  await page.getByRole('button', { name: /More than anyone may have alone/ }).click();
  await page.keyboard.press('Enter');
  await cardOf(page, 'neato-5x9k3').getByRole('button', { name: 'Approve', exact: true }).waitFor(SLOW);
  await become(page, 'Bob');
  await camera.take(page, 'approval');
}

async function clusterPane(camera: Camera): Promise<void> {
  const page = await camera.open({ size: { width: 1600, height: 900 } });
  const cluster = page.getByRole('complementary', { name: 'Cluster' });
  await cluster
    .getByRole('article', { name: 'Pod nginx-pod-1234' })
    .getByRole('button', { name: /kdebug-/ })
    .first()
    .click();
  await cluster.getByRole('region', { name: 'Log text' }).getByText('end of the log').waitFor(SLOW);
  await camera.take(page, 'cluster', cluster);
  await page.context().close();
}

async function form(camera: Camera): Promise<void> {
  const page = await camera.open({ size: { width: 1100, height: 760 } });
  const composer = page.getByRole('combobox', { name: 'Message #shop-oncall' });
  await composer.fill('ALERT PodSlow pod=cart-leaky-0 namespace=shop');
  await page.keyboard.press('Enter');
  const alert = cardOf(page, 'ALERT');
  await alert.hover();
  await alert.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Debug a pod' }).click();
  const dialog = page.getByRole('dialog', { name: 'Debug a pod' });
  await dialog.waitFor();
  await camera.take(page, 'form');
}

async function narrow(camera: Camera): Promise<void> {
  const page = await camera.open({ size: { width: 390, height: 780 }, dark: true });
  await page.getByRole('region', { name: 'Guided start' }).getByRole('button', { name: 'Hide' }).click();
  await page
    .getByRole('main')
    .getByText(/Succeeded/)
    .first()
    .waitFor();
  await openThread(page, 'nginx-pod-1234');
  await camera.take(page, 'narrow');
}

async function pictures(stage: Stage): Promise<void> {
  const { bed, cluster, examples } = stage;
  const page = await startPage({ slack: bed.slack, policyPath: bed.policyPath, cluster, examples });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-lcd-text'],
  });
  try {
    const camera = new Camera(browser, page.url);
    for (const picture of [resultInThread, approval, clusterPane, form, narrow]) await picture(camera);
  } finally {
    await browser.close();
    await page.stop();
  }
}

mkdirSync(FOLDER, { recursive: true });
const stage = await openStage({ transport: 'socket' });
try {
  await pictures(stage);
} finally {
  await stage.close();
}
process.exit();
