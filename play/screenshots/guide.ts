import type { Page } from 'playwright-core';
import {
  become,
  button,
  type Camera,
  cardOf,
  hideGuide,
  type Look,
  openThread,
  privateOf,
  SLOW,
  threadOf,
  type,
} from './camera.ts';

const ROOMY = { width: 1440, height: 1000 };
const PHONE = { width: 390, height: 780 };

/** Sharp enough for a part of the page, which a reader may look at closely. */
const CLOSE: Look = { size: ROOMY, scale: 1.5 };

async function opened(camera: Camera, person: string, look: Look = CLOSE): Promise<Page> {
  const page = await camera.open(look);
  await hideGuide(page);
  await become(page, person);
  return page;
}

const done = (page: Page): Promise<void> => page.context().close();

/** The thread of a diagnosis, and the pages behind the buttons of its card. */
export async function look(camera: Camera): Promise<void> {
  // With two findings the thread would be larger than a picture may be.
  const page = await opened(camera, 'Roy', { ...CLOSE, scale: 1.3 });
  await type(page, '/kdebug search-slow-0 --image=autodiagnose');
  const card = cardOf(page, 'search-slow-0');
  await openThread(page, card);
  await camera.take(page, 'guide-look', threadOf(page));
  await camera.take(page, 'guide-buttons', card);
  await button(card, 'Details').click();
  const details = page.getByRole('dialog', { name: /^Run / });
  await details.getByText('Pod uid').first().waitFor();
  await camera.take(page, 'guide-details', details);
  await button(details, 'Close').last().click();
  await details.waitFor({ state: 'detached' });
  await type(page, '/kdebug search-slow-0 --image=autodiagnose');
  const offer = privateOf(page, 'so nothing was started');
  await offer.waitFor(SLOW);
  await camera.take(page, 'guide-same-again', offer);
  await done(page);
}

/** What is said of a Job of which nothing runs any more. */
export async function answer(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Roy', { size: ROOMY, scale: 1.2 });
  await type(page, '/kdebug job/nightly-report -n backoffice');
  await openThread(page, cardOf(page, 'nightly-report'));
  await camera.take(page, 'guide-answer', threadOf(page));
  await done(page);
}

/** From a symptom to its cause: the button under a diagnosis, the stacks that it brings back, and a flame graph. */
export async function causes(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Roy', { size: { width: 1440, height: 1000 }, scale: 1.2 });
  await type(page, '/kdebug orders-stuck-0 --image=autodiagnose');
  await openThread(page, cardOf(page, 'orders-stuck-0'));
  const thread = threadOf(page);
  await camera.take(page, 'guide-leads', thread.getByRole('article').last());
  await button(thread, 'Get its stacks').last().click();
  const stacks = thread.getByRole('article').filter({ hasText: 'threads.txt' }).last();
  await stacks.locator('.file-lines').last().waitFor(SLOW);
  await stacks.evaluate((message) => message.scrollIntoView({ block: 'start' }));
  await camera.take(page, 'guide-stacks', thread);
  await type(page, '/kdebug search-slow-0 --image=profile');
  const card = cardOf(page, 'profile · shop');
  await button(card, 'Run again').waitFor(SLOW);
  await card.getByRole('button', { name: /repl(y|ies)/ }).click();
  const flame = threadOf(page).getByRole('article').filter({ hasText: 'cpu.png' }).last();
  await flame.locator('.file-picture').waitFor(SLOW);
  await flame.locator('.file-picture').evaluate((picture) => picture.scrollIntoView({ block: 'center' }));
  await camera.take(page, 'guide-flame', threadOf(page));
  await button(flame.getByRole('region', { name: /cpu\.png/ }), 'View').click();
  const view = page.getByRole('dialog');
  await view.locator('.file-picture-large').waitFor(SLOW);
  await camera.take(page, 'guide-flame-large', view);
  await done(page);
}

export async function compare(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Thurston');
  await type(page, '/kdebug compare neato-5x9k3 -n shop');
  const card = cardOf(page, 'Compared with');
  await card.waitFor(SLOW);
  await camera.take(page, 'guide-compare', card);
  await done(page);
}

export async function describe(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Roy', { size: ROOMY, scale: 0.85 });
  await type(page, '/kdebug describe ledger-crash-0 -n shop');
  const answer = privateOf(page, 'ledger-crash-0');
  await answer.waitFor(SLOW);
  await camera.take(page, 'guide-describe', answer);
  await done(page);
}

