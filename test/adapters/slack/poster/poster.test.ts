import {
  ErrorCode,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRateLimitedError,
  WebAPIRequestError,
} from '@slack/web-api';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Call, Poster } from '../../../../src/adapters/slack/poster/poster.ts';
import type { LogFields } from '../../../../src/flow/ports/machine.ts';
import { FakeClock, settle } from '../../../support/fake-clock.ts';

const MINUTE = 60_000;
const post = (channelId = 'C0SHOP', lane: Call['lane'] = 'final'): Call => ({
  method: 'chat.postMessage',
  lane,
  channelId,
  repeatable: false,
});
const anchor = (): Call => post('C0SHOP', 'opening');
const update = (lane: Call['lane']): Call => ({ method: 'chat.update', lane, channelId: 'C0SHOP', repeatable: true });
const unanswered = () => new WebAPIRequestError(new Error('socket hang up'));
const refused = (error: string) => new WebAPIPlatformError({ ok: false, error, response_metadata: {} });

let clock: FakeClock;
let lines: { readonly message: string; readonly fields: LogFields | undefined }[];
const line = (message: string, fields?: LogFields): void => void lines.push({ message, fields });
const log = { debug: line, info: line, warn: line, error: line };
let poster: Poster;
let sent: { readonly what: string; readonly atMs: number }[];

beforeEach(() => {
  clock = new FakeClock();
  poster = new Poster(clock, log);
  sent = [];
  lines = [];
});

const note = (what: string) => async () => {
  sent.push({ what, atMs: clock.now() });
};
const whats = () => sent.map(({ what }) => what);
/** When each of these was sent, from the first call of all. */
const times = (what: string) => sent.filter((one) => one.what === what).map(({ atMs }) => atMs - sent[0]!.atMs);
/** Fails with each error in turn, then works. */
const failing =
  (what: string, ...errors: Error[]) =>
  async () => {
    await note(what)();
    const error = errors.shift();
    if (error) throw error;
  };
const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? 'no code',
  );

describe('pace', () => {
  it('a channel gets a burst of fifteen posts, then one a second; other channels do not wait for it', async () => {
    for (let count = 0; count < 17; count += 1) void poster.call(post(), note('shop'));
    void poster.call(post('C0OPS'), note('ops'));
    await clock.advance(2_500);
    expect(times('shop')).toEqual([...Array(15).fill(0), 1_000, 2_000]);
    expect(times('ops')).toEqual([0]);
  });

  it('a file that is shared is a post of its channel', async () => {
    const share: Call = { ...post(), method: 'files.completeUploadExternal' };
    for (let count = 0; count < 10; count += 1) void poster.call(share, note('file'));
    for (let count = 0; count < 6; count += 1) void poster.call(post(), note('post'));
    await clock.advance(1_500);
    expect(times('file')).toEqual(Array(10).fill(0));
    expect(times('post')).toEqual([...Array(5).fill(0), 1_000]);
  });

  it('ten first words of runs go at once; five results may still follow them at once', async () => {
    for (let count = 0; count < 12; count += 1) void poster.call(anchor(), note('anchor'));
    await settle();
    for (let count = 0; count < 5; count += 1) void poster.call(post(), note('result'));
    await settle();
    expect(times('result')).toEqual(Array(5).fill(0));
    expect(times('anchor')).toEqual(Array(10).fill(0));
  });

  it('a result goes before first words that came up to five seconds earlier; after that they are in turn', async () => {
    for (let count = 0; count < 15; count += 1) void poster.call(post(), note('before'));
    await settle();
    void poster.call(anchor(), note('anchor'));
    await clock.advance(500);
    // One result comes for each that goes: without a bound the anchor would wait for ever.
    for (let count = 0; count < 20; count += 1) {
      void poster.call(post(), note('result'));
      await clock.advance(1_000);
    }
    expect(times('result').filter((atMs) => atMs < times('anchor')[0]!)).toHaveLength(5);
    expect(times('anchor')).toEqual([6_000]);
  });

  it('progress never takes more than 30 updates in any minute, spread after a burst', async () => {
    for (let count = 0; count < 200; count += 1) void poster.newest(`m${count}`, update('progress'), note('tail'));
    await clock.advance(3 * MINUTE);
    const inMinute = sent.map(
      ({ atMs }) => sent.filter((other) => other.atMs >= atMs && other.atMs < atMs + MINUTE).length,
    );
    expect(Math.max(...inMinute)).toBeLessThanOrEqual(30);
    expect(sent.length).toBeGreaterThan(80);
    expect(sent.filter(({ atMs }) => atMs === sent[0]!.atMs)).toHaveLength(8);
  });

  it('what nobody waits for leaves half of the calls to the others, and gives way to them', async () => {
    const search = (lane: Call['lane']): Call => ({ method: 'conversations.replies', lane, repeatable: true });
    for (let count = 0; count < 60; count += 1) void poster.call(search('background'), note('old'));
    void poster.call(search('final'), note('waited for'));
    await settle();
    expect(whats()[0]).toBe('waited for');
    expect(times('old')).toHaveLength(24);
    for (let count = 0; count < 25; count += 1) void poster.call(search('final'), note('adopted'));
    await settle();
    expect(times('adopted')).toEqual(Array(25).fill(0));
    await clock.advance(MINUTE - 1);
    expect(times('old')).toHaveLength(24);
    await clock.advance(3 * MINUTE);
    expect(times('old')).toHaveLength(60);
  });

  it('a final update goes at once however many progress updates wait, and all lanes together stay below 50 a minute', async () => {
    for (let count = 0; count < 200; count += 1) void poster.newest(`m${count}`, update('progress'), note('tail'));
    await clock.advance(50_000);
    void poster.newest('result', update('final'), note('result'));
    await settle();
    expect(whats().at(-1)).toBe('result');
    for (let count = 0; count < 100; count += 1) void poster.newest(`r${count}`, update('final'), note('result'));
    await clock.advance(10 * MINUTE);
    const inMinute = sent.map(
      ({ atMs }) => sent.filter((other) => other.atMs >= atMs && other.atMs < atMs + MINUTE).length,
    );
    expect(Math.max(...inMinute)).toBe(50);
    expect(sent.filter(({ what }) => what === 'result')).toHaveLength(101);
  });
});

