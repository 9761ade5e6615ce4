import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { openStage, type Stage } from '../play/app/stage.ts';
import { startPage } from '../play/page/server/page.ts';

/** `npm run screenshots`: makes docs/images/*.png from the real play, in Debian's chromium. */
const FOLDER = fileURLToPath(new URL('../docs/images/', import.meta.url));
const MAX_BYTES = 180_000;
const WIDE = { width: 1360, height: 780 };
const SLOW = { timeout: 60_000 };

/** Pictures of the whole page are made a little smaller than it is, which a README does anyway. */
const WHOLE = 0.76;

interface Look {
  readonly dark?: boolean;
  readonly scale?: number;
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

  async open({ dark = false, scale = 1, size = WIDE }: Look = {}): Promise<Page> {
    const context = await this.#browser.newContext({
      viewport: size,
      deviceScaleFactor: scale,
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
    const png = await what.screenshot({ caret: 'hide' });
    console.log(`docs/images/${name}.png  ${Math.round(png.length / 1000)} kB`);
    if (png.length > MAX_BYTES) throw new Error(`${name}.png is larger than ${MAX_BYTES} bytes`);
    writeFileSync(`${FOLDER}${name}.png`, png);
    if (what === page) await page.context().close();
  }
}

const become = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name: /Switch person/ }).click();
  await page.getByRole('menuitemradio', { name }).click();
};

const hideGuide = (page: Page): Promise<void> =>
  page.getByRole('region', { name: 'Guided start' }).getByRole('button', { name: 'Hide' }).click();

const type = async (page: Page, words: string): Promise<void> => {
  await page.getByRole('combobox', { name: 'Message #shop-oncall' }).fill(words);
  await page.keyboard.press('Enter');
};

const cardOf = (page: Page, words: string): Locator =>
  page.getByRole('main').getByRole('article').filter({ hasText: words }).last();

const logOf = (page: Page): Locator => page.getByRole('region', { name: 'Log text' });

const ILL = 'cart-leaky-0';

/** Opens the thread under the card of a run that has come to its end. */
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

/** The newest debug container's log, whole, from its first line. */
const showLog = async (page: Page): Promise<void> => {
  await logOf(page).getByText('end of the log').waitFor(SLOW);
  await logOf(page).evaluate((log) => log.scrollTo(0, 0));
};

async function resultInThread(camera: Camera): Promise<void> {
  const page = await camera.open({ scale: WHOLE });
  await hideGuide(page);
  await type(page, `/kdebug ${ILL} --image=autodiagnose`);
  await openThread(page, ILL);
  await showLog(page);
  await camera.take(page, 'channel-with-result');
}

async function start(camera: Camera): Promise<void> {
  const page = await camera.open();
  await page.getByRole('region', { name: 'Guided start' }).waitFor();
  await camera.take(page, 'start');
}

async function approval(camera: Camera): Promise<void> {
  const page = await camera.open({ dark: true, scale: WHOLE });
  await page.getByRole('button', { name: /More than anyone may have alone/ }).click();
  await page.keyboard.press('Enter');
  const card = cardOf(page, 'neato-5x9k3');
  await card.getByRole('button', { name: 'Approve', exact: true }).waitFor(SLOW);
  await become(page, 'Bob');
  await showLog(page);
  await camera.take(page, 'approval');
}

async function clusterPane(camera: Camera): Promise<void> {
  const page = await camera.open({ size: { width: 1600, height: 900 } });
  await showLog(page);
  await camera.take(page, 'cluster', page.getByRole('complementary', { name: 'Cluster' }));
  await page.context().close();
}

async function form(camera: Camera): Promise<void> {
  const page = await camera.open({ size: { width: 1100, height: 760 } });
  await hideGuide(page);
  await type(page, 'ALERT PodSlow pod=search-slow-0 namespace=shop');
  const alert = cardOf(page, 'ALERT');
  await alert.hover();
  await alert.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name: 'Debug a pod' }).click();
  const dialog = page.getByRole('dialog', { name: 'Debug a pod' });
  await dialog.getByRole('textbox', { name: 'Pod', exact: true }).fill('Search Slow');
  await dialog.getByRole('button', { name: 'Debug', exact: true }).click();
  await dialog.locator('.field-error').first().waitFor();
  await camera.take(page, 'form');
}

async function narrow(camera: Camera): Promise<void> {
  const page = await camera.open({ size: { width: 360, height: 740 }, dark: true });
  await hideGuide(page);
  await openThread(page, ILL);
  const result = page.getByRole('complementary', { name: 'Thread' }).getByRole('article').nth(1);
  await result.evaluate((article) => article.scrollIntoView({ block: 'start' }));
  await camera.take(page, 'narrow');
}

/** Ginger's batch, slow enough to be seen at work, and with its result. */
async function batch(camera: Camera): Promise<void> {
  const running = await camera.open({ scale: WHOLE });
  await hideGuide(running);
  await become(running, 'Ginger');
  await type(running, '/kdebug --all -n shop --image=security-audit --parallelism=2 -- /security-audit.sh');
  const card = cardOf(running, 'security-audit');
  await card
    .getByText(/[1-9]\d* of \d+/)
    .first()
    .waitFor(SLOW);
  await camera.take(running, 'batch-running');
  const done = await camera.open({ size: { width: 1640, height: 760 }, scale: 0.68 });
  await hideGuide(done);
  const ended = cardOf(done, 'security-audit');
  await ended.getByRole('button', { name: /Retry \d+ failed/ }).waitFor(SLOW);
  await ended.getByRole('button', { name: /repl(y|ies)/ }).click();
  await done.getByRole('complementary', { name: 'Thread' }).locator('.file-lines').first().waitFor(SLOW);
  await camera.take(done, 'batch-done');
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
    for (const picture of [start, resultInThread, approval, clusterPane, narrow, batch, form]) await picture(camera);
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
