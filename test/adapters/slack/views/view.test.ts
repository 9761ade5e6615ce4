import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blocksTooLong, checkMessageBlocks } from '../../../../play/slack/blocks/check.ts';
import type { MessageBlock } from '../../../../src/adapters/slack/views/chart.ts';
import { simplerViews, view, weightOf } from '../../../../src/adapters/slack/views/view.ts';
import { emoji } from '../../../../src/core/say/message/message.ts';
import { inFullOr } from '../../../support/sample.ts';
import { anyMessage, HOSTILE, RESULT } from './messages.ts';

/** Everything a block says, and which of it Slack would parse. */
function textsOf(value: unknown): { readonly all: string[]; readonly parsed: string[] } {
  const all: string[] = [];
  const parsed: string[] = [];
  JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item !== 'object' || item === null || !('text' in item) || typeof item.text !== 'string') return item;
    all.push(item.text);
    if ('type' in item && item.type === 'mrkdwn') parsed.push(item.text);
    return item;
  });
  return { all, parsed };
}

const emojiOf = (blocks: readonly MessageBlock[]): string[] =>
  [...JSON.stringify(blocks).matchAll(/"type":"emoji","name":"([a-z_]+)"/g)].map(([, name]) => name ?? '');

const elementTypes = (blocks: readonly MessageBlock[]): string[] =>
  [...JSON.stringify(blocks).matchAll(/"type":"([a-z_]+)"/g)].map(([, type]) => type ?? '');

describe('a result', () => {
  it('looks like its golden', async () => {
    await expect(`${JSON.stringify(view(RESULT), null, 2)}\n`).toMatchFileSnapshot('../../../golden/slack/result.json');
  });

  it('has a notification that an update can have, also where every character of its spans is escaped', () => {
    const spans = Array.from({ length: 6 }, () => ({ kind: 'text' as const, text: '&'.repeat(1_000) }));
    const { text } = view({ ...RESULT, notification: spans });
    expect(text).toContain('&amp;&amp;');
    expect(text.length).toBeLessThanOrEqual(4_000);
  });

  it('gets simpler step by step until only its escaped summary is left', () => {
    const [half, summary, plainer, bare] = [...simplerViews(RESULT)];
    expect(weightOf(half!.blocks)).toBeLessThanOrEqual(weightOf(view(RESULT).blocks) / 2);
    expect(summary!.blocks.map(({ type }) => type)).toEqual(['rich_text', 'actions', 'actions']);
    expect(plainer!.blocks.map(({ type }) => type)).toEqual(['section', 'actions', 'actions']);
    expect(bare).toEqual({ text: '⚠️ pod-1234: 214 sockets in CLOSE_WAIT &lt;&amp; more&gt;', blocks: [] });
  });
});

it('a message that does not begin with words begins with its summary', () => {
  const { blocks } = view({ summary: 'the log', tone: 'failure', parts: [{ kind: 'preformatted', text: 'x' }] });
  expect(textsOf(blocks).all).toEqual([' ', 'the log', 'x']);
  expect(emojiOf(blocks)).toEqual(['x']);
});

it('links are buttons that open their page; one too long for Slack is left out', () => {
  const links = [
    { label: 'Dashboard', url: 'https://grafana.example.com/d/pods' },
    { label: 'Logs', url: `https://logs.example.com/${'x'.repeat(3_000)}` },
    { label: 'Traces', url: 'https://traces.example.com/' },
  ];
  const shown = view({ summary: 'web-1', tone: 'neutral', parts: [{ kind: 'links', links }] });
  expect(shown.blocks.at(-1)).toEqual({
    type: 'actions',
    elements: [
      {
        type: 'button',
        action_id: 'open-link-0',
        text: { type: 'plain_text', text: 'Dashboard', emoji: false },
        url: 'https://grafana.example.com/d/pods',
      },
      {
        type: 'button',
        action_id: 'open-link-1',
        text: { type: 'plain_text', text: 'Traces', emoji: false },
        url: 'https://traces.example.com/',
      },
    ],
  });
});

it('a user group is mentioned by its id, in the blocks only; what is no id is words', () => {
  const spans = ['S0SRE', '<!channel>'].map((usergroupId) => ({ kind: 'usergroup' as const, usergroupId }));
  const shown = view({ summary: 'S0SRE may approve', tone: 'attention', parts: [{ kind: 'paragraph', spans }] });
  expect(shown.text).toBe('⚠️ S0SRE may approve');
  expect(shown.blocks).toMatchObject([
    {
      elements: [
        {
          elements: [
            { type: 'emoji', name: 'warning' },
            { type: 'text', text: ' ' },
            { type: 'usergroup', usergroup_id: 'S0SRE' },
            { type: 'text', text: '<!channel>' },
          ],
        },
      ],
    },
  ]);
});

it('a channel is shown by its id; what is no id is words', () => {
  const spans = ['C0SHOP', '<!channel>'].map((channelId) => ({ kind: 'channel' as const, channelId }));
  const { blocks } = view({
    summary: 's',
    tone: 'neutral',
    parts: [
      { kind: 'paragraph', spans },
      { kind: 'note', spans },
    ],
  });
  expect(blocks).toMatchObject([
    {
      elements: [
        {
          elements: [
            { type: 'channel', channel_id: 'C0SHOP' },
            { type: 'text', text: '<!channel>' },
          ],
        },
      ],
    },
    {
      elements: [
        { type: 'mrkdwn', text: '<#C0SHOP>' },
        { type: 'plain_text', text: '<!channel>' },
      ],
    },
  ]);
});

