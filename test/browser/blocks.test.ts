import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOSTILE } from '../adapters/slack/views/messages.ts';
import { describeInBrowser } from './support/browser.ts';
import { PageFixture } from './support/page-fixture.ts';
import { emptyWorld, fromBot, message, modalOf, NOON, plain, preformatted, richText } from './support/worlds.ts';

const MARKUP = [
  '<img src=x onerror="document.title=1"><script>document.title=1</script><a href="javascript:alert(1)">x</a>',
  '[x](javascript:alert(1)) ![i](http://evil.example/x.png) <iframe src=//evil.example>',
];
const CORPUS = [...HOSTILE.filter((text) => text.trim() !== '' && text.length < 5_000), ...MARKUP];

describeInBrowser('what the page draws', (browser) => {
  const fixture = new PageFixture(emptyWorld());
  beforeAll(() => fixture.start());
  afterAll(async () => {
    await fixture.stop();
    expect(browser.complaints).toEqual([]);
  });

  it('shows hostile text to the letter, wherever it stands', async () => {
    const blocks = (text: string) => [
      { type: 'header', block_id: 'h', text: plain(text) },
      { type: 'section', block_id: 's', text: plain(text), fields: [plain(text)] },
      richText({ type: 'text', text }, { type: 'text', text, style: { bold: true, code: true } }),
      preformatted(text),
      { type: 'context', block_id: 'c', elements: [plain(text)] },
    ];
    fixture.reset(emptyWorld({ messages: CORPUS.map((text, index) => fromBot(index, blocks(text))) }));
    const page = await browser.page(fixture.url);
    const rows = page.locator('.message');
    for (const [index, text] of CORPUS.entries()) {
      const row = rows.nth(index);
      const shown = (words: string): string =>
        Buffer.from(words).toString().replaceAll('\r\n', '\n').replaceAll('\u0000', '\uFFFD');
      expect(shown((await row.locator('pre').textContent()) ?? '')).toBe(shown(text));
      for (const place of [
        '.block-header',
        '.block-section-text > .plain',
        '.block-fields',
        '.block-context',
        '.rich code',
      ])
        expect(shown((await row.locator(place).first().textContent()) ?? ''), place).toBe(shown(text));
    }
    expect(await page.locator('.message').locator('a, img, iframe, script, .mention, b').count()).toBe(CORPUS.length);
    expect(await page.title()).toBe('kdebug play');
  });

  it('lets nobody write a link that leads into the page, in mrkdwn neither', async () => {
    const texts = MARKUP.concat(
      '<javascript:alert(1)|x> <http://a.example|fine> <mailto:a@b.example|mail> http://b.example/?q=1',
    );
    fixture.reset(
      emptyWorld({
        messages: [
          ...texts.map((text, index) => message(index, { text })),
          fromBot(50, [
            richText(
              { type: 'link', url: 'javascript:alert(1)', text: 'press me' },
              { type: 'link', url: 'https://c.example/', text: 'c' },
            ),
          ]),
          fromBot(60, [{ type: 'image', block_id: 'i', image_url: 'http://evil.example/x.png', alt_text: 'a chart' }]),
        ],
      }),
    );
    const page = await browser.page(fixture.url);
    const links = await page
      .locator('.list a')
      .evaluateAll((all) => all.map((one) => [one.getAttribute('href'), one.getAttribute('rel')]));
    expect(links.map(([href]) => href)).toEqual([
      'http://evil.example/x.png',
      'http://a.example/',
      'mailto:a@b.example',
      'http://b.example/?q=1',
      'https://c.example/',
      'http://evil.example/x.png',
    ]);
    expect(new Set(links.map(([, rel]) => rel))).toEqual(new Set(['noopener noreferrer']));
    expect(await page.locator('.list img').count()).toBe(0);
    expect(await page.getByText('press me').count()).toBe(1);
  });

  it('reads mrkdwn as Slack does: marks, mentions, groups, entities once', async () => {
    const text =
      '*bold* _slanted_ ~gone~ `code` <@U0ROY> <!subteam^S0SRE> <#C0OPS> &lt;b&gt; &amp;lt;\n> quoted\n```pre *x*```';
    fixture.reset(emptyWorld({ messages: [message(1, { text })] }));
    const page = await browser.page(fixture.url);
    const main = page.locator('.message-main');
    const words = async (tag: string) => main.locator(`.rich ${tag}`).allTextContents();
    expect(await words('b')).toEqual(['bold']);
    expect(await words('i')).toEqual(['slanted']);
    expect(await words('s')).toEqual(['gone']);
    expect(await words('code')).toEqual(['code']);
    expect(await words('blockquote')).toEqual(['quoted']);
    expect(await words('pre')).toEqual(['pre *x*']);
    expect(await words('.mention')).toEqual(['@Roy', '@sre', '#ops']);
    expect(await main.locator('.rich-section').first().textContent()).toContain('<b> &lt;');
  });

  it('writes Slack’s dates in the reader’s own zone', async () => {
    const date = { type: 'date', timestamp: NOON, format: '{date_num} {time_secs}', fallback: 'then' };
    const inText = { type: 'mrkdwn', text: `<!date^${NOON}^{date_num} at {time}|then>`, verbatim: true };
    fixture.reset(
      emptyWorld({ messages: [fromBot(1, [richText(date), { type: 'context', block_id: 'c', elements: [inText] }])] }),
    );
    for (const [timezoneId, words, small] of [
      ['America/New_York', '2026-11-21 6:00:00 AM', '2026-11-21 at 6:00 AM'],
      ['Pacific/Auckland', '2026-11-22 12:00:00 AM', '2026-11-22 at 12:00 AM'],
    ] as const) {
      const page = await browser.page(fixture.url, { timezoneId });
      expect(await page.locator('.rich time').first().textContent()).toBe(words);
      expect(await page.locator('.block-context').textContent()).toBe(small);
    }
  });

  it('presses buttons after asking, picks from menus, and says which block it was', async () => {
    const confirm = { title: plain('Stop it?'), text: plain('It ends.'), confirm: plain('Stop'), deny: plain('Keep') };
    const option = (value: string) => ({ text: plain(`Option ${value}`), value });
    const elements = [
      { type: 'button', action_id: 'approve', text: plain('Approve'), style: 'primary', value: 'r1' },
      { type: 'button', action_id: 'stop', text: plain('Stop'), style: 'danger', value: 'r1', confirm },
      { type: 'overflow', action_id: 'more', options: [option('a'), option('b')] },
      { type: 'static_select', action_id: 'pick', placeholder: plain('Pick one'), options: [option('c'), option('d')] },
      { type: 'radio_buttons', action_id: 'radio', options: [option('e'), option('f')] },
    ];
    fixture.reset(emptyWorld({ messages: [fromBot(1, [{ type: 'actions', block_id: 'row', elements }])] }));
    const page = await browser.page(fixture.url);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('alertdialog', { name: 'Stop it?' }).getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('alertdialog', { name: 'Stop it?' }).getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'More options' }).click();
    await page.getByRole('menuitem', { name: 'Option b' }).click();
    await page.getByRole('combobox', { name: 'Pick one' }).selectOption('d');
    await page.getByRole('radio', { name: 'Option f' }).check();
    await expect.poll(() => fixture.deeds.length).toBe(5);
    const pressed = fixture.deeds.map((deed) =>
      deed.kind === 'press' ? [deed.blockId, deed.actionId, deed.option] : deed.kind,
    );
    expect(pressed).toEqual([
      ['row', 'approve', undefined],
      ['row', 'stop', undefined],
      ['row', 'more', 'b'],
      ['row', 'pick', 'd'],
      ['row', 'radio', 'f'],
    ]);
  });

  it('fills a modal in, complains beside the field, and sends the values as Slack does', async () => {
    const option = (value: string) => ({ text: plain(value), value });
    const input = (id: string, label: string, element: object, optional = false) => ({
      type: 'input',
      block_id: id,
      label: plain(label),
      optional,
      element: { action_id: id, ...element },
    });
    const stored = modalOf({
      private_metadata: 'kept',
      blocks: [
        { type: 'section', block_id: 'intro', text: plain('Say what to debug.') },
        input('pod', 'Pod', { type: 'plain_text_input' }),
        input('image', 'Image', { type: 'static_select', options: [option('debian'), option('gdb')] }, true),
        input(
          'many',
          'Many',
          { type: 'checkboxes', options: [option('x'), option('y')], initial_options: [option('x')] },
          true,
        ),
        input('day', 'Day', { type: 'datepicker', initial_date: '2026-11-21' }, true),
        input('why', 'Why', { type: 'plain_text_input', multiline: true }, true),
      ],
    });
    fixture.reset(emptyWorld({ views: [stored] }));
    const page = await browser.page(fixture.url);
    const dialog = page.getByRole('dialog', { name: 'Debug a pod' });
    await dialog.getByRole('button', { name: 'Debug' }).click();
    const podField = dialog.getByRole('textbox', { name: 'Pod', exact: true });
    await expect.poll(() => podField.getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.locator('.field-error').allTextContents()).toEqual(['Please complete this required field.']);
    expect(await dialog.getByRole('alert').textContent()).toContain('1 field needs another look');
    expect(fixture.deeds).toEqual([]);

    await podField.fill('pod-1234');
    await dialog.getByRole('combobox', { name: 'Image' }).selectOption('gdb');
    await dialog.getByRole('checkbox', { name: 'y' }).check();
    await dialog.getByRole('button', { name: 'Debug' }).click();
    await expect.poll(() => fixture.deeds.length).toBe(1);
    expect(fixture.deeds[0]).toEqual({
      kind: 'submit',
      user: 'U0ROY',
      viewId: stored.id,
      values: {
        pod: { pod: { type: 'plain_text_input', value: 'pod-1234' } },
        image: { image: { type: 'static_select', selected_option: option('gdb') } },
        many: { many: { type: 'checkboxes', selected_options: [option('x'), option('y')] } },
        day: { day: { type: 'datepicker', selected_date: '2026-11-21' } },
        why: { why: { type: 'plain_text_input', value: null } },
      },
    });

    fixture.tell({ kind: 'view', view: { ...stored, errors: { pod: 'There is no pod pod-1234.' } } });
    await dialog.getByText('There is no pod pod-1234.').first().waitFor();
    expect(await podField.inputValue()).toBe('pod-1234');
    await page.keyboard.press('Escape');
    await expect.poll(() => fixture.deeds.at(-1)).toEqual({ kind: 'close-view', user: 'U0ROY', viewId: stored.id });
    fixture.tell({ kind: 'view', view: { ...stored, open: false } });
    await dialog.waitFor({ state: 'detached' });
  });

  it('keeps the keyboard within a modal', async () => {
    const stored = modalOf({
      blocks: [
        {
          type: 'input',
          block_id: 'pod',
          label: plain('Pod'),
          element: { type: 'plain_text_input', action_id: 'pod' },
        },
      ],
    });
    fixture.reset(emptyWorld({ views: [stored] }));
    const page = await browser.page(fixture.url);
    await page.getByRole('dialog').waitFor();
    const isInside = () => page.evaluate('document.activeElement?.closest("dialog") !== null');
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('INPUT');
    for (let step = 0; step < 8; step += 1) {
      await page.keyboard.press('Tab');
      expect(await isInside()).toBe(true);
    }
  });
});
