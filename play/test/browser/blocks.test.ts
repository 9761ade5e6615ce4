import { afterAll, beforeAll, expect, it } from 'vitest';
import { HOSTILE } from '../../../test/adapters/slack/views/messages.ts';
import { describeInBrowser } from './support/browser.ts';
import { PageFixture } from './support/page-fixture.ts';
import { emptyWorld, fromBot, message, modalOf, NOON, plain, pod, preformatted, richText } from './support/worlds.ts';

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

  it('draws each kind of block, and says which it does not know', async () => {
    const item = (text: string) => ({ type: 'rich_text_section', elements: [{ type: 'text', text }] });
    const cell = (text: string) => ({ type: 'raw_text', text });
    const dot = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
    const lists = {
      type: 'rich_text',
      block_id: 'lists',
      elements: [
        { type: 'rich_text_list', style: 'bullet', elements: [item('a point')] },
        { type: 'rich_text_list', style: 'ordered', offset: 2, indent: 1, elements: [item('the third')] },
        { type: 'rich_text_quote', elements: [{ type: 'text', text: 'said before' }] },
      ],
    };
    const spans = richText(
      { type: 'channel', channel_id: 'C0OPS' },
      { type: 'broadcast', range: 'here' },
      { type: 'emoji', name: 'eyes' },
      { type: 'text', text: 'gone', style: { strike: true, italic: true } },
    );
    const blocks = [
      lists,
      spans,
      { type: 'section', block_id: 'f', fields: [plain('Field one'), { type: 'mrkdwn', text: '*Field* two' }] },
      {
        type: 'section',
        block_id: 'p',
        text: plain('Beside'),
        accessory: { type: 'image', image_url: dot, alt_text: 'a dot' },
      },
      { type: 'divider', block_id: 'd' },
      {
        type: 'context',
        block_id: 'c',
        elements: [{ type: 'image', image_url: dot, alt_text: 'small' }, plain('Asked')],
      },
      { type: 'image', block_id: 'i', image_url: dot, alt_text: 'a chart', title: plain('Its title') },
      {
        type: 'table',
        block_id: 't',
        rows: [
          [cell('Pod'), cell('State')],
          [cell('web'), cell('fine')],
        ],
      },
      { type: 'markdown', block_id: 'm', text: '**strong** words' },
      { type: 'hologram', block_id: 'x' },
    ];
    fixture.reset(emptyWorld({ messages: [fromBot(1, blocks)] }));
    const page = await browser.page(fixture.url);
    const main = page.locator('.message-main');
    expect(await main.locator('ul > li').allTextContents()).toEqual(['a point']);
    expect(await main.locator('ol[start="3"] > li').allTextContents()).toEqual(['the third']);
    expect(await main.locator('blockquote').allTextContents()).toEqual(['said before']);
    expect(await main.locator('.mention').allTextContents()).toEqual(['#ops', '@here']);
    expect(await main.getByText('👀').count()).toBe(1);
    expect(await main.locator('s').allTextContents()).toEqual(['gone']);
    expect(await main.locator('.block-fields > div').allTextContents()).toEqual(['Field one', 'Field two']);
    expect(await main.locator('hr').count()).toBe(1);
    for (const name of ['a dot', 'small', 'a chart'])
      await expect
        .poll(() => main.getByRole('img', { name }).evaluate((one) => Reflect.get(one, 'naturalWidth')))
        .toBe(1);
    expect(await main.locator('figcaption').allTextContents()).toEqual(['Its title']);
    expect(await main.getByRole('row').allTextContents()).toEqual(['PodState', 'webfine']);
    expect(await main.locator('b').allTextContents()).toEqual(['Field', 'strong']);
    expect(await main.locator('.unknown').allTextContents()).toEqual([
      'This page does not draw blocks of type “hologram”.',
    ]);
  });

  it('draws a chart: its lines by name, their ends on the axes, and all numbers for who cannot see it', async () => {
    const data = (...values: number[]) => values.map((value, index) => ({ label: `${index} s`, value }));
    const chart = {
      type: 'line',
      series: [
        { name: 'CPU in use', data: data(20, 480, 500, 35) },
        { name: 'limit', data: data(500, 500, 500, 500) },
      ],
      axis_config: { categories: ['0 s', '1 s', '2 s', '3 s'], y_label: 'millicores' },
    };
    fixture.reset(
      emptyWorld({
        messages: [fromBot(1, [{ type: 'data_visualization', block_id: 'v', title: 'CPU in use', chart }])],
      }),
    );
    const page = await browser.page(fixture.url);
    const drawn = page.locator('.block-chart');
    expect(await drawn.locator('figcaption').textContent()).toBe('CPU in useCPU in uselimit');
    expect(await drawn.locator('polyline').count()).toBe(2);
    expect(await drawn.locator('text').allTextContents()).toEqual(['500', '0', 'millicores', '0 s', '3 s']);
    expect(await drawn.getByRole('img').getAttribute('aria-label')).toBe(
      'CPU in use: CPU in use 20, 480, 500, 35 millicores; limit 500, 500, 500, 500 millicores',
    );
    const points = (await drawn.locator('polyline').first().getAttribute('points')) ?? '';
    const heights = points.split(' ').map((point) => Number(point.split(',')[1]));
    expect(heights.indexOf(Math.min(...heights))).toBe(2);
  });

  it('shows hostile text to the letter outside of messages too: logs, events, pods, files, forms, requests, complaints', async () => {
    const text = CORPUS.join('\n');
    const [short = ''] = MARKUP;
    const file = { id: 'F1', name: 'x.txt', title: short, size: 9, state: 'complete' as const };
    const hurt = { ...pod('pod-1234'), containers: [{ ...pod('x').containers[0]!, name: short, image: short }] };
    const event = { uid: 'e', atMs: 1, type: 'Warning', reason: short, message: text, namespace: 'shop', pod: short };
    const request = { id: 'R1', to: 'slack' as const, atMs: 1, what: short, status: 500, error: short };
    const label = { label: plain(short), hint: plain(short), block_id: 'b' };
    const view = modalOf({
      title: plain(short),
      blocks: [{ type: 'input', ...label, element: { type: 'plain_text_input', action_id: 'b' } }],
    });
    fixture.reset(
      emptyWorld({
        messages: [message(1, { text: short, reactions: [{ name: short, users: ['U0BOB'] }], files: ['F1'] })],
        ephemerals: [fromBot(2, [], { text: short, visibleTo: 'U0ROY' })],
        files: [file],
        pods: [hurt],
        events: [{ ...event, count: 1 }],
        requests: [request],
      }),
    );
    fixture.texts = {
      '/logs': text,
      '/files/F1': text,
      '/requests/R1': JSON.stringify({ ...request, request: { text }, response: text }),
    };
    fixture.answer = () => ({ ok: false, error: short });
    const page = await browser.page(fixture.url);
    const cluster = page.getByRole('complementary', { name: 'Cluster' });
    await cluster.locator('.container').click();
    const log = cluster.getByRole('region', { name: 'Log text' });
    await expect.poll(() => log.textContent()).toContain(short);
    await page.getByRole('region', { name: /^File/ }).getByText(short, { exact: true }).waitFor();
    await page.getByRole('combobox', { name: 'Message #shop-oncall' }).fill('hello');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText(short).first().waitFor();
    await cluster.getByRole('tab', { name: 'Events' }).click();
    await cluster.getByRole('tabpanel').getByText(short, { exact: true }).first().waitFor();
    await cluster.getByRole('tab', { name: /Requests/ }).click();
    await cluster.locator('.request').click();
    await expect.poll(() => page.getByRole('region', { name: 'Request as JSON' }).textContent()).toContain('onerror=');
    await page.keyboard.press('Escape');
    fixture.tell({ kind: 'view', view: { ...view, errors: { b: short } } });
    await page.getByRole('dialog').getByText(short, { exact: true }).last().waitFor();
    expect(await page.locator('body').locator('script, iframe, img, a[href^="javascript"]').count()).toBe(0);
    expect(await page.title()).toBe('kdebug play');
  });

  it('presses buttons after asking, picks from menus, and says which block it was', async () => {
    const confirm = { title: plain('Stop it?'), text: plain('It ends.'), confirm: plain('Stop'), deny: plain('Keep') };
    const option = (value: string) => ({ text: plain(`Option ${value}`), value });
    const select = (type: string, action_id: string, words: string) => ({ type, action_id, placeholder: plain(words) });
    const elements = [
      { type: 'button', action_id: 'approve', text: plain('Approve'), style: 'primary', value: 'r1' },
      { type: 'button', action_id: 'stop', text: plain('Stop'), style: 'danger', value: 'r1', confirm },
      { type: 'overflow', action_id: 'more', options: [option('a'), option('b')], confirm },
      { ...select('static_select', 'pick', 'Pick one'), options: [option('c'), option('d')] },
      { type: 'radio_buttons', action_id: 'radio', options: [option('e'), option('f')] },
      select('users_select', 'who', 'Pick somebody'),
      select('channels_select', 'where', 'Pick a channel'),
    ];
    const section = (block_id: string, accessory: object) => ({
      type: 'section',
      block_id,
      text: plain('x'),
      accessory,
    });
    const blocks = [
      { type: 'actions', block_id: 'row', elements },
      section('many', {
        ...select('multi_static_select', 'options', 'Pick several'),
        options: [option('g'), option('h')],
        initial_options: [option('g')],
      }),
      section('people', select('multi_users_select', 'people', 'Pick people')),
    ];
    fixture.reset(emptyWorld({ messages: [fromBot(1, blocks)] }));
    const page = await browser.page(fixture.url);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('alertdialog', { name: 'Stop it?' }).getByRole('button', { name: 'Keep' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('alertdialog', { name: 'Stop it?' }).getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'More options' }).click();
    await page.getByRole('menuitem', { name: 'Option b' }).click();
    await page.getByRole('alertdialog', { name: 'Stop it?' }).getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('combobox', { name: 'Pick one' }).selectOption('d');
    await page.getByRole('radio', { name: 'Option f' }).check();
    await page.getByRole('combobox', { name: 'Pick somebody' }).selectOption({ label: 'Bob' });
    await page.getByRole('combobox', { name: 'Pick a channel' }).selectOption({ label: '#ops' });
    const several = page.getByRole('group', { name: 'Pick several' });
    await several.getByRole('checkbox', { name: 'Option h' }).check();
    await several.getByRole('checkbox', { name: 'Option g' }).uncheck();
    await several.getByRole('checkbox', { name: 'Option h' }).uncheck();
    await page.getByRole('group', { name: 'Pick people' }).getByRole('checkbox', { name: 'Ginger' }).check();
    await expect.poll(() => fixture.deeds.length).toBe(11);
    const pressed = fixture.deeds.map((deed) =>
      deed.kind === 'press' ? [deed.blockId, deed.actionId, deed.chosen] : deed.kind,
    );
    expect(pressed).toEqual([
      ['row', 'approve', undefined],
      ['row', 'stop', undefined],
      ['row', 'more', ['b']],
      ['row', 'pick', ['d']],
      ['row', 'radio', ['f']],
      ['row', 'who', ['U0BOB']],
      ['row', 'where', ['C0OPS']],
      ['many', 'options', ['g', 'h']],
      ['many', 'options', ['h']],
      ['many', 'options', []],
      ['people', 'people', ['U0GINGER']],
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
