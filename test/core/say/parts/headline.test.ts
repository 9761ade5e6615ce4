import { describe, expect, it } from 'vitest';
import type { Verdict, VerdictFinding } from '../../../../src/core/diagnosis/facts/verdict.ts';
import {
  firstLineOf,
  headlineOf,
  toneOf,
  unseenWords,
  wholeHeadline,
} from '../../../../src/core/say/parts/headline.ts';

const finding = (text: string, parts: Partial<VerdictFinding> = {}): VerdictFinding => ({
  code: 'crash_loop',
  text,
  next: 'Do it.',
  rank: 1,
  ...parts,
});
const verdict = (line: string, findings: readonly VerdictFinding[] = [], parts: Partial<Verdict> = {}): Verdict => ({
  line,
  findings,
  ...parts,
});

const lineOf = (name: string, headline: string): string =>
  firstLineOf(name, headline)
    .map((span) => ('text' in span ? span.text : ''))
    .join('');

describe('the headline of a verdict', () => {
  const cause = 'web exited with code 1, 12 s ago: “DATABASE_URL is not set”';

  it('is its cause, and the number of other things that are wrong', () => {
    expect(headlineOf(verdict(cause, [finding(cause)]))).toBe(cause);
    expect(headlineOf(verdict(cause, [finding(cause), finding('300 sockets', { rank: 2 })]))).toBe(
      `${cause}, and 1 more finding`,
    );
  });

  it('does not count what is only worth knowing', () => {
    expect(headlineOf(verdict(cause, [finding(cause), finding('no limit', { rank: 3 })], { more: 4 }))).toBe(cause);
  });

  it('keeps words around the cause', () => {
    expect(headlineOf(verdict(`1 of 3 pods ready: ${cause}`, [finding(cause)]))).toBe(`1 of 3 pods ready: ${cause}`);
  });

  it('says that nothing was found, not that nothing is wrong, unless the log was read', () => {
    const nothing = verdict('No problems found.', [], { fine: 'cpu, io, dns' });
    expect(headlineOf(nothing)).toBe('Nothing found in 3 checks');
    expect(headlineOf(verdict('No problems found.'))).toBe('Nothing found');
    expect(headlineOf({ ...nothing, healthy: true })).toBe('No problems found');
  });

  it('names a container by the beginning of its id', () => {
    expect(headlineOf(verdict(`container ${'ab12'.repeat(16)} died`))).toBe('container ab12ab12ab12… died');
  });

  it('is at most 300 characters long, in the thread as well', () => {
    const line = 'x'.repeat(400);
    expect(wholeHeadline(headlineOf(verdict(line)) ?? '')).toHaveLength(300);
  });
});

describe('the first line of a card', () => {
  const cause = 'web cannot start: the Secret payments-db has no key “connection-string” for its variable DATABASE_URL';

  it('is whole where it fits', () => {
    expect(lineOf('web-1', cause)).toBe(`web-1: ${cause}`);
  });

  it('gives up the number of other findings, then the middle of the name, before a word of the cause', () => {
    expect(lineOf('web-5d9f8b6c5', `${cause}, and 2 more findings`)).toBe(`web-5d9f8b6c5: ${cause}`);
    const long = lineOf('checkout-worker-payments-5d9f8b6c5-abcde', cause.replace('connection-string', 'url'));
    expect(long).toContain('for its variable DATABASE_URL');
    expect(long).toMatch(/^checkout-wo…f8b6c5-abcde: /);
  });

  it('gives up the age before a word of the cause, but no age that somebody else wrote', () => {
    const aged = `web exited with code 1, last 2 min 3 s ago: “${'word '.repeat(8)}end, 3 s ago”`;
    const line = lineOf('checkout-worker-payments-5d9f8b6c5-abcde', aged);
    expect(line).toContain('web exited with code 1: “word');
    expect(line).toContain('end, 3 s ago”');
  });

  it('is cut at its end in the end, with its quotation closed', () => {
    const line = lineOf('web-1', `web exited with code 1: “${'word '.repeat(60)}”`);
    expect(line).toMatch(/^web-1: web exited with code 1: “word .*…”$/);
    expect(line.length).toBeLessThanOrEqual(119);
    expect(lineOf('web-1', `${'x'.repeat(100)} “${'y'.repeat(60)}”`)).toMatch(/x…$/);
  });
});

