import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { StoredView } from '../../../play/slack/index.ts';
import type { FormName } from '../../../src/core/actions.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { COMMAND } from '../../../src/core/shown-names.ts';
import type { Answer, Destination, SubmitAnswer } from '../../../src/flow/ports/slack.ts';
import { formOf, openForm, typed } from './deeds.ts';
import { saying, startWorld, type World } from './harness.ts';

const ROY = { user: 'U0ROY', channel: 'C0SHOP' };
const asking = (name: FormName = 'debug'): Answer => ({ kind: 'form', form: formOf(name) });

let world: World;
beforeAll(async () => {
  world = await startWorld('http');
});
afterAll(() => world.stop());
beforeEach(() => {
  world.inbox.answer = async () => asking();
  world.inbox.submitAnswer = async () => ({ kind: 'taken' });
});
afterEach(() => {
  world.inbox.forget();
  world.local.faults.clear();
  for (const view of world.local.views()) view.open = false;
});

const opened = (): Promise<StoredView> => world.local.until(() => world.local.views('U0ROY')[0]);
const metadataOf = ({ view }: StoredView): unknown => JSON.parse(String(view.private_metadata));
const told = async (act: () => Promise<unknown>): Promise<string> => {
  const before = world.local.ephemerals('U0ROY').length;
  await act();
  return JSON.stringify((await world.local.until(() => world.local.ephemerals('U0ROY')[before])).blocks);
};

describe('an answer that is a form is opened', () => {
  it('after a command, with the channel to come back to', async () => {
    const delivery = await world.local.deliver.command({ ...ROY, text: '' });
    expect(delivery).toMatchObject({ status: 200, body: '' });
    const view = await opened();
    expect(view.view).toMatchObject({ type: 'modal', callback_id: 'debug', title: { text: 'Debug a pod' } });
    expect(metadataOf(view)).toEqual({ name: 'debug', value: 'abcdefgh23', channelId: 'C0SHOP' });
  });

  it('after a click in a thread, with the thread too', async () => {
    const root = world.local.deliver.say({ ...ROY, text: 'an alert' });
    const message = {
      ...saying('card'),
      parts: [
        { kind: 'actions' as const, buttons: [{ action: 'approve' as const, label: 'Approve', value: 'abcdefgh23' }] },
      ],
    };
    const place = { channelId: 'C0SHOP', threadTs: root.ts };
    const { ts } = await world.slack.thread.post(place, message, { run: 'abcdefgh23', kind: 'anchor', seq: 1 });
    world.inbox.answer = async () => asking('vote-reason');
    await world.local.deliver.action({ ...ROY, ts, actionId: 'approve' });
    expect(metadataOf(await opened())).toMatchObject({ name: 'vote-reason', channelId: 'C0SHOP', threadTs: root.ts });
  });

  it('after a click on a card that has replies, without a thread: the card is in the channel', async () => {
    const ts = await aCard();
    world.local.deliver.say({ ...ROY, text: 'looking', threadTs: ts });
    world.inbox.answer = async () => asking('vote-reason');
    await world.local.deliver.action({ ...ROY, ts, actionId: 'approve' });
    expect(metadataOf(await opened())).toEqual({ name: 'vote-reason', value: 'abcdefgh23', channelId: 'C0SHOP' });
  });

  it.each([
    ['another app’s, without replies', 'U0ROBOT', []],
    ['a person’s, without replies', 'U0BOB', []],
    ['with replies', 'U0ROBOT', ['looking']],
  ])('after the shortcut on a message of the channel, with its thread: %s', async (_, user, replies) => {
    const { ts } = world.local.deliver.say({ ...ROY, user, text: 'an alert' });
    for (const text of replies) world.local.deliver.say({ ...ROY, text, threadTs: ts });
    await world.local.deliver.shortcut({ ...ROY, ts, callbackId: 'debug-pod' });
    expect(metadataOf(await opened())).toMatchObject({ channelId: 'C0SHOP', threadTs: ts });
    expect(world.inbox.shortcuts).toMatchObject([{ threadTs: ts }]);
  });

  it('after the shortcut, which tells the inbox what the message says', async () => {
    const { ts } = world.local.deliver.say({ ...ROY, text: 'pod <http://x|web-1> in shop &amp; more' });
    await world.local.deliver.shortcut({ ...ROY, ts, callbackId: 'debug-pod' });
    await opened();
    expect(world.inbox.shortcuts).toEqual([
      {
        name: 'debug-pod',
        teamId: 'T0LOCAL',
        userId: 'U0ROY',
        channelId: 'C0SHOP',
        text: 'pod web-1 in shop & more',
        messageTs: ts,
        threadTs: ts,
        dedupeKey: expect.stringMatching(/^[0-9a-f]{64}$/),
        receivedAtMs: expect.any(Number),
      },
    ]);
  });

  it('each shortcut by its own name, with the message’s code block; each use is one of its own', async () => {
    world.inbox.answer = async () => ({ kind: 'nothing' });
    const { ts } = world.local.deliver.say({ ...ROY, text: 'run\n```a: 1 &amp; 2```' });
    await world.local.deliver.shortcut({ ...ROY, ts, callbackId: 'apply-job' });
    await world.local.deliver.shortcut({ ...ROY, ts, callbackId: 'apply-job' });
    await world.local.until(() => world.inbox.shortcuts.length === 2);
    expect(world.inbox.shortcuts).toMatchObject([
      { name: 'apply-job', code: 'a: 1 & 2' },
      { name: 'apply-job', code: 'a: 1 & 2' },
    ]);
    expect(new Set(world.inbox.shortcuts.map(({ dedupeKey }) => dedupeKey)).size).toBe(2);
  });
});

