import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { EXAMPLES } from '../../app/examples.ts';
import { become, clusterOf, messagesOf, threadOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

describePlay(
  'play in the browser',
  (browser, play) => {
    it('takes the main job as it is typed, shows the cluster at work, and the result in the thread', async () => {
      const page = await browser.page(play.url);
      const cards = page
        .getByRole('region', { name: 'Guided start' })
        .getByRole('button', { name: /Roy|Jonas|Thurston|Ginger|Guest/ });
      expect(await cards.count()).toBe(EXAMPLES.length);
      await type(page, '/kdebug pod-1234 --image=autodiagnose');
      const pod = clusterOf(page).getByRole('article', { name: 'Pod pod-1234' });
      const container = pod.getByRole('button', { name: /kdebug-.*debug/ });
      await container.waitFor();
      await expect.poll(() => container.getAttribute('aria-pressed')).toBe('true');
      const card = messagesOf(page).getByRole('article').filter({ hasText: 'pod-1234' }).last();
      await card
        .getByText(/150 sockets/)
        .first()
        .waitFor();
      await expect
        .poll(() => clusterOf(page).getByRole('region', { name: 'Log text' }).textContent())
        .toMatch(/autodiagnose, run[\s\S]*memory[\s\S]*end of the log/);
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
    });

    it('lets one ask and another approve: the card says who and when, the thread has the result', async () => {
      const page = await browser.page(play.url);
      await page.getByRole('button', { name: /More than anyone may have alone/ }).click();
      await page.getByRole('button', { name: 'You are Thurston' }).waitFor();
      await page.keyboard.press('Enter');
      const card = messagesOf(page).getByRole('article').filter({ hasText: 'neato-5x9k3' }).last();
      await card.getByRole('button', { name: /^Approve (?!for )/ }).waitFor();

      await become(page, 'Ginger');
      await card.getByRole('button', { name: /^Approve (?!for )/ }).click();
      await messagesOf(page).getByText('Only visible to you').waitFor();
      const refused = messagesOf(page).getByRole('article', { name: /only visible to you/ });
      expect(await refused.textContent()).toMatch(/approv/i);

      await become(page, 'Bob');
      expect(await messagesOf(page).getByText('Only visible to you').count()).toBe(0);
      await card.getByRole('button', { name: /^Approve (?!for )/ }).click();
      await card.getByText(/Approved by/).waitFor();
      expect(await card.textContent()).toMatch(/Approved by\s*@Bob/);
      expect(await card.locator('time').count()).toBeGreaterThan(1);
      await card
        .getByText(/Succeeded/)
        .first()
        .waitFor();
      await card.getByRole('button', { name: /repl(y|ies)/ }).click();
      await threadOf(page).getByText('Exit code').first().waitFor();
    });

    it('opens the form on a message that names a pod, complains beside a field, and runs what was filled in', async () => {
      const page = await browser.page(play.url);
      await type(page, 'ALERT pod=nginx-pod-1234 namespace=shop is slow');
      const alert = messagesOf(page).getByRole('article').filter({ hasText: 'ALERT' });
      await alert.hover();
      await alert.getByRole('button', { name: 'More actions' }).click();
      await page.getByRole('menuitem', { name: 'Debug a pod' }).click();
      const form = page.getByRole('dialog', { name: 'Debug a pod' });
      const pod = form.getByRole('combobox', { name: /^Pod/ });
      await form.getByText('Runs at once').waitFor();
      expect(await pod.inputValue()).toBe('nginx-pod-1234');
      expect(await form.getByRole('combobox', { name: /^Namespace/ }).inputValue()).toBe('shop');
      const timeout = form.getByRole('textbox', { name: /^Timeout/ });
      await timeout.fill('soon');
      await form.getByRole('button', { name: 'Debug', exact: true }).click();
      await expect.poll(() => form.locator('.field-error').count()).toBeGreaterThan(0);
      expect(await timeout.getAttribute('aria-invalid')).toBe('true');
      await timeout.fill('1m');
      await form.getByRole('button', { name: 'Debug', exact: true }).click();
      await form.waitFor({ state: 'detached' });
      await clusterOf(page)
        .getByRole('article', { name: 'Pod nginx-pod-1234' })
        .getByRole('button', { name: /kdebug-/ })
        .first()
        .waitFor();
    });

    it('fills the composer from each example, as the person of the story', async () => {
      const page = await browser.page(play.url);
      const guide = page.getByRole('region', { name: 'Guided start' });
      const { team } = play.stage.bed.slack;
      for (const { title, text, user, channel, then: next } of EXAMPLES) {
        const composer = page.getByRole('combobox', { name: `Message #${team.channels[channel]?.name}` });
        await guide.getByRole('button', { name: title }).click();
        const name = team.users[user]?.real_name ?? '';
        await page.getByRole('button', { name: `You are ${name}`, exact: false }).waitFor();
        expect(await composer.inputValue()).toBe(text);
        await expect.poll(() => composer.evaluate((one) => one.matches(':focus'))).toBe(true);
        await guide.getByText(next).waitFor();
        await guide.getByRole('button', { name: 'All examples' }).click();
      }
      await guide.getByRole('button', { name: 'Hide' }).click();
      await page.getByRole('button', { name: 'Examples' }).click();
      expect(await guide.isVisible()).toBe(true);
    });

    it('folds the examples once something else was sent, so that they do not cover its answer', async () => {
      const page = await browser.page(play.url);
      const guide = page.getByRole('region', { name: 'Guided start' });
      await guide.waitFor();
      await page.getByRole('combobox', { name: 'Message #shop-oncall' }).fill('/kdebug help');
      await page.keyboard.press('Enter');
      await guide.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Examples' }).click();
      await guide.waitFor();
    });

    it('answers in the direct message with the app', async () => {
      const page = await browser.page(play.url);
      await page
        .getByRole('navigation', { name: 'Workspace' })
        .getByRole('button', { name: /kdebug/ })
        .click();
      await page.getByRole('combobox', { name: 'Message kdebug' }).fill('/kdebug help');
      await page.keyboard.press('Enter');
      const messages = page.getByRole('region', { name: 'Messages in kdebug' });
      await messages.getByText('--image').first().waitFor();
      expect(await messages.getByText('Only visible to you').count()).toBe(0);
      expect(await messagesOf(page).count()).toBe(0);
    });

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

    it('is there again after a reload, with everything said', async () => {
      const page = await browser.page(play.url);
      await become(page, 'Bob');
      await messagesOf(page).getByRole('article').filter({ hasText: 'neato-5x9k3' }).first().waitFor();
      const before = await messagesOf(page).getByRole('article').count();
      expect(before).toBeGreaterThan(3);
      await page.reload();
      await page.getByRole('button', { name: 'You are Bob' }).waitFor();
      await expect.poll(() => messagesOf(page).getByRole('article').count()).toBe(before);
      expect(await page.locator('body').textContent()).not.toMatch(/\bundefined\b|\[object |\bNaN\b/);
    });
  },
  { inSample: true },
);
