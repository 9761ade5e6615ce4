import type { Locator } from 'playwright-core';
import { expect, it } from 'vitest';
import { choose, clusterOf, messagesOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

describePlay('trouble in the browser', (browser, play) => {
  it('makes each thing worse that the menu offers, and shows what becomes of it', async () => {
    const page = await browser.page(play.url);
    const podOf = (name: string): Locator => clusterOf(page).getByRole('article', { name: `Pod ${name}` });
    const hurt = async (title: string, pod: string): Promise<void> => {
      await choose(page, 'Make it worse', title);
      const where = page.getByRole('dialog', { name: title });
      await where.getByRole('combobox', { name: 'Pod' }).selectOption(`shop/${pod}`);
      await where.getByRole('button', { name: title }).click();
      await where.waitFor({ state: 'detached' });
    };
    await hurt('Kill the container', 'cart-leaky-0');
    await hurt('Kill it for memory', 'search-slow-0');
    await hurt('Delete the pod', 'payments-sockets-0');
    await hurt('Roll out a wrong image', 'neato-5x9k3');
    for (const pod of ['cart-leaky-0', 'search-slow-0'])
      await podOf(pod).getByText('restarts').waitFor({ state: 'attached' });
    await podOf('neato-5x9k3')
      .getByText(/ImagePull/)
      .first()
      .waitFor();

    await clusterOf(page).getByRole('tab', { name: 'Events' }).click();
    const events = clusterOf(page).getByRole('tabpanel');
    for (const [reason, pod] of [
      ['Killing', 'payments-sockets-0'],
      ['Failed', 'neato-5x9k3'],
      ['Started', 'cart-leaky-0'],
    ] as const)
      await events.getByRole('listitem').filter({ hasText: reason }).filter({ hasText: pod }).first().waitFor();
    // It came back: the new pod has events of its own.
    const starts = events
      .getByRole('listitem')
      .filter({ hasText: 'Started' })
      .filter({ hasText: 'payments-sockets-0' });
    await starts.nth(1).waitFor();

    await choose(page, 'Make it worse', 'Node away');
    await clusterOf(page).getByText('Now: Node away').waitFor();
    await type(page, '/kdebug pod-1234');
    const answer = messagesOf(page).getByRole('article').filter({ hasText: 'pod-1234: the pod’s node' });
    await answer.filter({ hasText: 'No container was added' }).waitFor();
    await type(page, '/kdebug pod-1234 --image=debian -- cat /etc/os-release');
    const waiting = messagesOf(page).getByRole('article').filter({ hasText: 'Starting' });
    await waiting.waitFor();

    await choose(page, 'Make it worse', 'Kubernetes API slow');
    await clusterOf(page).getByText('Now: Node away, Kubernetes API slow').waitFor();
    const asked = performance.now();
    await type(page, '/kdebug nginx-pod-1234 --dry-run');
    await messagesOf(page).getByText('Only visible to you').waitFor();
    expect(performance.now() - asked).toBeGreaterThan(2_000);
    await choose(page, 'Make it worse', 'End: Kubernetes API slow');
    expect(await waiting.count()).toBe(1);
    await choose(page, 'Make it worse', 'End: Node away');
    await clusterOf(page).getByText('Now: ').waitFor({ state: 'detached' });
    // The node is back: the run that waited for it comes to its end.
    const done = messagesOf(page).getByRole('article').filter({ hasText: 'Run again' });
    await done.filter({ hasText: /pod-1234: Succeeded/ }).waitFor();
  });

  it('makes each trouble for Slack that the menu offers: the answer still comes, once', async () => {
    const page = await browser.page(play.url);
    for (const [trouble, pod, seen] of [
      ['Rate limit (429)', 'neato-5thn0', /Slack.*chat\.\w+.*(429|ratelimited)/],
      ['Slack fails (503)', 'nginx-pod-1234', /Slack.*chat\.\w+.*503/],
      ['Drop after commit', 'cart-leaky-0', /Slack.*chat\.postMessage.*reset_after_commit/],
    ] as const) {
      const before = await messagesOf(page).getByRole('article').count();
      await choose(page, 'Slack trouble', trouble);
      await clusterOf(page).getByText(`${trouble}.`).waitFor();
      await type(page, `/kdebug ${pod} --image=debian -- cat /etc/os-release`);
      const card = messagesOf(page).getByRole('article').filter({ hasText: pod }).last();
      await clusterOf(page)
        .getByRole('tab', { name: /Requests/ })
        .click();
      await clusterOf(page).getByRole('button', { name: seen }).first().waitFor();
      await expect.poll(() => card.textContent()).toMatch(/Succeeded/);
      await card.getByRole('button', { name: /1 reply/ }).waitFor();
      expect(await messagesOf(page).getByRole('article').count()).toBe(before + 1);
    }
  });

  it('opens each request to Slack and to the cluster as JSON, without a token in it', async () => {
    const page = await browser.page(play.url);
    await clusterOf(page)
      .getByRole('tab', { name: /Requests/ })
      .click();
    for (const [filter, line, word] of [
      ['To Slack', /chat\.postMessage/, '"channel"'],
      ['To Kubernetes', /PATCH.*ephemeralcontainers/, '"ephemeralContainers"'],
    ] as const) {
      await clusterOf(page).getByRole('radio', { name: filter }).check();
      const lines = clusterOf(page).getByRole('tabpanel').getByRole('listitem');
      await lines.filter({ hasText: line }).first().getByRole('button').click();
      const detail = page.getByRole('dialog', { name: line });
      for (const part of ['Request', 'Response'])
        await detail.getByRole('region', { name: part, exact: true }).getByText(/^\{/).waitFor();
      await detail.getByText(word).first().waitFor();
      expect(await detail.textContent()).not.toMatch(/xoxb-|xapp-|Bearer /);
      await page.keyboard.press('Escape');
      await detail.waitFor({ state: 'detached' });
    }
  });
});