/** A message with a button, in the channel, in a thread of it or elsewhere. */
async function aCard(place: Destination = { channelId: 'C0SHOP' }): Promise<string> {
  const buttons = [{ action: 'approve', label: 'Approve', value: 'abcdefgh23' }] as const;
  const message = { ...saying('card'), parts: [{ kind: 'actions' as const, buttons }] };
  return (await world.slack.thread.post(place, message, { run: 'abcdefgh23', kind: 'anchor', seq: 1 })).ts;
}

describe('an answer that is late follows the acknowledgement', () => {
  /** The promise of what comes once the test lets it. */
  const later = <Given>(given: Given) => {
    let come = (): void => undefined;
    const answer = new Promise<Given>((resolve) => {
      come = () => resolve(given);
    });
    return { come: () => come(), late: { kind: 'later', answer } as const };
  };
  const says = (words: string) => ({ kind: 'message', message: saying(words) }) as const;

  it('to a click and to a command: nothing is said before it', async () => {
    const ts = await aCard();
    for (const ask of [
      () => world.local.deliver.action({ ...ROY, ts, actionId: 'approve' }),
      () => world.local.deliver.command({ ...ROY, text: 'stop abcdefgh23' }),
    ]) {
      const { come, late } = later<Answer>(says(`late ${COMMAND}`));
      world.inbox.answer = async () => late;
      const before = world.local.ephemerals('U0ROY').length;
      expect(await ask()).toMatchObject({ status: 200, body: '' });
      expect(world.local.ephemerals('U0ROY')).toHaveLength(before);
      expect(await told(async () => come())).toContain('late /kdebug');
    }
  });

  it.each<[string, SubmitAnswer]>([
    ['a refusal', { kind: 'taken', message: saying('too late to vote') }],
    ['errors beside its fields', { kind: 'errors', errors: { pod: 'too late to vote' } }],
  ])('to a form, which is closed by then: %s', async (_, given) => {
    const viewId = await openForm(world, 'debug');
    const { come, late } = later(given);
    world.inbox.submitAnswer = async () => late;
    const submitted = await world.local.deliver.viewSubmission({ user: 'U0ROY', viewId, values: typed('x') });
    expect(submitted.body).toEqual({ response_action: 'clear' });
    expect(await told(async () => come())).toContain('too late to vote');
  });
});

