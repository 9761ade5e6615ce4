import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from './support/browser.ts';
import { RealPlay } from './support/real-play.ts';

const messagesOf = (page: Page): Locator => page.getByRole('region', { name: 'Messages in #shop-oncall' });
const threadOf = (page: Page): Locator => page.getByRole('complementary', { name: 'Thread' });
const clusterOf = (page: Page): Locator => page.getByRole('complementary', { name: 'Cluster' });

async function become(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /Switch person/ }).click();
  await page.getByRole('menuitemradio', { name }).click();
  await page.getByRole('button', { name: `You are ${name}` }).waitFor();
}

async function type(page: Page, words: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Message #shop-oncall' }).fill(words);
  await page.keyboard.press('Enter');
}

async function choose(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole('button', { name: menu }).click();
  await page.getByRole('menuitem', { name: item }).click();
}

/** A run takes seconds: the local kubelet is as slow as a real one. */
const SLOW = 60_000;

describeInBrowser('play in the browser', (browser) => {
  const play = new RealPlay();
  beforeAll(() => play.start());
  afterAll(async () => {
    await play.stop();
    expect(browser.complaints).toEqual([]);
  });

  it(
    'takes the main job as it is typed, shows the cluster at work, and the result in the thread',
    async () => {
      const page = await browser.page(play.url);
      const cards = page
        .getByRole('region', { name: 'Guided start' })
        .getByRole('button', { name: /Roy|Jonas|Thurston|Ginger|Guest/ });
      expect(await cards.count()).toBe(5);
      await type(page, '/kdebug pod-1234 --image=autodiagnose');
      const pod = clusterOf(page).getByRole('article', { name: 'Pod pod-1234' });
      const container = pod.getByRole('button', { name: /kdebug-.*debug/ });
      await container.waitFor({ timeout: SLOW });
      await expect.poll(() => container.getAttribute('aria-pressed')).toBe('true');
      const card = messagesOf(page).getByRole('article').filter({ hasText: 'pod-1234' }).last();
      await card
        .getByText(/Succeeded|found/)
        .first()
        .waitFor({ timeout: SLOW });
      await expect
        .poll(() => clusterOf(page).getByRole('region', { name: 'Log text' }).textContent(), { timeout: 15_000 })
        .toContain('end of the log');
      await card.getByRole('button', { name: /repl(y|ies)/ }).click();
      const result = threadOf(page);
      await result.getByText('Exit code').first().waitFor();

      const file = result.getByRole('region', { name: /^File / });
      await file.locator('.file-lines').waitFor();
      const downloads = page.waitForEvent('download');
      await file.getByRole('link', { name: 'Download' }).click();
      const whole = readFileSync(await (await downloads).path(), 'utf8');
      await expect
        .poll(async () => whole.startsWith(((await file.locator('.file-lines').textContent()) ?? 'x').slice(0, 200)))
        .toBe(true);
    },
    SLOW,
  );

  it(
    'lets one ask and another approve: the card says who and when, the thread has the result',
    async () => {
      const page = await browser.page(play.url);
      await page.getByRole('button', { name: /More than anyone may have alone/ }).click();
      await page.getByRole('button', { name: 'You are Thurston' }).waitFor();
      await page.keyboard.press('Enter');
      const card = messagesOf(page).getByRole('article').filter({ hasText: 'neato-5x9k3' }).last();
      await card.getByRole('button', { name: 'Approve', exact: true }).waitFor();

      await become(page, 'Ginger');
      await card.getByRole('button', { name: 'Approve', exact: true }).click();
      await messagesOf(page).getByText('Only visible to you').waitFor();
      const refused = messagesOf(page).getByRole('article', { name: /only visible to you/ });
      expect(await refused.textContent()).toMatch(/approv/i);

      await become(page, 'Bob');
      expect(await messagesOf(page).getByText('Only visible to you').count()).toBe(0);
      await card.getByRole('button', { name: 'Approve', exact: true }).click();
      await card.getByText(/Approved by/).waitFor();
      expect(await card.textContent()).toMatch(/Approved by\s*@Bob/);
      expect(await card.locator('time').count()).toBeGreaterThan(1);
      await card
        .getByText(/Succeeded/)
        .first()
        .waitFor({ timeout: SLOW });
      await card.getByRole('button', { name: /repl(y|ies)/ }).click();
      await threadOf(page).getByText('Exit code').first().waitFor();
    },
    SLOW,
  );

  it(
    'opens the form on a message that names a pod, complains beside a field, and runs what was filled in',
    async () => {
      const page = await browser.page(play.url);
      await type(page, 'ALERT pod=nginx-pod-1234 namespace=shop is slow');
      const alert = messagesOf(page).getByRole('article').filter({ hasText: 'ALERT' });
      await alert.hover();
      await alert.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Debug a pod' }).click();
      const form = page.getByRole('dialog', { name: 'Debug a pod' });
      const pod = form.getByRole('textbox', { name: 'Pod', exact: true });
      expect(await pod.inputValue()).toBe('nginx-pod-1234');
      expect(await form.getByRole('textbox', { name: /Namespace/ }).inputValue()).toBe('shop');
      await pod.fill('Not A Pod!');
      await form.getByRole('button', { name: 'Debug', exact: true }).click();
      await expect.poll(() => form.locator('.field-error').count()).toBeGreaterThan(0);
      expect(await pod.getAttribute('aria-invalid')).toBe('true');
      await pod.fill('nginx-pod-1234');
      await form.getByRole('button', { name: 'Debug', exact: true }).click();
      await form.waitFor({ state: 'detached' });
      await clusterOf(page)
        .getByRole('article', { name: 'Pod nginx-pod-1234' })
        .getByRole('button', { name: /kdebug-/ })
        .first()
        .waitFor({ timeout: SLOW });
    },
    SLOW,
  );

  it('answers a guest privately, and a mention in a thread in that thread', async () => {
    const page = await browser.page(play.url);
    await page.getByRole('button', { name: /Somebody who may not/ }).click();
    await page.getByRole('button', { name: 'You are Guest' }).waitFor();
    await page.keyboard.press('Enter');
    await messagesOf(page).getByText('Only visible to you').waitFor();

    await become(page, 'Jonas');
    await type(page, 'who looks at this?');
    const question = messagesOf(page).getByRole('article').filter({ hasText: 'who looks at this?' });
    await question.hover();
    await question.getByRole('button', { name: 'Reply in thread' }).click();
    await page.getByRole('combobox', { name: 'Reply…' }).fill('@kdebug list');
    await page.keyboard.press('Enter');
    await threadOf(page).getByText('@kdebug').waitFor();
    await threadOf(page)
      .getByRole('article', { name: /^kdebug, / })
      .first()
      .waitFor();
  });

  it(
    'makes things worse on request, and shows what the bot said to Slack and to the cluster',
    async () => {
      const page = await browser.page(play.url);
      await choose(page, 'Make it worse', 'Kill the container');
      const where = page.getByRole('dialog', { name: 'Kill the container' });
      await where.getByRole('combobox', { name: 'Pod' }).selectOption('shop/cart-leaky-0');
      await where.getByRole('button', { name: 'Kill the container' }).click();
      await clusterOf(page)
        .getByRole('article', { name: 'Pod cart-leaky-0' })
        .getByText('restarts')
        .waitFor({ state: 'attached', timeout: SLOW });

      await choose(page, 'Make it worse', 'Kubernetes API slow');
      await clusterOf(page).getByText('Now: Kubernetes API slow').waitFor();
      await choose(page, 'Make it worse', 'End: Kubernetes API slow');
      await clusterOf(page).getByText('Now: Kubernetes API slow').waitFor({ state: 'detached' });

      await choose(page, 'Slack trouble', 'Rate limit (429)');
      await type(page, '/kdebug neato-5thn0 --image=debian --target=neato -- cat /proc/1/root/etc/resolv.conf');
      await clusterOf(page)
        .getByRole('tab', { name: /Requests/ })
        .click();
      const limited = clusterOf(page).getByRole('button', { name: /Slack.*chat\.\w+.*(429|ratelimited)/ });
      await limited.first().waitFor({ timeout: SLOW });
      await clusterOf(page).getByRole('radio', { name: 'To Kubernetes' }).check();
      const patch = clusterOf(page)
        .getByRole('button', { name: /PATCH.*ephemeralcontainers/ })
        .first();
      await patch.waitFor({ timeout: SLOW });
      await patch.click();
      const detail = page.getByRole('dialog', { name: /ephemeralcontainers/ });
      await detail.getByText('"ephemeralContainers"').first().waitFor();
      expect(await detail.textContent()).not.toMatch(/xoxb-|Bearer /);
      await page.keyboard.press('Escape');
      await detail.waitFor({ state: 'detached' });

      await clusterOf(page).getByRole('tab', { name: 'Events' }).click();
      await clusterOf(page).getByText('cart-leaky-0').first().waitFor();
    },
    SLOW,
  );

  it(
    'is there again after a reload, with everything said',
    async () => {
      const page = await browser.page(play.url);
      await become(page, 'Bob');
      // The newest: the one before this was held up by the rate limit.
      await messagesOf(page).getByRole('article').filter({ hasText: 'neato-5thn0' }).first().waitFor({ timeout: SLOW });
      const before = await messagesOf(page).getByRole('article').count();
      expect(before).toBeGreaterThan(3);
      await page.reload();
      await page.getByRole('button', { name: 'You are Bob' }).waitFor();
      await expect.poll(() => messagesOf(page).getByRole('article').count()).toBe(before);
    },
    SLOW,
  );
});
