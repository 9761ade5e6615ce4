import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from './support/browser.ts';
import { PageFixture } from './support/page-fixture.ts';
import { BOT, emptyWorld, fromBot, message, NOON, plain, pod, richText, SHOP } from './support/worlds.ts';

const words = (text: string) => [richText({ type: 'text', text })];

async function become(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /Switch person/ }).click();
  await page.getByRole('menuitemradio', { name }).click();
}

/** Roy's with the bot. */
const DIRECT = {
  id: 'D0ROY',
  name: 'U0ROY',
  kind: 'im' as const,
  is_archived: false,
  is_ext_shared: false,
  members: ['U0ROY', BOT],
  user: 'U0ROY',
};

describeInBrowser('the conversation', (browser) => {
  const fixture = new PageFixture(emptyWorld());
  beforeAll(() => fixture.start());
  afterAll(async () => {
    await fixture.stop();
    expect(browser.complaints).toEqual([]);
  });

  it('keeps 1,000 messages smooth: one change draws one message again', async () => {
    const messages = Array.from({ length: 1_000 }, (_, index) => fromBot(index, words(`message ${index}`)));
    fixture.reset(emptyWorld({ messages }));
    const begun = performance.now();
    const page = await browser.page(fixture.url);
    const last = page.locator('.message').last();
    await last.waitFor();
    console.log(
      `opened with 1,000 messages in ${Math.round(performance.now() - begun)} ms, the browser’s tab included`,
    );
    expect(await page.locator('.message').count()).toBe(1_000);
    expect(await last.isVisible()).toBe(true);
    // Marks every element, so that one which was made anew would show, and times each change from the page's hearing of it.
    await page.evaluate(`for (const one of document.querySelectorAll('.message')) one.isOld = true;
      window.redrawn = [];
      window.took = [];
      new MutationObserver((all) => {
        const rows = all.map(({ target }) => (target.nodeType === 1 ? target : target.parentElement)?.closest('.message'));
        if (!rows.some(Boolean)) return;
        window.redrawn.push(...new Set(rows.filter(Boolean).map((row) => row.dataset.ts)));
        window.took.push(performance.now() - window.heardAt);
      }).observe(document.querySelector('.list'), { subtree: true, childList: true, characterData: true });
      const parse = JSON.parse;
      JSON.parse = (text) => { window.heardAt = performance.now(); return parse(text); };`);
    const changed = Array.from({ length: 10 }, (_, index) => 500 + index);
    for (const second of changed) {
      fixture.tell({ kind: 'message', message: fromBot(second, words(`changed ${second}`), { revisions: 1 }) });
      await page.getByText(`changed ${second}`, { exact: true }).waitFor({ state: 'attached' });
    }
    expect(await page.evaluate('window.redrawn')).toEqual(changed.map((second) => `${NOON + second}.000100`));
    expect(await page.evaluate('[...document.querySelectorAll(".message")].every((one) => one.isOld)')).toBe(true);
    const took = String(await page.evaluate('window.took.map((one) => one.toFixed(0)).join(", ")'));
    console.log(`updates among 1,000 messages were drawn so many ms after they were heard: ${took}`);
  });

  it('stays at the end while messages come, and leaves a reader in peace who went up', async () => {
    fixture.reset(emptyWorld({ messages: Array.from({ length: 80 }, (_, index) => message(index * 400)) }));
    const page = await browser.page(fixture.url);
    fixture.tell({ kind: 'message', message: message(40_000, { text: 'the newest' }) });
    await page.getByText('the newest', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate(DISTANCE)).toBeLessThan(5);
    await page.locator('.list').hover();
    await page.mouse.wheel(0, -2_000);
    await expect.poll(() => page.evaluate(DISTANCE)).toBeGreaterThan(500);
    const before = await page.evaluate(POSITION);
    fixture.tell({ kind: 'message', message: message(40_400, { text: 'newer still' }) });
    await page.getByRole('button', { name: 'New messages' }).waitFor();
    expect(await page.evaluate(POSITION)).toBe(before);
    await page.getByRole('button', { name: 'New messages' }).click();
    await expect.poll(() => page.evaluate(DISTANCE)).toBeLessThan(5);
    expect(await page.getByRole('button', { name: 'New messages' }).count()).toBe(0);
  });

  it('goes to the end when one sends something, and stays there for its answer', async () => {
    fixture.reset(emptyWorld({ messages: Array.from({ length: 80 }, (_, index) => message(index * 400)) }));
    const page = await browser.page(fixture.url);
    await page.locator('.list').hover();
    await page.mouse.wheel(0, -2_000);
    await expect.poll(() => page.evaluate(DISTANCE)).toBeGreaterThan(500);
    await page.getByRole('combobox').fill('my own words');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(DISTANCE)).toBeLessThan(5);
    fixture.tell({ kind: 'message', message: message(40_000, { user: 'U0ROY', text: 'my own words' }) });
    fixture.tell({ kind: 'message', message: message(40_400, { text: 'an answer' }) });
    await page.getByText('an answer', { exact: true }).waitFor();
    await expect.poll(() => page.evaluate(DISTANCE)).toBeLessThan(5);
    expect(await page.getByRole('button', { name: 'New messages' }).count()).toBe(0);
  });

  it('opens a thread where its first new reply begins, when it does not fit', async () => {
    const long = (second: number) =>
      message(second, { threadTs: `${NOON + 1}.000100`, text: `reply ${second}\n${'line\n'.repeat(60)}` });
    fixture.reset(emptyWorld());
    const page = await browser.page(fixture.url);
    const said = [message(1, { text: 'the root' }), long(2), long(3)];
    fixture.tell(...said.map((each) => ({ kind: 'message' as const, message: each })));
    await page.getByRole('button', { name: /2 replies/ }).click();
    const thread = page.getByRole('complementary', { name: 'Thread' });
    const isSeen = (words: string) =>
      thread.getByText(words).evaluate((one) => {
        const list = one.closest('.list')?.getBoundingClientRect();
        const { top } = one.getBoundingClientRect();
        return list !== undefined && top >= list.top && top < list.bottom;
      });
    expect([await isSeen('reply 2'), await isSeen('reply 3')]).toEqual([true, false]);
    await thread.getByRole('combobox').fill('@kdebug help');
    await page.keyboard.press('Enter');
    const own = message(4, { threadTs: said[0]?.ts ?? '', user: 'U0ROY', text: 'my question' });
    fixture.tell({ kind: 'message', message: own });
    await thread.getByText('my question').waitFor();
    await expect.poll(() => isSeen('my question')).toBe(true);
  });

  it('tells private answers to one person only, and takes them away on request', async () => {
    const own = message(5, { text: 'for Roy’s eyes', visibleTo: 'U0ROY', user: BOT, botId: 'B1' });
    fixture.reset(emptyWorld({ messages: [message(1)], ephemerals: [own] }));
    const page = await browser.page(fixture.url);
    await page.getByText('for Roy’s eyes').waitFor();
    const note = page.getByText('Only visible to you');
    expect(await note.isVisible()).toBe(true);
    // Drawn, not written: not every machine has a font with an eye.
    expect(await note.locator('svg').isVisible()).toBe(true);
    await become(page, 'Bob');
    await page.getByRole('button', { name: 'You are Bob' }).waitFor();
    expect(await page.getByText('for Roy’s eyes').count()).toBe(0);
    await become(page, 'Roy');
    await page.getByRole('button', { name: 'Dismiss' }).click();
    expect(await page.getByText('for Roy’s eyes').count()).toBe(0);
  });

  it('marks what a person has not read: channels, direct messages, threads', async () => {
    const world = emptyWorld({ messages: [message(1, { text: 'the root' })] });
    fixture.reset({ ...world, team: { ...world.team, channels: { ...world.team.channels, D0ROY: DIRECT } } });
    const page = await browser.page(fixture.url);
    const rail = page.getByRole('navigation', { name: 'Workspace' });
    await rail.getByRole('button', { name: 'ops', exact: true }).waitFor();
    fixture.tell(
      { kind: 'message', message: message(10, { channel: 'C0OPS' }) },
      { kind: 'message', message: message(11, { channel: 'C0OPS' }) },
      { kind: 'message', message: message(12, { channel: 'D0ROY', user: BOT, botId: 'B1' }) },
      { kind: 'message', message: message(13, { threadTs: `${NOON + 1}.000100`, text: 'a reply' }) },
    );
    await rail.getByRole('button', { name: 'ops 2 unread' }).waitFor();
    await rail.getByRole('button', { name: /kdebug.*1 unread/ }).waitFor();
    const bar = page.getByRole('button', { name: /1 reply/ });
    await expect.poll(() => bar.textContent()).toContain('New');
    await bar.click();
    await page.getByRole('complementary', { name: 'Thread' }).getByText('a reply').waitFor();
    await expect.poll(() => bar.textContent()).not.toContain('New');
    const second = message(14, { threadTs: `${NOON + 1}.000100`, text: 'another reply' });
    fixture.tell({ kind: 'message', message: second });
    await page.getByRole('button', { name: /2 replies/ }).waitFor();
    await page.getByRole('complementary', { name: 'Thread' }).getByText('another reply').waitFor();
    await rail.getByRole('button', { name: 'ops 2 unread' }).click();
    await page.getByRole('main').getByText('New', { exact: true }).waitFor();
    await rail.getByRole('button', { name: 'shop-oncall' }).click();
    await rail.getByRole('button', { name: 'ops', exact: true }).waitFor();
  });

  it('completes commands, flags, values, pods and mentions, and brings back what was sent', async () => {
    fixture.reset(emptyWorld());
    const page = await browser.page(fixture.url);
    const composer = page.getByRole('combobox', { name: 'Message #shop-oncall' });
    const options = async () => page.getByRole('listbox').getByRole('option').locator('code').allTextContents();
    await composer.pressSequentially('/kd');
    expect(await options()).toEqual(['/kdebug']);
    await page.keyboard.press('Tab');
    expect(await composer.inputValue()).toBe('/kdebug ');
    await composer.pressSequentially('po');
    expect(await options()).toEqual(['pod-1234']);
    await page.keyboard.press('ArrowDown');
    expect(await composer.getAttribute('aria-activedescendant')).not.toBeNull();
    await page.keyboard.press('Enter');
    await composer.pressSequentially('--im');
    await page.keyboard.press('Tab');
    expect(await options()).toEqual(['autodiagnose', 'debian']);
    await composer.pressSequentially('a');
    await page.keyboard.press('Tab');
    await composer.pressSequentially('-n v');
    await page.keyboard.press('Tab');
    expect(await composer.inputValue()).toBe('/kdebug pod-1234 --image=autodiagnose -n vault ');
    await composer.pressSequentially('--pro');
    await page.keyboard.press('Escape');
    expect(await page.getByRole('listbox').count()).toBe(0);
    await page.keyboard.press('Shift+Enter');
    await composer.pressSequentially('x');
    expect(await composer.inputValue()).toMatch(/--pro\nx$/);
    await page.keyboard.press('Enter');
    await composer.pressSequentially('second');
    await page.keyboard.press('Enter');
    await expect.poll(() => fixture.deeds.length).toBe(2);
    await page.keyboard.press('ArrowUp');
    expect(await composer.inputValue()).toBe('second');
    await page.keyboard.press('ArrowUp');
    expect(await composer.inputValue()).toMatch(/^\/kdebug pod-1234/);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await composer.inputValue()).toBe('');
  });

  it('keeps the words when they could not be sent, and says why', async () => {
    fixture.reset(emptyWorld());
    fixture.answer = () => ({ ok: false, error: 'Join #other to write in it.' });
    const page = await browser.page(fixture.url);
    const composer = page.getByRole('combobox', { name: 'Message #shop-oncall' });
    await composer.fill('hello');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Join #other to write in it.').waitFor();
    await expect.poll(() => composer.inputValue()).toBe('hello');
  });

  it('reacts, replies in threads and offers the app’s shortcuts, by keyboard too', async () => {
    const reactions = [{ name: 'eyes', users: ['U0BOB'] }];
    fixture.reset(
      emptyWorld({
        messages: [message(1, { text: 'pod=web-1 is slow', reactions, edited: { user: 'U0BOB', ts: '2' } })],
      }),
    );
    const page = await browser.page(fixture.url);
    expect(await page.getByText('(edited)').count()).toBe(1);
    await page.getByRole('button', { name: 'eyes: Bob' }).click();
    await page.getByRole('region', { name: 'Messages in #shop-oncall' }).focus();
    await page.keyboard.press('ArrowUp');
    await page.getByRole('toolbar', { name: 'Message actions' }).waitFor();
    await page.getByRole('button', { name: 'React with white check mark' }).press('Enter');
    await page.getByRole('button', { name: 'More actions' }).press('Enter');
    await page.getByRole('menuitem', { name: 'Debug a pod' }).press('Enter');
    await page.getByRole('button', { name: 'Reply in thread' }).press('Enter');
    await page.getByRole('combobox', { name: 'Reply…' }).fill('@kdebug help');
    await page.keyboard.press('Enter');
    await expect.poll(() => fixture.deeds.length).toBe(4);
    const at = { user: 'U0ROY', channel: SHOP, ts: `${NOON + 1}.000100` };
    expect(fixture.deeds).toEqual([
      { kind: 'react', ...at, name: 'eyes' },
      { kind: 'react', ...at, name: 'white_check_mark' },
      { kind: 'shortcut', callbackId: 'debug-pod', ...at },
      { kind: 'type', user: 'U0ROY', channel: SHOP, text: '@kdebug help', threadTs: at.ts },
    ]);
  });

  it('shows a .png as a picture, and an .svg as a file, as Slack does', async () => {
    const png = { id: 'F0', name: 'cpu.png', title: 'The picture', size: 400, state: 'complete' as const };
    const svg = { id: 'F1', name: 'cpu.svg', title: 'The flame graph', size: 400, state: 'complete' as const };
    const text = { id: 'F2', name: 'cpu.folded', title: 'The stacks', size: 40, state: 'complete' as const };
    const files = [png, svg, text];
    fixture.reset(emptyWorld({ messages: [fromBot(1, words('result'), { files: ['F0', 'F1', 'F2'] })], files }));
    fixture.texts = { '/files/F1': '<svg xmlns="http://www.w3.org/2000/svg"/>', '/files/F2': 'main;loop 7' };
    const page = await browser.page(fixture.url);
    const card = page.getByRole('region', { name: 'File The picture' });
    expect(await card.locator('.file-picture').getAttribute('src')).toContain('/files/F0?picture');
    await page.getByRole('region', { name: 'File The stacks' }).getByText('main;loop 7').waitFor();
    expect(await page.getByRole('region', { name: 'File The flame graph' }).locator('.file-picture').count()).toBe(0);
    await card.getByRole('button', { name: 'View' }).click();
    await page.getByRole('dialog').getByRole('img', { name: 'The picture' }).waitFor({ state: 'attached' });
  });

  it('shows a file in a direct message to that person alone', async () => {
    const file = {
      id: 'F1',
      name: 'kdebug-a.capture.pcap',
      title: 'The packets',
      size: 40,
      state: 'complete' as const,
    };
    const world = emptyWorld();
    const team = { ...world.team, channels: { ...world.team.channels, D0ROY: DIRECT } };
    const sent = fromBot(1, words('your packets'), { channel: DIRECT.id, files: ['F1'] });
    fixture.reset(emptyWorld({ team, messages: [sent], files: [file] }));
    const page = await browser.page(fixture.url);
    const kdebug = page.getByRole('navigation', { name: 'Workspace' }).getByRole('button', { name: /^kdebug/ });
    await kdebug.click();
    const messages = page.getByRole('button', { name: 'Messages', exact: true });
    if (await messages.isVisible()) await messages.click();
    await page.getByRole('region', { name: 'File The packets' }).waitFor();
    await become(page, 'Bob');
    await kdebug.click();
    expect(await page.getByText('The packets').count()).toBe(0);
  });

  it('shows a file’s beginning and offers all of it', async () => {
    const file = { id: 'F1', name: 'log.txt', title: 'Log <b>of</b> a run', size: 1_234, state: 'complete' as const };
    fixture.reset(emptyWorld({ messages: [fromBot(1, words('result'), { files: ['F1'] })], files: [file] }));
    const page = await browser.page(fixture.url);
    const card = page.getByRole('region', { name: 'File Log <b>of</b> a run' });
    await card.getByText('line 1 <b>of</b> the file').waitFor();
    expect(await card.getByText('line 20').count()).toBe(0);
    await card.getByRole('button', { name: 'View' }).click();
    await page.getByRole('dialog').getByText('line 20 <b>of</b> the file').waitFor();
    await page.keyboard.press('Escape');
    const downloads = page.waitForEvent('download');
    await card.getByRole('link', { name: 'Download' }).click();
    expect((await downloads).suggestedFilename()).toBe('log.txt');
  });

  it('says that the server is away, and is whole again when it is back', async () => {
    fixture.reset(emptyWorld({ messages: [message(1, { text: 'before' })] }));
    const page = await browser.page(fixture.url);
    await page.getByText('before', { exact: true }).waitFor();
    await fixture.stop();
    await page.getByText('The server is away; trying again').waitFor();
    expect(await page.getByText('before', { exact: true }).isVisible()).toBe(true);
    fixture.snapshot = {
      ...fixture.snapshot,
      messages: [message(1, { text: 'before' }), message(2, { text: 'meanwhile' })],
      pods: [pod('new-pod')],
    };
    await fixture.start();
    await page.getByText('meanwhile', { exact: true }).waitFor();
    await page.getByText('new-pod').waitFor();
    await page.getByText('The server is away').waitFor({ state: 'hidden' });
  });

  it('keeps person, place, thread, words and theme over a reload', async () => {
    const root = message(1, { channel: 'C0OPS', text: 'the root' });
    const reply = message(2, { channel: 'C0OPS', text: 'the reply', threadTs: root.ts });
    fixture.reset(emptyWorld({ messages: [root, reply] }));
    const page = await browser.page(fixture.url);
    await become(page, 'Bob');
    await page.getByRole('button', { name: 'ops' }).click();
    await page.getByRole('button', { name: /1 reply/ }).click();
    await page.getByRole('combobox', { name: 'Reply…' }).fill('half a sentence');
    await page.getByRole('button', { name: 'Switch to dark theme' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'You are Bob' }).waitFor();
    await page.getByRole('complementary', { name: 'Thread' }).getByText('the reply').waitFor();
    expect(await page.getByRole('combobox', { name: 'Reply…' }).inputValue()).toBe('half a sentence');
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
    // Another start of the server is another world: what was open there is forgotten.
    fixture.snapshot = { ...fixture.snapshot, world: 'another' };
    await page.reload();
    await page.getByRole('button', { name: 'You are Roy' }).waitFor();
  });

  it('says so when the cluster is a real one, and offers only what it can do there', async () => {
    const trouble = { watch: 'See it cope.', needsPod: false, lasts: false };
    const troubles = [{ id: 's', where: 'slack' as const, title: 'Rate limit (429)', ...trouble }];
    fixture.reset(emptyWorld({ isRealCluster: true, examples: [], troubles }));
    const page = await browser.page(fixture.url);
    const cluster = page.getByRole('complementary', { name: 'Cluster' });
    await cluster.getByText('This is a real cluster: it is left alone').waitFor();
    expect(await page.getByRole('button', { name: 'Make it worse' }).count()).toBe(0);
    expect(await page.getByRole('region', { name: 'Guided start' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Slack trouble' }).click();
    await page.getByRole('menuitem', { name: /Rate limit/ }).waitFor();
  });

  it('announces new messages to a screen reader, and not their updates', async () => {
    fixture.reset(emptyWorld({ messages: [message(1)] }));
    const page = await browser.page(fixture.url);
    const heard = page.locator('[aria-live="polite"]').first();
    fixture.tell({
      kind: 'message',
      message: fromBot(5, [{ type: 'header', block_id: 'h', text: plain('x') }], { text: 'Started' }),
    });
    await expect.poll(() => heard.textContent()).toBe('kdebug: Started');
    fixture.tell({ kind: 'message', message: fromBot(5, words('Done now'), { text: 'Done' }) });
    await page.getByText('Done now').waitFor();
    expect(await heard.textContent()).toBe('kdebug: Started');
  });
});

const LIST = 'document.querySelector(".list")';
const POSITION = `${LIST}.scrollTop`;
const DISTANCE = `${LIST}.scrollHeight - ${LIST}.scrollTop - ${LIST}.clientHeight`;