it('a button without an id is left out', () => {
  const buttons = [
    { action: 'pause', label: 'b', value: '' },
    { action: 'pause', label: 'c', value: 'x' },
  ] as const;
  const { blocks } = view({
    summary: 's',
    tone: 'neutral',
    parts: [
      { kind: 'heading', text: 'h' },
      { kind: 'actions', buttons },
    ],
  });
  expect(textsOf(blocks).all).toEqual(['h', 'c']);
});

it('only the longest text is cut when the whole is too long', () => {
  const short = { kind: 'paragraph', spans: [{ kind: 'text', text: 'short enough' }] } as const;
  const long = { kind: 'preformatted', text: '&'.repeat(2_900) } as const;
  const { blocks } = view({ summary: 's', tone: 'neutral', parts: [short, long, short] });
  const { all } = textsOf(blocks);
  expect(all[0]).toBe('short enough');
  expect(all[1]).toMatch(/^&+\n… [\d,]+ more …\n&+$/);
  expect(weightOf(blocks)).toBeGreaterThan(11_000);
});

/** Shrinking such big messages would take minutes; the seed and the path are printed. */
const RUNS = { numRuns: inFullOr(60, 20), endOnFailure: true };

describe('whatever a message holds', () => {
  const check = (blocks: readonly MessageBlock[]): void => {
    expect(checkMessageBlocks(blocks)).toEqual([]);
    expect(blocksTooLong(blocks)).toBe(false);
    expect(weightOf(blocks)).toBeLessThanOrEqual(12_000);
    for (const text of textsOf(blocks).all)
      expect(text.replace(/\n|\t|\u{FE0F}/gu, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
  };

  it('it stays within all limits, in every degree of simplicity', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        for (const { blocks, text } of [view(message), ...simplerViews(message)]) {
          check(blocks);
          expect(text.length).toBeGreaterThan(0);
          expect(text.length).toBeLessThanOrEqual(4_000);
        }
      }),
      RUNS,
    );
  });

  it('no text of it is markup: only ids and moments are parsed, and only of our own making', () => {
    fc.assert(
      fc.property(anyMessage, (message) => {
        const { blocks, text } = view(message);
        for (const parsed of textsOf(blocks).parsed) {
          expect(parsed).toMatch(
            /^(<@[UW][A-Z0-9]+>|<#C0SHOP>|<!subteam\^S[A-Z0-9]+>|<!date\^\d+\^\{date_short_pretty\} at \{time\}\|\d\d [A-Z][a-z]{2}, \d\d:\d\d UTC>)$/,
          );
        }
        expect(elementTypes(blocks).filter((type) => ['link', 'broadcast'].includes(type))).toEqual([]);
        // Only the mark of its tone, once; headers and small print read no names.
        expect(emojiOf(blocks).length).toBeLessThanOrEqual(1);
        expect(JSON.stringify(blocks)).not.toContain('"emoji":true');
        expect(JSON.stringify(blocks)).not.toMatch(/"usergroup_id":"(?!S0SRE")|"channel_id":"(?!C0SHOP")/);
        expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
      }),
      RUNS,
    );
  });

  it.each(HOSTILE.map((text) => [JSON.stringify(text).slice(0, 40), text]))(
    '%s everywhere is shown and fits',
    (_name, hostile) => {
      const spans = [
        { kind: 'text', text: hostile },
        { kind: 'code', text: hostile },
      ] as const;
      const { blocks } = view({
        summary: hostile,
        tone: 'failure',
        parts: [
          { kind: 'heading', text: hostile },
          { kind: 'paragraph', spans },
          { kind: 'list', items: [spans, spans] },
          { kind: 'facts', facts: [{ label: hostile, value: spans }] },
          { kind: 'preformatted', text: hostile },
          { kind: 'note', spans },
          { kind: 'actions', buttons: [{ action: 'pause', label: hostile, value: 'x' }] },
        ],
      });
      check(blocks);
      expect(textsOf(blocks).parsed).toEqual([]);
    },
  );
});

it('a link leads to a message or file of Slack, and any other address stays words', () => {
  const linked = (url: string) =>
    JSON.stringify(
      view({
        summary: 's',
        tone: 'neutral',
        parts: ['paragraph' as const, 'note' as const].map((kind) => ({
          kind,
          spans: [{ kind: 'link', url, text: 'here' }],
        })),
      }).blocks,
    );
  expect(linked('https://local.slack.com/archives/C0SHOP/p1700000000000001')).toContain('"type":"link"');
  for (const url of [
    'https://evil.example/archives/C0',
    'https://local.slack.com/archives/C0|<!channel>',
    'javascript:1',
  ])
    expect(linked(url)).not.toMatch(/evil|javascript|!channel|"type":"link"/);
});

it('our marks are emoji elements, which a screen reader says by name; in small print and headers they are characters', () => {
  const spans = [emoji('hourglass_flowing_sand'), { kind: 'text', text: ' 3 waiting' } as const];
  const { blocks } = view({
    summary: 's',
    tone: 'neutral',
    parts: [
      { kind: 'paragraph', spans },
      { kind: 'note', spans },
    ],
  });
  expect(emojiOf(blocks)).toEqual(['hourglass_flowing_sand']);
  expect(textsOf(blocks).all).toEqual([' 3 waiting', '⏳ 3 waiting']);
});