describe('several updates of one message', () => {
  it('only the newest waiting one is sent, and all resolve with it', async () => {
    for (let count = 0; count < 8; count += 1) void poster.newest(`other${count}`, update('progress'), note('other'));
    await settle();
    const outcomes = ['1', '2', '3'].map((what) => outcomeOf(poster.newest('m', update('progress'), note(what))));
    await clock.advance(5_000);
    expect(whats().filter((what) => what !== 'other')).toEqual(['3']);
    expect(await Promise.all(outcomes)).toEqual(['done', 'done', 'done']);
  });

  it('are never in flight together, so an old one cannot land after a new one', async () => {
    let land: () => void = () => undefined;
    const landed = new Promise<void>((resolve) => {
      land = resolve;
    });
    void poster.newest('m', update('final'), async () => {
      await note('1 begins')();
      await landed;
      await note('1 ends')();
    });
    await settle();
    void poster.newest('m', update('final'), note('2'));
    await settle();
    expect(whats()).toEqual(['1 begins']);
    land();
    await settle();
    expect(whats()).toEqual(['1 begins', '1 ends', '2']);
  });

  it('a final one that waits stays final when a newer one takes its place', async () => {
    for (let count = 0; count < 60; count += 1) void poster.newest(`p${count}`, update('progress'), note('progress'));
    await settle();
    void poster.newest('p59', update('final'), note('final'));
    await settle();
    expect(whats().at(-1)).toBe('final');
  });

  it('one that must go again gives way to a newer one that came meanwhile', async () => {
    const first = outcomeOf(poster.newest('m', update('final'), failing('1', unanswered())));
    await settle();
    const second = outcomeOf(poster.newest('m', update('final'), note('2')));
    await clock.advance(10_000);
    expect(whats()).toEqual(['1', '2']);
    expect(await Promise.all([first, second])).toEqual(['done', 'done']);
  });
});

describe('a 429', () => {
  it('is obeyed for that method only, and the same call goes again when its time has come', async () => {
    const limited = outcomeOf(poster.newest('m', update('final'), failing('update', new WebAPIRateLimitedError(30))));
    await settle();
    void poster.call(post(), note('post'));
    await clock.advance(29_999);
    expect(whats()).toEqual(['update', 'post']);
    await clock.advance(1);
    expect(whats()).toEqual(['update', 'post', 'update']);
    expect(await limited).toBe('done');
  });

  it('on a post stops that channel only; the post is not lost and not doubled', async () => {
    const limited = outcomeOf(poster.call(post(), failing('shop', new WebAPIRateLimitedError(120))));
    await settle();
    void poster.call(post('C0OPS'), note('ops'));
    await clock.advance(121_000);
    expect(whats()).toEqual(['shop', 'ops', 'shop']);
    expect(await limited).toBe('done');
  });

  it("on a post halves its channel's burst, which comes back over minutes; one a second stays", async () => {
    void poster.call(post(), failing('first', new WebAPIRateLimitedError(1)));
    await clock.advance(MINUTE);
    const burst = async () => {
      sent = [];
      for (let count = 0; count < 17; count += 1) void poster.call(post(), note('post'));
      await clock.advance(20_000);
      return times('post').filter((atMs) => atMs === 0).length;
    };
    expect(await burst()).toBe(8);
    expect(times('post')).toContain(1_000);
    await clock.advance(5 * MINUTE);
    expect(await burst()).toBe(15);
  });

  it('on a post in a channel that has no burst left halves its rate', async () => {
    for (let count = 0; count < 5; count += 1) {
      void poster.call(post(), failing('refused', new WebAPIRateLimitedError(1)));
      await clock.advance(1_000);
    }
    sent = [];
    for (let count = 0; count < 4; count += 1) void poster.call(post(), note('post'));
    await clock.advance(20_000);
    const [first = 0, second = 0] = times('post').slice(1);
    expect(second - first).toBeGreaterThan(1_500);
  });

  it('halves the rate, which comes back over minutes', async () => {
    void poster.newest('m', update('final'), failing('first', new WebAPIRateLimitedError(1)));
    await clock.advance(1_000);
    sent = [];
    for (let count = 0; count < 400; count += 1) void poster.newest(`r${count}`, update('final'), note('result'));
    await clock.advance(MINUTE - 1_001);
    const slow = sent.length;
    await clock.advance(6 * MINUTE);
    const before = sent.length;
    await clock.advance(MINUTE);
    expect(slow).toBeLessThanOrEqual(30);
    expect(slow).toBeGreaterThanOrEqual(23);
    expect(sent.length - before).toBe(50);
  });
});

