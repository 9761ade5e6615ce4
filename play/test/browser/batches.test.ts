import { expect, it } from 'vitest';
import { become, clusterOf, messagesOf, threadOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

describePlay(
  'a batch in the browser',
  (browser, play) => {
    it('is one dashboard that lives, is paused and resumed with its buttons, and ends with groups and one file of all pods', async () => {
      const page = await browser.page(play.url);
      await become(page, 'Ginger');
      await type(page, '/kdebug --all -n shop --image=security-audit --parallelism=1 -- /security-audit.sh');
      const card = messagesOf(page).getByRole('article').filter({ hasText: 'security-audit' }).last();

      await card.getByRole('button', { name: 'Pause', exact: true }).click();
      await card.getByRole('button', { name: 'Resume', exact: true }).waitFor();
      expect(await card.textContent()).toMatch(/\d+ succeeded.*\d+ failed/s);
      expect(await card.textContent()).toContain('Paused');
      const debugged = clusterOf(page).getByRole('button', { name: /kdebug-.*debug/ });
      expect(await debugged.count()).toBeLessThan(8);

      await card.getByRole('button', { name: 'Change size' }).click();
      const form = page.getByRole('dialog');
      await form.getByRole('spinbutton').or(form.getByRole('textbox')).first().fill('4');
      await form.locator('button[type=submit]').click();
      await form.waitFor({ state: 'detached' });
      await card.getByRole('button', { name: 'Resume', exact: true }).click();

      await card
        .getByText(/on 9 pods in shop: 7 runs succeeded, 2 failed/)
        .first()
        .waitFor();
      await card
        .getByText(/In 2 pods the run failed, exit code 1/)
        .first()
        .waitFor();
      expect(await messagesOf(page).getByRole('article').filter({ hasText: 'security-audit.sh' }).count()).toBe(1);
      expect(await debugged.count()).toBe(9);
      await card.getByRole('button', { name: /repl(y|ies)/ }).click();
      const file = threadOf(page)
        .getByRole('region', { name: /^File / })
        .first();
      await file.locator('.file-lines').waitFor();
      expect(await file.textContent()).toContain('PartiallySucceeded');
      expect(await card.getByRole('button', { name: 'Retry 2 failed' }).count()).toBe(1);
    });
  },
  { inSample: true },
);
