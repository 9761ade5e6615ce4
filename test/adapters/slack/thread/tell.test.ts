import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import { expect, it } from 'vitest';
import { createThread } from '../../../../src/adapters/slack/thread/thread.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { saying } from '../harness.ts';

const log = { debug() {}, info() {}, warn() {}, error() {} };

it.each(['restricted_action_thread_locked', 'thread_locked', 'message_not_found'])(
  'who cannot be told in a thread (%s) is told outside of it',
  async (error) => {
    const told: unknown[] = [];
    const postEphemeral = async ({ thread_ts }: { thread_ts?: string }) => {
      if (thread_ts !== undefined) throw new WebAPIPlatformError({ ok: false, error });
      told.push(thread_ts);
      return { ok: true };
    };
    const client = { chat: { postEphemeral } } as unknown as WebClient;
    const clock = new FakeClock();
    const options = { client, apiUrl: 'https://slack.com/api/', clock, log, through: {}, ourselves: () => undefined };
    const { thread, close } = createThread(options);
    const said = thread.tell({ channelId: 'C0SHOP', userId: 'U0ROY', threadTs: '1.0', isReply: true }, saying('no'));
    await clock.advance(1_000);
    await said;
    expect(told).toEqual([undefined]);
    close();
  },
);