describe('a call that fails', () => {
  it.each([
    ['the connection breaks', unanswered()],
    ['Slack answers 503', new WebAPIHTTPError(503, 'Service Unavailable', {}, '')],
    ['the answer is cut off', refused('{"ok":true,"ts":"17')],
    ['Slack says that some of it may have happened', refused('fatal_error')],
    ['anything else is thrown', new TypeError('terminated')],
  ])('is unanswered when %s: a post is never repeated', async (_when, error) => {
    const outcome = outcomeOf(poster.call(post(), failing('post', error)));
    await clock.advance(MINUTE);
    expect(await outcome).toBe('slack_unanswered');
    expect(whats()).toEqual(['post']);
  });

  it('is tried three times when it may be repeated', async () => {
    const outcome = outcomeOf(
      poster.newest('m', update('final'), failing('update', unanswered(), unanswered(), unanswered())),
    );
    await clock.advance(MINUTE);
    expect(await outcome).toBe('slack_unanswered');
    expect(sent.map(({ atMs }) => atMs - sent[0]!.atMs)).toEqual([0, 500, 2_500]);
  });

  it.each([
    ['message_not_found', 'slack_message_gone'],
    ['is_archived', 'slack_channel_closed'],
    ['not_in_channel', 'slack_channel_closed'],
    ['token_revoked', 'slack_token_rejected'],
    ['missing_scope', 'slack_refused'],
  ])('with %s is %s, at once', async (error, code) => {
    const outcome = outcomeOf(poster.newest('m', update('final'), failing('update', refused(error))));
    await settle();
    expect(await outcome).toBe(code);
    expect(whats()).toEqual(['update']);
  });

  it('carries no timer and no call into the time after a close', async () => {
    for (let count = 0; count < 17; count += 1) void outcomeOf(poster.call(post(), note('post')));
    await settle();
    const late = outcomeOf(poster.call(post(), note('late')));
    poster.close();
    expect(await late).toBe('slack_unanswered');
    expect(await outcomeOf(poster.call(post(), note('later')))).toBe('slack_unanswered');
    expect(clock.pending).toBe(0);
    expect(whats()).toEqual(Array(15).fill('post'));
  });
});

it('the queue is bounded: with 10,000 calls waiting the next one fails at once', async () => {
  for (let count = 0; count < 10_000; count += 1) void outcomeOf(poster.call(post(), note('post')));
  expect(await outcomeOf(poster.call(post(), note('one too many')))).toBe('slack_unanswered');
});

it('the error codes of the client are the ones that are recognized', () => {
  expect(unanswered().code).toBe(ErrorCode.RequestError);
});

describe('what the log says of 429s', () => {
  const limited = (seconds: number) => new WebAPIRateLimitedError(seconds);

  it('is one line when Slack begins to limit a method, and one when a call passes again', async () => {
    const search: Call = { method: 'conversations.replies', lane: 'final', repeatable: true };
    void poster.call(search, failing('first', limited(10), limited(20)));
    void poster.call(search, failing('second', limited(10)));
    await clock.advance(9_000);
    const fields = { method: 'conversations.replies', channelId: undefined, retryAfterMs: 10_000 };
    expect(lines).toEqual([{ message: 'Slack limits our calls, they wait', fields }]);
    await clock.advance(2 * MINUTE);
    expect(lines.slice(1)).toEqual([
      { message: 'Slack takes our calls again', fields: { ...fields, lastedMs: expect.any(Number), failures: 3 } },
    ]);
  });

  it('is not ended by a post in another channel', async () => {
    void poster.call(post('C0SHOP'), failing('shop', limited(30)));
    await settle();
    void poster.call(post('C0OPS'), note('ops'));
    await clock.advance(20_000);
    expect(lines.map(({ fields }) => fields?.channelId)).toEqual(['C0SHOP']);
    await clock.advance(20_000);
    expect(lines.map(({ message }) => message)).toEqual([
      'Slack limits our calls, they wait',
      'Slack takes our calls again',
    ]);
  });

  it('is nothing while Slack takes every call', async () => {
    void poster.call(post(), note('post'));
    await settle();
    expect(lines).toEqual([]);
  });
});