describe('a private answer stands where the person looks', () => {
  const saidTo = (user: string) => world.local.ephemerals(user).at(-1);
  const answered = async (user: string, act: () => Promise<unknown>) => {
    world.inbox.answer = async () => ({ kind: 'message', message: saying('only for you') });
    const before = world.local.ephemerals(user).length;
    await act();
    await world.local.until(() => world.local.ephemerals(user)[before]);
    const { channel, threadTs, text } = saidTo(user)!;
    return { channel, threadTs, text };
  };
  const uses = () => world.local.requestCounts.get('response_url') ?? 0;

  it('a click on a reply is answered in its thread', async () => {
    const root = world.local.deliver.say({ ...ROY, text: 'an alert' });
    const ts = await aCard({ channelId: 'C0SHOP', threadTs: root.ts });
    const before = uses();
    const said = await answered('U0ROY', () => world.local.deliver.action({ ...ROY, ts, actionId: 'approve' }));
    expect(said).toEqual({ channel: 'C0SHOP', threadTs: root.ts, text: 'only for you' });
    expect(uses()).toBe(before);
  });

  it('a shortcut on a reply is answered in its thread', async () => {
    const root = world.local.deliver.say({ ...ROY, text: 'an alert' });
    const { ts } = world.local.deliver.say({ ...ROY, text: 'pod-1', threadTs: root.ts });
    const said = await answered('U0ROY', () => world.local.deliver.shortcut({ ...ROY, ts, callbackId: 'debug-pod' }));
    expect(said).toMatchObject({ threadTs: root.ts });
  });

  it.each([true, false])(
    'a click on a card of the channel is answered in the channel (replies: %s)',
    async (hasReplies) => {
      const ts = await aCard();
      if (hasReplies) world.local.deliver.say({ ...ROY, text: 'looking', threadTs: ts });
      const said = await answered('U0ROY', () => world.local.deliver.action({ ...ROY, ts, actionId: 'approve' }));
      expect(said).toEqual({ channel: 'C0SHOP', threadTs: undefined, text: 'only for you' });
    },
  );

  it('a click on a private answer in a thread is answered in that thread', async () => {
    const root = world.local.deliver.say({ ...ROY, text: 'an alert' });
    world.local.deliver.say({ ...ROY, text: 'looking', threadTs: root.ts });
    const buttons = [{ action: 'look-again', label: 'Run again', value: 'abcdefgh23' }] as const;
    const question: Message = { ...saying('again?'), parts: [{ kind: 'actions', buttons }] };
    await world.slack.thread.tell({ channelId: 'C0SHOP', userId: 'U0ROY', threadTs: root.ts }, question);
    const { ts } = saidTo('U0ROY')!;
    const said = await answered('U0ROY', () => world.local.deliver.action({ ...ROY, ts, actionId: 'look-again' }));
    expect(said).toMatchObject({ threadTs: root.ts });
  });

  it('by the response_url when Slack takes no private answer in the thread', async () => {
    const root = world.local.deliver.say({ ...ROY, text: 'an alert' });
    const ts = await aCard({ channelId: 'C0SHOP', threadTs: root.ts });
    world.local.faults.queue({ method: 'chat.postEphemeral', kind: 'user_not_in_channel' });
    const before = uses();
    await answered('U0ROY', () => world.local.deliver.action({ ...ROY, ts, actionId: 'approve' }));
    expect(uses()).toBe(before + 1);
  });

  it('a click in a direct message with the bot reaches the inbox, and is answered there with a message that stays', async () => {
    const place = await world.slack.thread.openDirect('U0BOB');
    const ts = await aCard(place);
    const click = { user: 'U0BOB', channel: place.channelId, ts, actionId: 'approve' };
    world.inbox.answer = async () => ({ kind: 'message', message: saying('only for you') });
    await world.local.deliver.action(click);
    await expect.poll(() => world.local.messages(place.channelId).at(-1)?.text).toBe('only for you');
    expect(saidTo('U0BOB')).toBeUndefined();
    expect(world.inbox.clicks).toMatchObject([{ action: 'approve', userId: 'U0BOB', channelId: place.channelId }]);
    expect(place.channelId).toMatch(/^D/);
  });

  it('a form opened in a direct message comes back with that channel, and is answered there', async () => {
    const place = await world.slack.thread.openDirect('U0BOB');
    const ts = await aCard(place);
    world.inbox.answer = async () => asking('vote-reason');
    await world.local.deliver.action({ user: 'U0BOB', channel: place.channelId, ts, actionId: 'approve' });
    const { id: viewId } = await world.local.until(() => world.local.views('U0BOB')[0]);
    world.inbox.submitAnswer = async () => ({ kind: 'taken', message: saying('only for you') });
    await world.local.deliver.viewSubmission({ user: 'U0BOB', viewId, values: typed('x') });
    await expect.poll(() => world.local.messages(place.channelId).at(-1)?.text).toBe('only for you');
    expect(world.inbox.submissions).toMatchObject([{ channelId: place.channelId, userId: 'U0BOB' }]);
  });
});

