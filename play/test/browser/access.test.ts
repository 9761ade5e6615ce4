import axe from 'axe-core';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Snapshot } from '../../page/contract.ts';
import { describeInBrowser } from './support/browser.ts';
import { PageFixture } from './support/page-fixture.ts';
import {
  BOT,
  emptyWorld,
  fromBot,
  message,
  modalOf,
  NOON,
  plain,
  pod,
  preformatted,
  richText,
} from './support/worlds.ts';

const ROOT_TS = `${NOON + 1}.000100`;

/** A little of everything that the page can draw. */
function fullWorld(): Snapshot {
  const option = (value: string) => ({ text: plain(value), value });
  const blocks = [
    { type: 'header', block_id: 'h', text: plain('✅ Nothing wrong') },
    richText(
      { type: 'text', text: 'bold', style: { bold: true } },
      { type: 'text', text: 'code', style: { code: true } },
      { type: 'user', user_id: 'U0ROY' },
      { type: 'link', url: 'https://a.example/' },
    ),
    preformatted('a long log line '.repeat(40)),
    { type: 'context', block_id: 'c', elements: [{ type: 'mrkdwn', text: 'Asked by <@U0BOB>' }] },
    {
      type: 'actions',
      block_id: 'a',
      elements: [
        { type: 'button', action_id: 'approve', text: plain('Approve'), style: 'primary' },
        { type: 'button', action_id: 'reject', text: plain('Reject'), style: 'danger' },
        { type: 'static_select', action_id: 's', placeholder: plain('Pick'), options: [option('x')] },
        { type: 'checkboxes', action_id: 'b', options: [option('y')] },
        { type: 'overflow', action_id: 'o', options: [option('z')] },
      ],
    },
  ];
  const trouble = { watch: 'See it cope.', needsPod: false, lasts: true };
  const debug = {
    name: 'kdebug-1',
    image: 'a/autodiagnose:1',
    kind: 'debug' as const,
    state: 'terminated' as const,
    reason: 'Completed',
    exitCode: 0,
    restarts: 0,
  };
  const ill = {
    ...pod('ill'),
    containers: [
      {
        name: 'web',
        image: 'web:1',
        kind: 'container' as const,
        state: 'waiting' as const,
        reason: 'CrashLoopBackOff',
        restarts: 3,
      },
    ],
  };
  const well = pod('pod-1234');
  return emptyWorld({
    messages: [
      fromBot(1, blocks, { files: ['F1'], reactions: [{ name: 'eyes', users: ['U0ROY'] }] }),
      message(2, { text: 'a reply with `code`', threadTs: ROOT_TS }),
      message(3, { text: 'plain words', edited: { user: 'U0BOB', ts: '3' } }),
      message(4, { text: 'This message was deleted.', tombstone: true }),
    ],
    ephemerals: [fromBot(5, [richText({ type: 'text', text: 'private' })], { visibleTo: 'U0ROY', user: BOT })],
    files: [{ id: 'F1', name: 'log.txt', title: 'Log of a run', size: 400, state: 'complete' }],
    pods: [{ ...well, containers: [...well.containers, debug] }, ill],
    events: [
      {
        uid: 'e',
        atMs: NOON * 1000,
        type: 'Warning',
        reason: 'BackOff',
        message: 'Back-off',
        namespace: 'shop',
        pod: 'ill',
        count: 2,
      },
    ],
    requests: [
      { id: 'r1', to: 'slack', atMs: NOON * 1000, what: 'chat.postMessage', status: 429, error: 'ratelimited' },
      {
        id: 'r2',
        to: 'kubernetes',
        atMs: NOON * 1000,
        what: 'PATCH pods/ephemeralcontainers shop/pod-1234',
        status: 200,
      },
    ],
    troubles: [
      { id: 't', where: 'cluster', title: 'Kubernetes API slow', ...trouble },
      { id: 's', where: 'slack', title: 'Rate limit (429)', ...trouble },
    ],
    troublesOn: ['t'],
  });
}