/** The form while a pod is picked, and what it says then. */
export async function form(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Jonas');
  await type(page, '/kdebug');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Pick a pod').waitFor(SLOW);
  const pod = dialog.getByRole('combobox', { name: /^Pod/ });
  await pod.click();
  await pod.pressSequentially('neato');
  await dialog.getByRole('option', { name: /neato-5x9k3/ }).waitFor(SLOW);
  await camera.take(page, 'guide-form-pick', dialog);
  await dialog.getByRole('option', { name: /neato-5x9k3/ }).click();
  await dialog.getByText('Runs at once').waitFor(SLOW);
  await dialog.getByLabel(/^Image/).selectOption('debugger');
  await dialog.getByRole('textbox', { name: /^Command/ }).fill('gdb -p 1 -batch -ex bt');
  await dialog.getByRole('textbox', { name: /^Reason/ }).fill('checkout hangs');
  await dialog.getByLabel(/^Profile/).selectOption('sysadmin');
  await dialog
    .getByText(/approv/)
    .first()
    .waitFor(SLOW);
  await camera.take(page, 'guide-form-decision', dialog);
  await button(dialog, 'Cancel').click();
  await done(page);
}

const ATTACH =
  '/kdebug neato-5x9k3 --image=debugger --profile=sysadmin --reason="checkout hangs" -- gdb -p 1 -batch -ex bt';

/** What waits for Bob: on his phone, and on the Home tab. */
export async function approval(camera: Camera): Promise<void> {
  const asking = await opened(camera, 'Thurston');
  await type(asking, ATTACH);
  await cardOf(asking, 'neato-5x9k3')
    .getByRole('button', { name: /^Approve (?!for )/ })
    .waitFor(SLOW);
  await done(asking);
  const page = await opened(camera, 'Bob', { ...CLOSE, scale: 1.25 });
  await page.setViewportSize(PHONE);
  const card = cardOf(page, 'neato-5x9k3');
  await card.evaluate((article) => article.scrollIntoView({ block: 'start' }));
  await camera.take(page, 'guide-approval');
  const home = await opened(camera, 'Bob', { size: { width: 1100, height: 860 }, scale: 1.25 });
  await home
    .getByRole('navigation', { name: 'Workspace' })
    .getByRole('button', { name: /^kdebug/ })
    .click();
  await button(home, 'Home').click();
  const tab = home.getByRole('region', { name: 'Home' });
  await tab.getByText('Waiting for your approval').waitFor(SLOW);
  await camera.take(home, 'guide-home', tab);
  await done(home);
}

export async function stop(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Ginger');
  await type(page, '/kdebug neato-5thn0 -n shop --image=debian -- sleep 600');
  const card = cardOf(page, 'sleep 600');
  await button(card, 'Stop').waitFor(SLOW);
  await card.getByText('Running').first().waitFor(SLOW);
  await camera.take(page, 'guide-stop', card);
  await button(card, 'Stop').click();
  await button(page.getByRole('alertdialog'), 'Stop it').click();
  await card.getByText('Stopped').first().waitFor(SLOW);
  await done(page);
}

/** The lookups, after some runs of other pictures. */
export async function lookups(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Roy', { ...CLOSE, scale: 1 });
  await type(page, '/kdebug payments-sockets-0 --image=autodiagnose');
  await button(cardOf(page, 'payments-sockets-0'), 'Run again').waitFor(SLOW);
  await type(page, '/kdebug list');
  const list = privateOf(page, 'in this channel');
  await list.waitFor(SLOW);
  await camera.take(page, 'guide-list', list);
  const codes = await list.locator('code').allTextContents();
  await type(page, `/kdebug logs ${codes.find((word) => /^[a-z2-7]{10}$/.test(word))} --grep=sockets`);
  const logs = privateOf(page, '“sockets”');
  await logs.waitFor(SLOW);
  await camera.take(page, 'guide-logs', logs);
  await done(page);
}

export async function batch(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Ginger');
  await type(page, '/kdebug --all -n shop --image=security-audit --parallelism=2 -- /security-audit.sh');
  const card = cardOf(page, 'security-audit');
  await card
    .getByText(/[1-9]\d* (of \d+|succeeded|done)/)
    .first()
    .waitFor(SLOW);
  await camera.take(page, 'guide-batch', card);
  await openThread(page, card);
  await done(page);
}

export async function welcome(camera: Camera): Promise<void> {
  const page = await opened(camera, 'Jonas');
  await page.getByRole('navigation', { name: 'Workspace' }).getByRole('button', { name: 'payments' }).click();
  await type(page, '/invite @kdebug', '#payments');
  const words = cardOf(page, 'kdebug is ready');
  await words.waitFor(SLOW);
  await camera.take(page, 'guide-welcome', words);
  await done(page);
}