describe('an answer that is a page is a window to read', () => {
  const buttons = [{ action: 'look-again', label: 'Run again', value: 'abcdefgh23' }] as const;
  const parts: Message['parts'] = [
    { kind: 'table', columns: [{ label: 'Pod' }], rows: [[[{ kind: 'text', text: 'web-1' }]]] },
    { kind: 'preformatted', text: 'line 1\nline 2' },
    { kind: 'actions', buttons },
  ];
  beforeEach(() => {
    world.inbox.answer = async () => ({
      kind: 'page',
      title: 'Details of a run with a name that is long',
      message: { ...saying('all of it'), parts },
    });
  });

  it('after a click: without a field, without a submit, without buttons', async () => {
    await world.local.deliver.action({ ...ROY, ts: await aCard(), actionId: 'approve' });
    const { view } = await opened();
    expect(view).toMatchObject({ type: 'modal', close: { text: 'Close' } });
    expect(view.submit).toBeUndefined();
    expect(String((view.title as { text: string }).text).length).toBeLessThanOrEqual(24);
    expect(JSON.stringify(view.blocks)).toMatch(/all of it.*line 1/);
    expect(JSON.stringify(view.blocks)).not.toContain('Run again');
  });

  it('after a command', async () => {
    await world.local.deliver.command({ ...ROY, text: 'show abcdefgh23' });
    expect(JSON.stringify((await opened()).view)).toContain('line 2');
  });

  it('is told privately where no window can open: after a mention, or when Slack refuses it', async () => {
    expect(await told(() => world.local.deliver.mention({ ...ROY, text: 'show x' }))).toContain('line 2');
    world.local.faults.queue({ method: 'views.open', kind: 'expired_trigger_id' });
    expect(await told(() => world.local.deliver.command({ ...ROY, text: 'show x' }))).toContain('line 2');
    expect(world.local.views()).toEqual([]);
  });
});

describe('when a form cannot be opened, the person is told privately', () => {
  it('because Slack refuses it', async () => {
    world.local.faults.queue({ method: 'views.open', kind: 'expired_trigger_id' });
    expect(await told(() => world.local.deliver.command({ ...ROY, text: '' }))).toContain('slack_form_not_opened');
  });

  it('because a mention has no trigger', async () => {
    expect(await told(() => world.local.deliver.mention({ ...ROY, text: '' }))).toContain('slack_form_not_opened');
    expect(world.local.views()).toEqual([]);
  });
});

it('a click on a private message is a click like any other', async () => {
  const buttons = [{ action: 'look-again', label: 'Run again', value: 'abcdefgh23' }] as const;
  world.inbox.answer = async () => ({
    kind: 'message',
    message: { ...saying('again?'), parts: [{ kind: 'actions', buttons }] },
  });
  const before = world.local.ephemerals('U0ROY').length;
  await world.local.deliver.command({ ...ROY, text: 'x' });
  const { ts } = await world.local.until(() => world.local.ephemerals('U0ROY')[before]);
  world.inbox.answer = async () => ({ kind: 'nothing' });
  await world.local.deliver.action({ ...ROY, ts, actionId: 'look-again' });
  expect(world.inbox.clicks).toMatchObject([{ action: 'look-again', value: 'abcdefgh23', messageTs: ts }]);
});

