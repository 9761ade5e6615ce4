import { expect, it } from 'vitest';
import { messagesOf, type } from './support/play-page.ts';
import { describePlay } from './support/real-play.ts';

describePlay('describe in a workspace', (browser, play) => {
  it('tells one person what is wrong with a pod and what to do, and starts nothing', async () => {
    const page = await browser.page(play.url);
    const posts = () => play.stage.bed.slack.requests('chat.postMessage').length;
    const before = posts();
    const answers = messagesOf(page).getByRole('article', { name: /only visible to you/ });
    const crash = answers.filter({ hasText: 'ledger-crash-0' }).last();
    // The pod must have restarted once; the words come with the next look.
    const isWrong = async () => {
      await type(page, '/kdebug describe ledger-crash-0 -n shop');
      await crash.waitFor();
      return crash.innerText();
    };
    await expect
      .poll(isWrong, { interval: 3_000 })
      .toMatch(
        /shop\/ledger-crash-0: ledger exited with code 1, .*“ledger: panic: no such key: currency”\s+Correct what it complains of/,
      );
    const words = await crash.innerText();
    expect(words).toContain('What this channel may run here');
    expect(words).toMatch(/autodiagnose: allowed with .*\(rule look\)/);
    expect(words).toMatch(/any 1 of sre must approve sysadmin \(rule attach\), with a --reason/);
    expect(words).toMatch(/node .*, ready · Pod Security privileged/);
    expect(posts()).toBe(before);
  });

  it('shows the same for a pod in a namespace that the channel may not see and for one that does not exist', async () => {
    const page = await browser.page(play.url);
    const answers = messagesOf(page).getByRole('article', { name: /only visible to you/ });
    const answerOf = async (namespace: string): Promise<string> => {
      await type(page, `/kdebug describe web-9 -n ${namespace}`);
      const answer = answers.filter({ hasText: `in ${namespace} that` }).last();
      await answer.waitFor();
      return (await answer.innerText()).replaceAll(namespace, 'NS').replace(/\d+:\d+ [AP]M/, '');
    };
    expect(await answerOf('kube-system')).toBe(await answerOf('shop'));
  });
});
