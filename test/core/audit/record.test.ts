import { expect, it } from 'vitest';
import { cleanAuditEvent, MAX_LINE_BYTES } from '../../../src/core/audit/record.ts';
import { aChain, aHappening } from './chain-of.ts';

const clean = (facts: Parameters<typeof aHappening>[1], secrets: readonly string[] = []) =>
  cleanAuditEvent(aHappening(0, { command: undefined, index: undefined, ...facts }), secrets).facts;

it('facts are kept as they are, those without a value are left out', () => {
  expect(clean({ rule: 'look', ok: true, seconds: 1.5, none: undefined, word: 'the token is missing' })).toEqual({
    rule: 'look',
    ok: true,
    seconds: 1.5,
    word: 'the token is missing',
  });
  expect(clean({ nan: Number.NaN })).toEqual({ nan: 'NaN' });
});

it.each([
  ['a bot token', ['xoxb', '123456789012', 'canary'].join('-')],
  ['a rotated token', ['xoxe.xoxb', '1', 'canary'].join('-')],
  ['an app-level token', ['xapp', '1', 'A0', 'canary'].join('-')],
  ['a private reply address', 'https://hooks.slack.com/commands/T0/1/canary'],
  ['a private reply address of another Slack', 'https://hooks.slack-gov.com/actions/T0/1/canary'],
  ['a password that was typed', '--env=DB_PASSWORD=canary1234 -- env'],
  ['a bearer token', 'Authorization: Bearer canary0123456789canary'],
  ['a password in an address', 'postgres://shop:canary@db/shop'],
])('%s is taken out', (_, text) => {
  const happening = {
    ...aHappening(0, { command: `web-1 --reason="${text}"` }),
    actorId: text,
    channelId: text,
    runId: text,
  };
  expect(JSON.stringify(cleanAuditEvent(happening, []))).not.toContain('canary');
});

it('the secrets of the environment are taken out by value', () => {
  expect(clean({ note: 'see 0123456789abcdef here' }, ['0123456789abcdef'])).toEqual({ note: 'see [redacted] here' });
});

it('a long text is cut, and what was cut is held by its hash', () => {
  const [one, other] = ['a', 'b'].map((end) => clean({ command: `${'x '.repeat(2_000)}${end}` }).command);
  expect(String(one)).toMatch(/^(?:x ){1000}… \[4001 characters, sha256 [0-9a-f]{64}\]$/);
  expect(one).not.toBe(other);
});

it('a secret across the cut is taken out whole', () => {
  const text = `${'x '.repeat(995)}password=canary0canary1canary2`;
  expect(clean({ text }).text).not.toContain('canary');
});

it('the largest record is a line that the reader takes', () => {
  const facts = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`fact${index}`, '\u0001'.repeat(3_000)]));
  const { lines } = aChain([aHappening(0, facts)]);
  expect(lines[1]?.length).toBeLessThan(MAX_LINE_BYTES);
  expect(Object.keys(clean(facts))).toHaveLength(40);
});

it('a happening at no time is refused', () => {
  expect(() => cleanAuditEvent({ ...aHappening(0), atMs: Number.NaN }, [])).toThrow(RangeError);
});