it('every delivery of one click has one key, and another click another', async () => {
  const buttons = [{ action: 'pause', label: 'Stop', value: 'abcdefgh23' }] as const;
  const message = { ...saying('running'), parts: [{ kind: 'actions' as const, buttons }] };
  const { ts } = await world.slack.thread.post({ channelId: 'C0SHOP' }, message, { run: 'x', kind: 'anchor', seq: 1 });
  world.inbox.answer = async () => ({ kind: 'nothing' });
  const first = await world.local.deliver.action({ ...ROY, ts, actionId: 'pause' });
  await world.local.deliver.again(first);
  await world.local.deliver.action({ ...ROY, ts, actionId: 'pause' });
  const [one, same, other] = world.inbox.clicks.map(({ dedupeKey }) => dedupeKey);
  expect(same).toBe(one);
  expect(other).not.toBe(one);
});

describe('a form that was filled in', () => {
  const submit = async (values: Record<string, unknown> = typed('pod-1'), override?: Record<string, unknown>) => {
    const viewId = world.local.views('U0ROY')[0]?.id ?? (await openForm(world, 'debug'));
    return world.local.deliver.viewSubmission({ user: 'U0ROY', viewId, values, ...(override ? { override } : {}) });
  };

  it('reaches the inbox with what was typed, and where it was asked for; empty fields are absent', async () => {
    const delivery = await submit();
    expect(delivery.body).toEqual({ response_action: 'clear' });
    expect(world.inbox.submissions).toEqual([
      {
        teamId: 'T0LOCAL',
        userId: 'U0ROY',
        channelId: 'C0SHOP',
        name: 'debug',
        value: 'abcdefgh23',
        fields: { pod: 'pod-1' },
        dedupeKey: expect.stringMatching(/^[0-9a-f]{64}$/),
        receivedAtMs: expect.any(Number),
      },
    ]);
    expect(world.local.views()).toEqual([]);
  });

  it('gives the value of what was chosen', async () => {
    await submit({ pod: { pod: { type: 'static_select', selected_option: { value: 'web-2', text: {} } } } });
    expect(world.inbox.submissions[0]?.fields).toEqual({ pod: 'web-2' });
  });

  it('is answered privately where it was asked for', async () => {
    world.inbox.submitAnswer = async () => ({ kind: 'taken', message: saying('asked the approvers') });
    const said = await told(() => submit());
    expect(said).toContain('asked the approvers');
    expect(world.local.ephemerals('U0ROY').at(-1)?.channel).toBe('C0SHOP');
  });

  it('stays open with a word beside each wrong field; a field that it has not is said beside the first', async () => {
    const viewId = await openForm(world, 'debug');
    world.inbox.submitAnswer = async () => ({ kind: 'errors', errors: { reason: 'say why', other: 'no such thing' } });
    const delivery = await submit();
    expect(delivery.body).toEqual({ response_action: 'errors', errors: { reason: 'say why', pod: 'no such thing' } });
    expect(world.local.views().map(({ id }) => id)).toEqual([viewId]);
  });

  it('stays open with the reason when it could not be taken, so that nothing typed is lost', async () => {
    world.inbox.submitAnswer = () => Promise.reject(new KdebugError('store_unreachable'));
    const delivery = await submit();
    expect(JSON.stringify(delivery.body)).toMatch(/"errors":\{"pod":".*store_unreachable/);
  });

  it('without fields closes, and the reason is told privately', async () => {
    await openForm(world, 'vote-reason', { fields: [], intro: 'Sure?' });
    world.inbox.submitAnswer = () => Promise.reject(new KdebugError('store_unreachable'));
    expect(await told(() => submit({}))).toContain('store_unreachable');
    await openForm(world, 'vote-reason', { fields: [], intro: 'Sure?' });
    world.inbox.submitAnswer = async () => ({ kind: 'errors', errors: { reason: 'say why' } });
    expect(await told(() => submit({}))).toContain('slack_payload_invalid');
  });

  it('is one submission however often it is delivered or pressed, and another when it says something else', async () => {
    const viewId = await openForm(world, 'debug');
    world.inbox.submitAnswer = async () => ({ kind: 'errors', errors: { pod: 'again' } });
    await world.local.deliver.again(await submit());
    await submit();
    await submit(typed('pod-2'));
    const [first, replayed, pressedAgain, changed] = world.inbox.submissions.map(({ dedupeKey }) => dedupeKey);
    expect([replayed, pressedAgain]).toEqual([first, first]);
    expect(changed).not.toBe(first);
    expect(world.local.views()[0]?.id).toBe(viewId);
  });

  it.each([
    ['is no JSON', '{'],
    ['is null', 'null'],
    ['is another form', JSON.stringify({ name: 'vote', value: 'x', channelId: 'C0SHOP' })],
    ['names no channel', JSON.stringify({ name: 'debug', value: 'x', channelId: '#shop' })],
    ['names a thread that is none', JSON.stringify({ name: 'debug', value: 'x', channelId: 'C0SHOP', threadTs: 'x' })],
    ['is too long', JSON.stringify({ name: 'debug', value: 'x'.repeat(3_000), channelId: 'C0SHOP' })],
  ])('is left out when what it carried %s, and stays open with a word', async (_what, private_metadata) => {
    const id = await openForm(world, 'debug');
    const view = { id, callback_id: 'debug', private_metadata, state: { values: typed('pod-1') } };
    const { status, body } = await submit(typed('pod-1'), { view });
    expect(world.inbox.submissions).toEqual([]);
    expect(world.local.views().map((one) => one.id)).toContain(id);
    // Beyond Slack's own limit it is no payload of Slack's: without an answer Slack says so itself.
    if (private_metadata.length > 3_000) expect(status).toBe(400);
    else
      expect(body).toEqual({
        response_action: 'errors',
        errors: { pod: expect.stringContaining('slack_payload_invalid') },
      });
  });

  it('without fields says in the form that it was not understood', async () => {
    const id = await openForm(world, 'vote-reason', { fields: [], intro: 'Sure?' });
    const view = { id, callback_id: 'vote-reason', private_metadata: '{', state: { values: {} } };
    await submit({}, { view });
    expect(JSON.stringify(world.local.views().find((one) => one.id === id)?.view)).toContain('slack_payload_invalid');
    expect(world.inbox.submissions).toEqual([]);
  });

  it('takes a text that Slack counts as short enough and we as longer', async () => {
    await submit(typed('👩‍👩‍👧‍👧'.repeat(1_000)));
    expect(world.inbox.submissions[0]?.fields.pod).toHaveLength(11_000);
  });

  it('keeps prototype keys out', async () => {
    const values: Record<string, unknown> = JSON.parse(
      '{"__proto__":{"x":{"value":"bad"}},"constructor":{"x":{"value":"kept"}},"pod":{"pod":{"value":"p"}}}',
    );
    await submit(values);
    const fields = world.inbox.submissions[0]?.fields ?? {};
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
    expect(fields.pod).toBe('p');
    expect(Reflect.get({}, 'x')).toBeUndefined();
  });
});

it('over Socket Mode, forms open and close too', async () => {
  const socket = await startWorld('socket');
  const viewId = await openForm(socket, 'debug');
  const kept = { kind: 'errors', errors: { pod: 'no such pod' } } as const;
  socket.inbox.submitAnswer = async () => kept;
  const values = typed('pod-1');
  const refused = await socket.local.deliver.viewSubmission({ user: 'U0ROY', viewId, values });
  expect(refused.body).toEqual({ response_action: 'errors', errors: kept.errors });
  socket.inbox.submitAnswer = async () => ({ kind: 'taken' });
  await socket.local.deliver.viewSubmission({ user: 'U0ROY', viewId, values });
  expect(socket.local.views()).toEqual([]);
  await socket.stop();
});