/** What axe finds serious, in the whole page or in the part that has just appeared. */
async function faultsOf(page: Page, part = 'body'): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
  const run = `axe.run(${part === 'body' ? 'document' : JSON.stringify(part)}, { resultTypes: ['violations'] })`;
  const { violations } = (await page.evaluate(run)) as axe.AxeResults;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    );
}

const NARROW = { width: 360, height: 740 };
const VIEWS: readonly (readonly [string, BrowserContextOptions])[] = [
  ['light and wide', { colorScheme: 'light' }],
  ['dark and wide', { colorScheme: 'dark' }],
  ['light and narrow', { colorScheme: 'light', viewport: NARROW }],
  ['dark and narrow', { colorScheme: 'dark', viewport: NARROW }],
];

describeInBrowser('the page for everybody', (browser) => {
  const fixture = new PageFixture(emptyWorld());
  beforeAll(() => fixture.start());
  afterAll(async () => {
    await fixture.stop();
    expect(browser.complaints).toEqual([]);
  });

  it.each(VIEWS)('has no serious fault when %s', async (_name, options) => {
    const isNarrow = options.viewport !== undefined;
    fixture.reset(fullWorld());
    const page = await browser.page(fixture.url, options);
    const parts = page.getByRole('navigation', { name: 'Parts of the page' });
    await page.getByText('line 1 <b>of</b> the file').waitFor();
    await page.getByRole('button', { name: /1 reply/ }).click();
    await page.getByRole('complementary', { name: 'Thread' }).getByText('a reply').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    for (const part of isNarrow ? ['Channels', 'Messages', 'Cluster'] : []) {
      await parts.getByRole('button', { name: part }).click();
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(NARROW.width);
    }
    for (const tab of ['Events', /Requests/]) {
      await page.getByRole('tab', { name: tab }).click();
      expect(await faultsOf(page, '.cluster')).toEqual([]);
    }
    await page.getByRole('button', { name: 'Make it worse' }).click();
    await page.getByRole('menu').waitFor();
    expect(await faultsOf(page, '.menu')).toEqual([]);
    await page.keyboard.press('Escape');
    if (isNarrow) await parts.getByRole('button', { name: 'Messages' }).click();
    const composer = page.getByRole('combobox', { name: 'Message #shop-oncall' });
    await composer.fill('/kdebug ');
    await page.keyboard.press('ArrowDown');
    await page.getByRole('listbox').waitFor();
    expect(await faultsOf(page, '.composer')).toEqual([]);
    await composer.fill('');
    const view = modalOf({
      blocks: [
        {
          type: 'input',
          block_id: 'pod',
          label: plain('Pod'),
          hint: plain('A name'),
          element: { type: 'plain_text_input', action_id: 'pod' },
        },
        {
          type: 'input',
          block_id: 'day',
          label: plain('Day'),
          optional: true,
          element: { type: 'checkboxes', action_id: 'd', options: [{ text: plain('x'), value: 'x' }] },
        },
      ],
    });
    fixture.tell({ kind: 'view', view: { ...view, errors: { pod: 'No such pod.' } } });
    await page.getByRole('dialog').getByText('No such pod.').last().waitFor();
    expect(await faultsOf(page, 'dialog')).toEqual([]);
  });

  it.each(VIEWS)(
    'has no serious fault in what one was notified of, and where the bot is not, when %s',
    async (_name, options) => {
      const isNarrow = options.viewport !== undefined;
      const pushed = { user: 'U0ROY', channel: 'C0SHOP', why: 'mention' as const };
      const read = message(2, { text: 'a question to @Roy' });
      const notified = [{ ...pushed, ts: read.ts, phone: '', desktop: read.text }];
      fixture.reset(emptyWorld({ messages: [read], notified }));
      const page = await browser.page(fixture.url, options);
      const parts = page.getByRole('navigation', { name: 'Parts of the page' });
      if (isNarrow) await parts.getByRole('button', { name: 'Channels' }).click();
      const ts = message(9).ts;
      const long = 'a long word '.repeat(30);
      fixture.tell(
        { kind: 'message', message: message(9, { channel: 'C0OTHER' }) },
        { kind: 'notified', notification: { ...pushed, channel: 'C0OTHER', ts, phone: long, desktop: long } },
      );
      await page.getByRole('button', { name: 'Notifications 1 new' }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await page.getByRole('button', { name: 'Notifications 1 new' }).click();
      await page.getByRole('region', { name: 'Notifications' }).getByText('a question to @Roy').waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        isNarrow ? NARROW.width : 1600,
      );
      await page.getByRole('button', { name: /a long word/ }).click();
      await page.locator('.place-note').waitFor();
      await page.locator('.list-item-sought').waitFor();
      expect(await faultsOf(page)).toEqual([]);
    },
  );

  it('has everything of its narrow form behind tabs', async () => {
    fixture.reset(fullWorld());
    const page = await browser.page(fixture.url, { viewport: NARROW });
    const parts = page.getByRole('navigation', { name: 'Parts of the page' });
    expect(await page.getByRole('main').isVisible()).toBe(true);
    expect(await page.getByRole('complementary', { name: 'Cluster' }).isVisible()).toBe(false);
    await parts.getByRole('button', { name: 'Cluster' }).click();
    expect(await page.getByRole('complementary', { name: 'Cluster' }).isVisible()).toBe(true);
    expect(await page.getByRole('main').isVisible()).toBe(false);
    await parts.getByRole('button', { name: 'Channels' }).click();
    await page.getByRole('navigation', { name: 'Workspace' }).getByRole('button', { name: 'ops' }).click();
    await page.getByRole('region', { name: 'Messages in #ops' }).waitFor();
  });

  it.each([NARROW, { width: 1440, height: 900 }])(
    'shows a pod’s whole state beside it, at $width px',
    async (viewport) => {
      const reason = 'CreateContainerConfigError';
      const image = 'registry.example.com/autodiagnose:1.0';
      const debug = { name: 'kdebug-abcdefghij', image, kind: 'debug', state: 'waiting', reason, restarts: 0 } as const;
      const web = pod('web');
      fixture.reset(emptyWorld({ pods: [{ ...web, containers: [...web.containers, debug] }] }));
      const page = await browser.page(fixture.url, { viewport });
      if (viewport === NARROW) await page.getByRole('button', { name: 'Cluster' }).click();
      const row = page.getByRole('button', { name: /^kdebug-abcdefghij/ });
      const isWhole = await row.locator('.container-state').evaluate((one) => {
        const edge = one.closest('button')?.getBoundingClientRect().right ?? 0;
        return one.getBoundingClientRect().right <= edge && one.scrollWidth <= one.clientWidth;
      });
      expect(isWhole).toBe(true);
    },
  );

  it('can be walked through by keyboard alone, and shows where one is', async () => {
    fixture.reset(fullWorld());
    const page = await browser.page(fixture.url);
    await page.getByRole('button', { name: /Switch person/ }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement?.getAttribute("aria-haspopup")')).toBe('menu');
    await page.getByRole('button', { name: 'Approve' }).focus();
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Enter');
    await expect.poll(() => fixture.deeds.map(({ kind }) => kind)).toEqual(['press']);
    await page.getByRole('tab', { name: 'Pods' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('tab', { name: 'Events' }).getAttribute('aria-selected')).toBe('true');
    await page.getByText('Back-off').waitFor();
  });

  it('paints early', async () => {
    fixture.reset(fullWorld());
    const page = await browser.page(fixture.url);
    await page.reload();
    await page.locator('.message').first().waitFor();
    const paint = () => page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0`);
    await expect.poll(paint).toBeGreaterThan(0);
    const first = Number(await paint());
    console.log(`first contentful paint, warm: ${Math.round(first)} ms`);
    expect(first).toBeLessThan(10_000);
  });
});
