import { mkdirSync } from 'node:fs';
import { chromium, type Locator, type Page } from 'playwright-core';
import { openStage, type Stage } from './app/stage.ts';
import { startPage } from './page/server/page.ts';
import {
  become,
  Camera,
  cardOf,
  FOLDER,
  hideGuide,
  openThread,
  SLOW,
  threadOf,
  type,
  WHOLE,
} from './screenshots/camera.ts';
import * as guide from './screenshots/guide.ts';

/**
 * `npm run screenshots [-- PICTURE…]`: makes docs/images/*.png from the real play, in Debian's chromium; with names, only those.
 */
const logOf = (page: Page): Locator => page.getByRole('region', { name: 'Log text' });

const ILL = 'pod-1234';

/** The newest debug container's log, whole, from its first line. */
const showLog = async (page: Page): Promise<void> => {
  await logOf(page).getByText('end of the log').waitFor(SLOW);
  await logOf(page).evaluate((log) => log.scrollTo(0, 0));
};

async function resultInThread(camera: Camera): Promise<void> {
  const page = await camera.open({ scale: WHOLE });
  await hideGuide(page);
  await type(page, `/kdebug ${ILL} --image=autodiagnose`);
  await openThread(page, cardOf(page, ILL));
  await showLog(page);
  await camera.take(page, 'channel-with-result');
}

async function start(camera: Camera): Promise<void> {
  const page = await camera.open({ scale: WHOLE });
  await page.getByRole('region', { name: 'Guided start' }).waitFor();
  await camera.take(page, 'start');
}

async function approval(camera: Camera): Promise<void> {
  const page = await camera.open({ dark: true, scale: WHOLE });
  await page.getByRole('button', { name: /More than anyone may have alone/ }).click();
  await page.keyboard.press('Enter');
  const card = cardOf(page, 'neato-5x9k3');
  await card.getByRole('button', { name: /^Approve (?!for )/ }).waitFor(SLOW);
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
  await dialog.getByText('Runs at once').waitFor(SLOW);
  await dialog.getByRole('textbox', { name: /^Timeout/ }).fill('soon');
  await dialog.getByRole('button', { name: 'Debug', exact: true }).click();
  await dialog.locator('.field-error').first().waitFor();
  await camera.take(page, 'form');
}

async function narrow(camera: Camera): Promise<void> {
  const page = await camera.open({ size: { width: 360, height: 740 }, dark: true });
  await hideGuide(page);
  await openThread(page, cardOf(page, ILL));
  const result = threadOf(page).getByRole('article').nth(1);
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
    .getByText(/[1-9]\d* done/)
    .first()
    .waitFor(SLOW);
  await camera.take(running, 'batch-running');
  const done = await camera.open({ size: { width: 1640, height: 760 }, scale: 0.68 });
  await hideGuide(done);
  const ended = cardOf(done, 'security-audit');
  await openThread(done, ended);
  await camera.take(done, 'batch-done');
}

const PICTURES: Readonly<Record<string, (camera: Camera) => Promise<void>>> = {
  start,
  resultInThread,
  approval,
  clusterPane,
  narrow,
  batch,
  guideLook: guide.look,
  guideAnswer: guide.answer,
  guideCauses: guide.causes,
  guideCompare: guide.compare,
  guideDescribe: guide.describe,
  guideForm: guide.form,
  guideApproval: guide.approval,
  guideStop: guide.stop,
  guideLookups: guide.lookups,
  guideBatch: guide.batch,
  guideWelcome: guide.welcome,
  // Leaves its form open, which the next page of the same world would show.
  form,
};

const names = process.argv.slice(2);
const chosen = Object.entries(PICTURES).filter(([name]) => names.length === 0 || names.includes(name));

async function pictures(stage: Stage): Promise<void> {
  const { bed, cluster, examples } = stage;
  const page = await startPage({ ...bed, cluster, examples });
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-lcd-text'],
  });
  try {
    const camera = new Camera(browser, page.url);
    for (const [name, picture] of chosen) {
      await picture(camera).catch(async (error: unknown) => {
        process.exitCode = 1;
        for (const context of browser.contexts()) await context.close();
        console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
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
