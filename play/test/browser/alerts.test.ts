import type { Page } from 'playwright-core';
import { it } from 'vitest';
import { BACKOFFICE_PODS } from '../../cluster/index.ts';
import { choose, clusterOf, messagesOf, threadOf } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

describePlay('an alert in the browser', (browser, play) => {
  const fire = async (page: Page, title: string, pod: string): Promise<void> => {
    await choose(page, 'Make it worse', title);
    const where = page.getByRole('dialog', { name: title });
    await where.getByRole('combobox', { name: 'Pod' }).selectOption(pod);
    await where.getByRole('button', { name: title }).click();
    await where.waitFor({ state: 'detached' });
  };

  it('has a button, which brings the answer into its thread', async () => {
    const page = await browser.page(play.url);
    await fire(page, 'An alert fires', 'shop/nginx-pod-1234');
    const alert = messagesOf(page).getByRole('article').filter({ hasText: '[FIRING:1]' });
    await alert.getByRole('button', { name: 'Diagnose' }).click();
    await alert.getByRole('button', { name: /repl(y|ies)/ }).click();
    await threadOf(page).getByText('nginx-pod-1234').first().waitFor();
  });

  it('by itself brings a card with the answer, without a click, and says when it is over', async () => {
    const page = await browser.page(play.url);
    const mailer = BACKOFFICE_PODS.find(({ name }) => name?.startsWith('mailer-'))?.name;
    await fire(page, 'An alert looks by itself', `backoffice/${mailer}`);
    const card = messagesOf(page).getByRole('article').filter({ hasText: 'alert source play' });
    await card
      .getByText(/exited with code/)
      .first()
      .waitFor();
    await card.getByText(/firing, since/).waitFor();
    await clusterOf(page).getByText('Now: An alert looks by itself').waitFor();
    await choose(page, 'Make it worse', 'The alert resolves');
    await card.getByText(/resolved after/).waitFor();
    await card.getByRole('button', { name: /repl(y|ies)/ }).click();
    await threadOf(page)
      .getByText(/KubePodCrashLooping: .*resolved after/)
      .waitFor();
    await clusterOf(page).getByText('Now: ').waitFor({ state: 'detached' });
  });
});
