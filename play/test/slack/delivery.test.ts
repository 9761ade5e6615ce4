import type { App } from '@slack/bolt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../slack/index.ts';
import { startBolt } from './bolt-app.ts';

const APPROVE = {
  type: 'actions',
  elements: [
    {
      type: 'button',
      action_id: 'approve',
      text: { type: 'plain_text', text: 'Approve' },
      value: 'run-1',
      style: 'primary',
    },
    { type: 'button', action_id: 'reject', text: { type: 'plain_text', text: 'Reject' }, value: 'run-1' },
  ],
};

describe.each(['http', 'socket'] as const)('a real Bolt app against the local Slack, by %s', (via) => {
  let slack: LocalSlack;
  let app: App | undefined;
  const start = async (register: (app: App) => void) => {
    app = await startBolt(slack, via, register);
    return app;
  };

  beforeEach(async () => {
    slack = await startLocalSlack();
  });

  afterEach(async () => {
    await app?.stop();
    await slack.stop();
    expect(slack.unknown).toEqual([]);
  });

  it('a command is acknowledged with a private answer that only its sender sees', async () => {
    await start((bolt) =>
      bolt.command('/kdebug', ({ ack, command }) => ack(`heard ${command.text} from ${command.user_id}`)),
    );
    const delivery = await slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' });
    expect(delivery).toMatchObject({ via, status: 200 });
    expect(delivery.error).toBeUndefined();
    expect(slack.ephemerals('U0ROY').map((one) => one.text)).toEqual(['heard pod-1 from U0ROY']);
    expect(slack.ephemerals('U0BOB')).toEqual([]);
    expect(slack.messages('C0SHOP')).toEqual([]);
  });

  it('a command that is never acknowledged fails for its sender with operation_timeout or an error of the server', async () => {
    await start((bolt) => bolt.command('/kdebug', async () => {}));
    const delivery = await slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: 'x' });
    expect(delivery.error).toBe('operation_timeout');
    expect(delivery.ms).toBeGreaterThan(2_900);
    expect(slack.ephemerals('U0ROY')[0]?.text).toBe('/kdebug failed with the error "operation_timeout"');
  });

  it('a mention in a thread reaches the app with the thread, and is answered there', async () => {
    await start((bolt) =>
      bolt.event(
        'app_mention',
        async ({ event, say }) => void (await say({ text: `in ${event.thread_ts}`, thread_ts: event.thread_ts ?? '' })),
      ),
    );
    const alert = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1 is down' });
    const delivery = await slack.deliver.mention({
      user: 'U0ROY',
      channel: 'C0SHOP',
      text: 'pod-1',
      threadTs: alert.ts,
    });
    expect(delivery.status).toBe(200);
    const reply = await slack.until(() => slack.thread('C0SHOP', alert.ts).find((one) => one.botId === slack.botId));
    expect(reply.text).toBe(`in ${alert.ts}`);
  });

  it('a button brings the message, its value, a response_url that works and a trigger that opens a form once', async () => {
    const seen: Record<string, unknown>[] = [];
    const view = { type: 'modal' as const, title: { type: 'plain_text' as const, text: 'Reason' }, blocks: [] };
    const second: string[] = [];
    await start((bolt) =>
      bolt.action('reject', async ({ ack, body, action, client, respond }) => {
        await ack();
        seen.push({ ...body, action });
        const trigger_id = (body as { trigger_id: string }).trigger_id;
        await client.views.open({ trigger_id, view });
        await client.views.open({ trigger_id, view }).catch((error) => second.push(error.data.error));
        await respond({ text: 'noted', replace_original: false, response_type: 'ephemeral' });
      }),
    );
    const posted = await app?.client.chat.postMessage({ channel: 'C0SHOP', text: 'approve?', blocks: [APPROVE] });
    const ts = posted?.ts ?? '';
    const delivery = await slack.deliver.action({ user: 'U0BOB', channel: 'C0SHOP', ts, actionId: 'reject' });
    // Slack's own library sends an empty object over Socket Mode.
    expect(delivery).toMatchObject({ status: 200, body: via === 'socket' ? {} : '' });
    await slack.until(() => slack.ephemerals('U0BOB').some((one) => one.text === 'noted'));
    expect(seen[0]).toMatchObject({
      type: 'block_actions',
      user: { id: 'U0BOB', team_id: slack.teamId },
      channel: { id: 'C0SHOP', name: 'shop-oncall' },
      container: { type: 'message', message_ts: ts, is_ephemeral: false },
      message: { ts, text: 'approve?', bot_id: slack.botId },
      action: { action_id: 'reject', value: 'run-1' },
    });
    expect(slack.views('U0BOB')).toHaveLength(1);
    expect(second).toEqual(['exchanged_trigger_id']);
  });

  it('a button that is not there cannot be pressed', async () => {
    await start(() => {});
    const posted = await app?.client.chat.postMessage({ channel: 'C0SHOP', text: 'approve?', blocks: [APPROVE] });
    const press = slack.deliver.action({ user: 'U0BOB', channel: 'C0SHOP', ts: posted?.ts ?? '', actionId: 'stop' });
    await expect(press).rejects.toThrow('there is: approve, reject');
  });

  it('a form is refused with errors, then accepted and closed', async () => {
    const view = {
      type: 'modal' as const,
      callback_id: 'debug',
      title: { type: 'plain_text' as const, text: 'Debug a pod' },
      submit: { type: 'plain_text' as const, text: 'Go' },
      blocks: [
        {
          type: 'input' as const,
          block_id: 'pod',
          label: { type: 'plain_text' as const, text: 'Pod' },
          element: { type: 'plain_text_input' as const, action_id: 'name' },
        },
      ],
    };
    await start((bolt) => {
      bolt.shortcut('debug-a-pod', async ({ ack, client, shortcut }) => {
        await ack();
        await client.views.open({ trigger_id: shortcut.trigger_id, view });
      });
      bolt.view('debug', async ({ ack, view: sent }) => {
        const name = sent.state.values.pod?.name?.value;
        await (name ? ack() : ack({ response_action: 'errors', errors: { pod: 'which pod?' } }));
      });
    });
    const alert = slack.deliver.say({ user: 'U0ROY', channel: 'C0SHOP', text: 'alert: pod-1' });
    await slack.deliver.shortcut({ user: 'U0ROY', callbackId: 'debug-a-pod', channel: 'C0SHOP', ts: alert.ts });
    const [open] = await slack.until(() => slack.views('U0ROY').length > 0 && slack.views('U0ROY'));
    const viewId = open?.id ?? '';
    await slack.deliver.viewSubmission({
      user: 'U0ROY',
      viewId,
      values: { pod: { name: { type: 'plain_text_input', value: null } } },
    });
    expect(slack.views('U0ROY')[0]?.errors).toEqual({ pod: 'which pod?' });
    await slack.deliver.viewSubmission({
      user: 'U0ROY',
      viewId,
      values: { pod: { name: { type: 'plain_text_input', value: 'pod-1' } } },
    });
    expect(slack.views('U0ROY')).toEqual([]);
  });

  it('the same payload can come again, marked as a retry', async () => {
    const triggers: string[] = [];
    const retries: unknown[] = [];
    await start((bolt) =>
      bolt.event('app_mention', async ({ body, context }) => {
        triggers.push(body.event_id);
        retries.push(context.retryNum);
      }),
    );
    const first = await slack.deliver.mention({ user: 'U0ROY', channel: 'C0SHOP', text: 'pod-1' });
    await slack.deliver.again(first, { retry: { attempt: 1, reason: 'http_timeout' } });
    await slack.until(() => triggers.length === 2);
    expect(new Set(triggers).size).toBe(1);
    expect(retries).toEqual([undefined, 1]);
  });

  it('fields of the payload can be forced: another team, another app', async () => {
    const heard: string[] = [];
    await start((bolt) =>
      bolt.command('/kdebug', async ({ ack, command }) => {
        heard.push(`${command.team_id} ${command.api_app_id}`);
        await ack();
      }),
    );
    await slack.deliver.command({
      user: 'U0STRANGER',
      channel: 'C0SHOP',
      text: 'x',
      override: { team_id: 'T0EVIL', api_app_id: 'A0EVIL' },
    });
    expect(heard).toEqual(['T0EVIL A0EVIL']);
  });
});
