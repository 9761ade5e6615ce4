import { afterEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../../play/slack/index.ts';
import { createClient } from '../../../src/adapters/slack/client.ts';
import { createSlack } from '../../../src/adapters/slack/index.ts';
import { TokenWatch } from '../../../src/adapters/slack/token-watch.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeInbox, RecordingLog, realClock } from './harness.ts';

const REJECTED = () => Promise.reject(new KdebugError('slack_token_rejected', { detail: 'token_revoked' }));
const fine = () => Promise.resolve('fine');

/** A watch whose own question Slack answers as `slack.says` does. */
function aWatch() {
  const clock = new FakeClock();
  const log = new RecordingLog();
  const changes: boolean[] = [];
  const slack = { says: fine as () => Promise<unknown>, asked: 0 };
  const watch: TokenWatch = new TokenWatch({
    clock,
    log,
    ask: () => {
      slack.asked += 1;
      return watch.watched(slack.says);
    },
    onChange: (isAccepted) => changes.push(isAccepted),
  });
  watch.start();
  changes.length = 0;
  const rejected = async (): Promise<void> => {
    slack.says = REJECTED;
    await expect(watch.watched(REJECTED)).rejects.toThrow();
  };
  return { clock, log, changes, slack, watch, rejected };
}

describe('whether Slack accepts the token', () => {
  it('is learnt: no from the first rejection by auth.test, yes from the first success of any call after it', async () => {
    const { watch, rejected, changes } = aWatch();
    await rejected();
    await rejected();
    expect(watch.isAccepted()).toBe(false);
    await watch.watched(fine);
    await watch.watched(fine);
    expect(watch.isAccepted()).toBe(true);
    expect(changes).toEqual([false, true]);
  });

  it('is not learnt from other errors', async () => {
    const { watch, changes } = aWatch();
    for (const code of ['slack_unreachable', 'slack_refused', 'slack_channel_closed'] as const)
      await expect(watch.watched(() => Promise.reject(new KdebugError(code)))).rejects.toThrow();
    expect(changes).toEqual([]);
  });

  it('is not changed back by an answer to a call from before the change', async () => {
    const { watch, rejected } = aWatch();
    let answer = (_: string): void => {};
    const slow = watch.watched(() => new Promise<string>((resolve) => (answer = resolve)));
    await rejected();
    answer('late');
    await slow;
    expect(watch.isAccepted()).toBe(false);
  });

  it('is an error in the log with the next step when it begins, and one line when it ends', async () => {
    const { watch, rejected, log, clock } = aWatch();
    await rejected();
    await clock.advance(120_000);
    await watch.watched(fine);
    expect(log.records).toEqual([
      {
        level: 'error',
        message: 'Slack rejects the bot token, nothing new starts',
        fields: {
          reason: 'slack_token_rejected',
          detail: 'token_revoked',
          hint: expect.stringContaining('SLACK_BOT_TOKEN'),
        },
      },
      {
        level: 'info',
        message: 'Slack accepts the bot token again',
        fields: expect.objectContaining({ lastedMs: 120_000 }),
      },
    ]);
  });
});

describe('asking Slack by itself', () => {
  it('notices within a minute that the token of a bot without work was revoked, and that it works again', async () => {
    const { watch, slack, clock } = aWatch();
    slack.says = REJECTED;
    await clock.advance(60_000);
    expect(watch.isAccepted()).toBe(false);
    await clock.advance(600_000);
    slack.says = fine;
    await clock.advance(60_000);
    expect(watch.isAccepted()).toBe(true);
  });

  it('costs a call a minute at most, while the token works and while it does not', async () => {
    const { slack, clock } = aWatch();
    await clock.advance(600_000);
    expect(slack.asked).toBe(10);
    slack.says = REJECTED;
    await clock.advance(600_000);
    expect(slack.asked).toBeLessThanOrEqual(10 + 14);
  });

  it('does not ask while other calls are accepted', async () => {
    const { watch, slack, clock } = aWatch();
    for (let half = 0; half < 20; half += 1) {
      await watch.watched(fine);
      await clock.advance(30_000);
    }
    expect(slack.asked).toBe(0);
  });

  it('ends with the watch', async () => {
    const { watch, slack, clock } = aWatch();
    watch.stop();
    await clock.advance(600_000);
    expect([slack.asked, clock.pending]).toEqual([0, 0]);
  });
});

describe('confirming', () => {
  it('asks once for all who wait, and not again within five seconds of an accepted call', async () => {
    const { watch, slack, clock } = aWatch();
    await clock.advance(5_000);
    expect(await Promise.all([watch.confirm(), watch.confirm()])).toEqual([true, true]);
    await clock.advance(4_000);
    expect(await watch.confirm()).toBe(true);
    expect(slack.asked).toBe(1);
    await clock.advance(1_000);
    slack.says = REJECTED;
    expect(await watch.confirm()).toBe(false);
    expect(slack.asked).toBe(2);
  });

  it('asks nothing while the token is rejected: only time, or another call, brings news', async () => {
    const { watch, slack, rejected } = aWatch();
    await rejected();
    expect(await watch.confirm()).toBe(false);
    expect(slack.asked).toBe(0);
  });

  it('takes the last word when Slack does not answer within 1.5 s', async () => {
    const { watch, slack, clock } = aWatch();
    await clock.advance(5_000);
    slack.says = () => new Promise(() => {});
    const answer = watch.confirm();
    await clock.advance(1_500);
    expect(await answer).toBe(true);
  });

  it('tells whoever waits for the token, until they no longer listen', async () => {
    const { watch, rejected } = aWatch();
    const told: string[] = [];
    watch.onAccepted(() => told.push('one'));
    const stop = watch.onAccepted(() => told.push('two'));
    await watch.watched(fine);
    await rejected();
    await watch.watched(fine);
    stop();
    await rejected();
    await watch.watched(fine);
    expect(told).toEqual(['one', 'two', 'one']);
  });
});

describe('a rejection by one method alone', () => {
  const odd = (watch: TokenWatch): Promise<unknown> =>
    expect(watch.watched(REJECTED, 'conversations.info')).rejects.toThrow();

  it('stops nothing when auth.test, asked at once, is accepted', async () => {
    const { watch, slack, log, changes } = aWatch();
    await odd(watch);
    expect([slack.asked, watch.isAccepted(), await watch.confirm()]).toEqual([1, true, true]);
    expect([changes, log.records]).toEqual([[], []]);
  });

  it('is the end of a token that auth.test rejects too', async () => {
    const { watch, slack, changes } = aWatch();
    slack.says = REJECTED;
    await odd(watch);
    expect([watch.isAccepted(), changes]).toEqual([false, [false]]);
  });

  it('again and again asks every five seconds at most', async () => {
    const { watch, slack, clock } = aWatch();
    for (let second = 0; second < 60; second += 1) {
      await odd(watch);
      await clock.advance(1_000);
    }
    expect(slack.asked).toBeGreaterThan(5);
    expect(slack.asked).toBeLessThanOrEqual(12);
    expect(watch.isAccepted()).toBe(true);
  });

  it('lets nothing launch until a call is accepted, also while Slack does not answer the question', async () => {
    const { watch, slack, clock } = aWatch();
    slack.says = () => Promise.reject(new KdebugError('slack_unreachable'));
    await odd(watch);
    expect(await watch.confirm()).toBe(false);
    slack.says = fine;
    await clock.advance(5_000);
    expect(await watch.confirm()).toBe(true);
  });

  it('is not outweighed by a success from before it', async () => {
    const { watch, slack } = aWatch();
    slack.says = () => Promise.reject(new KdebugError('slack_unreachable'));
    let answer = (_: string): void => {};
    const slow = watch.watched(() => new Promise<string>((resolve) => (answer = resolve)), 'chat.postMessage');
    await odd(watch);
    answer('late');
    await slow;
    expect(await watch.confirm()).toBe(false);
  });
});

describe('on the local Slack', () => {
  let local: LocalSlack;
  afterEach(() => local.stop());

  /** The adapter, and each answer about the token that it told. */
  const started = async () => {
    local = await startLocalSlack();
    const options = { botToken: local.botToken, apiUrl: local.apiUrl, log: new RecordingLog(), clock: realClock };
    const changes: boolean[] = [];
    const transport = { kind: 'http', signingSecret: local.signingSecret, port: 0 } as const;
    const slack = createSlack({ ...options, transport, onToken: (isAccepted) => changes.push(isAccepted) });
    await slack.start(new FakeInbox());
    return { slack, changes };
  };

  it.each(['token_revoked', 'invalid_auth', 'account_inactive', 'token_expired'])(
    '%s at one method rejects that call, and stops nothing while auth.test is accepted',
    async (kind) => {
      const { slack } = await started();
      local.faults.queue({ method: 'users.info', kind });
      await expect(slack.directory.person('U0ROY')).rejects.toMatchObject({ code: 'slack_token_rejected' });
      expect(slack.token.isAccepted()).toBe(true);
      await slack.stop();
    },
  );

  it.each([
    'token_revoked',
    'invalid_auth',
    'account_inactive',
    'token_expired',
    'user_removed_from_team',
    'team_disabled',
  ])('%s of auth.test too ends it, until a call is accepted', async (kind) => {
    const { slack, changes } = await started();
    local.faults.queue({ method: 'users.info', kind });
    local.faults.queue({ method: 'auth.test', kind });
    await expect(slack.directory.person('U0ROY')).rejects.toMatchObject({ code: 'slack_token_rejected' });
    expect(slack.token.isAccepted()).toBe(false);
    await slack.directory.person('U0ROY');
    expect(changes).toEqual([true, false, true]);
    await slack.stop();
  });

  it('a client shows each call by its method', async () => {
    local = await startLocalSlack();
    const methods: string[] = [];
    const client = createClient(local.botToken, local.apiUrl, new RecordingLog(), {
      around: (method, call) => {
        methods.push(method);
        return call();
      },
    });
    await client.users.info({ user: 'U0ROY' });
    await client.auth.test();
    expect(methods).toEqual(['users.info', 'auth.test']);
  });
});