describe('the tone', () => {
  const nothing = verdict('No problems found.');

  it.each([
    ['of what is failing is red', verdict('x', [finding('x')]), 'failure'],
    ['of what is about to fail is yellow', verdict('x', [finding('x', { rank: 2 })]), 'attention'],
    ['of a healthy pod is green', { ...nothing, healthy: true as const }, 'success'],
    ['of a pod in which nothing was found is neither', nothing, 'ended'],
    ['of what is worth knowing is neither', verdict('x', [finding('x', { rank: 3 })]), 'ended'],
  ] as const)('%s', (_what, given, tone) => {
    expect(toneOf(given, 'ended')).toBe(tone);
  });

  it('is never better than how the run itself ended', () => {
    expect(toneOf({ ...nothing, healthy: true }, 'failure')).toBe('failure');
    expect(toneOf({ ...nothing, healthy: true }, 'attention')).toBe('attention');
    expect(toneOf(verdict('x', [finding('x', { rank: 2 })]), 'failure')).toBe('failure');
  });

  it('of a pod that is well stays open while a look inside goes on', () => {
    expect(toneOf({ ...nothing, healthy: true }, 'progress')).toBe('progress');
    expect(toneOf(verdict('x', [finding('x')]), 'progress')).toBe('failure');
  });
});

describe('the first line of a card', () => {
  const count = ' (1 of 4 pods) · 3 of 3 pods ready';

  it('leaves out the age, the restarts and the class of an exception before it cuts the cause', () => {
    const java =
      "payments exited with code 1, 12 s ago, restarted 2 times: “java.lang.IllegalArgumentException: Could not resolve placeholder 'gateway.api-key'”";
    expect(lineOf('deployment/payments', `${java} · 0 of 1 pod ready`)).toBe(
      "deployment/payments: payments exited with code 1: “Could not resolve placeholder 'gateway.api-key'”",
    );
    const python =
      "the init container migrate exited with code 1, 8 s ago, restarted 2 times: “alembic.util.exc.CommandError: Can't locate revision identified by '4f1c2a9b7d3e'” · 0 of 1 pod ready";
    expect(lineOf('deployment/web', python)).toContain("“Can't locate revision identified by '4f1c2a9b7d3e'”");
  });

  it('leaves out how many pods it is true of last, and then whole', () => {
    const words = `web exited with code 1: “${'x'.repeat(40)}”`;
    expect(lineOf('deployment/web', `${words}${count}`)).toBe(`deployment/web: ${words}${count}`);
    const longer = `web exited with code 1: “${'x'.repeat(60)}”`;
    expect(lineOf('deployment/web', `${longer}${count}`)).toBe(`deployment/web: ${longer} (1 of 4 pods)`);
    const longest = `web exited with code 1: “${'x'.repeat(74)}”`;
    expect(lineOf('deployment/web', `${longest}${count}`)).toBe(`deployment/web: ${longest}`);
  });

  it('leaves out what is well before it cuts what is worth knowing', () => {
    const says = `worth knowing: db:5432 refuses connections: web logs 20 × “${'x'.repeat(60)}”`;
    expect(lineOf('web', `Ready; ${says.slice(0, -20)}”`)).toBe(`web: Ready; ${says.slice(0, -20)}”`);
    expect(lineOf('web-7d9f8b6c5-abcdefgh', `Ready; ${says}`)).toMatch(/^web-\S+: worth knowing: db:5432 refuses/);
    const looked = 'Ready; nothing found in 13 sections; no look into its threads';
    expect(lineOf('web', `${looked}; ${says}`)).toMatch(/^web: worth knowing: db:5432 refuses/);
  });

  it('leaves out nothing of what a program wrote', () => {
    const words = `web exited with code 1: “${'x'.repeat(60)} 3 s ago, 2 of 3 pods ready · 1 of 2 pods ready”`;
    expect(lineOf('web-1', words)).toContain('3 s ago, 2 of 3');
  });
});

describe('what was not checked', () => {
  it('is the log first', () => {
    const unseen = ['its node: no answer in time', 'the log of web: it is empty'];
    expect(unseenWords(verdict('x', [], { unseen }))).toBe('the log of web: it is empty');
    expect(unseenWords(verdict('x', [], { unseen: ['Not checked: its node'] }))).toBe('its node');
  });

  it('is the log also where nobody says so', () => {
    expect(unseenWords(verdict('x'))).toBe('its own log');
    expect(unseenWords(verdict('x', [], { healthy: true }))).toBe('');
  });

  it('is nothing where an answer from the API names nothing', () => {
    expect(unseenWords(verdict('x', [], { readAtMs: 1 }))).toBe('');
  });
});
