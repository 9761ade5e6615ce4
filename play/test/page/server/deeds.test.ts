import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { StoredMessage, StoredView } from '../../../slack/index.ts';
import { openPage, type PageBed, SHOP } from './open-page.ts';

let page: PageBed;
beforeAll(async () => {
  page = await openPage();
});
afterAll(() => page?.stop());

const slack = () => page.bed.slack;
const textOf = (message: StoredMessage): string => JSON.stringify([message.text, message.blocks]);
const privately = (user: string, part: string) =>
  slack().until(() =>
    slack()
      .ephemerals(user)
      .find((message) => textOf(message).includes(part)),
  );
const inChannel = (part: string) =>
  slack().until(() =>
    slack()
      .messages(SHOP)
      .find((message) => textOf(message).includes(part)),
  );
const replyTo = (root: StoredMessage, part: string) =>
  slack().until(() =>
    slack()
      .thread(SHOP, root.ts)
      .find((message) => textOf(message).includes(part)),
  );
const alert = (text = 'HighLatency pod=pod-1234 namespace=shop') =>
  slack().deliver.say({ user: 'U0BOB', channel: SHOP, text });

function blockOf(message: StoredMessage, actionId: string): string {
  const block = message.blocks.find((one) => JSON.stringify(one).includes(`"action_id":"${actionId}"`));
  return String(block?.block_id);
}

/** A person's form, when it has loaded. */
const openView = (user: string): Promise<StoredView> =>
  slack().until(() =>
    slack()
      .views(user)
      .find(({ view }) => view.submit !== undefined),
  );

describe('what is typed', () => {
  it('runs the main job, and its result is in the thread', async () => {
    await page.type('/kdebug pod-1234 --image=debian -- echo the answer');
    const anchor = await inChannel('echo the answer');
    await replyTo(anchor, 'the answer');
  });

  it('is a command to the app where Slack would make it one, and a sentence where not', async () => {
    await page.type('/kdebug help');
    await privately('U0ROY', 'Debug a running pod');
    const root = alert();
    await expect(page.type('/kdebug help', { threadTs: root.ts })).rejects.toThrow(
      '/kdebug is not supported in threads. Sorry!',
    );
    await expect(page.type('/deploy')).rejects.toThrow('/deploy is not a valid command.');
  });

  it('is a mention in a thread, answered there', async () => {
    const root = alert('root of a mention');
    await page.type('@kdebug pod-1234 --image=debian -- echo in thread', { threadTs: root.ts });
    const asked = await replyTo(root, '<@U0KDEBUG> pod-1234');
    expect(asked.user).toBe('U0ROY');
    await slack().until(() =>
      slack()
        .thread(SHOP, root.ts)
        .find(({ botId }) => botId !== undefined),
    );
  });

  it('is just a message otherwise, with its signs as Slack writes them', async () => {
    await page.type('a <b> & @roy in #ops, not @nobody');
    expect(slack().messages(SHOP).at(-1)).toMatchObject({
      user: 'U0ROY',
      text: 'a &lt;b&gt; &amp; <@U0ROY> in <#C0OPS>, not @nobody',
    });
  });

  it('to the bot alone is a direct message, which it hears', async () => {
    const opened = await page.do({ kind: 'open-direct', user: 'U0ROY' });
    expect(opened).toEqual({ ok: true, channel: 'D00ROY' });
    let events = 0;
    const count = (change: { kind: string }) => {
      if (change.kind === 'delivered') events += 1;
    };
    slack().changes.on('change', count);
    await page.type('@kdebug hello', { channel: 'D00ROY' });
    slack().changes.off('change', count);
    expect(slack().messages('D00ROY')[0]?.text).toBe('<@U0KDEBUG> hello');
    expect(events).toBe(1);
  });

  it.each([
    ['C0OLD', 'U0ROY', 'hello', 'archived'],
    ['C0OTHER', 'U0GUEST', 'hello', 'Join #other'],
    ['C0SECRET', 'U0ROY', 'hello', 'no such channel'],
    ['C0OTHER', 'U0ROY', '@kdebug list', 'Type /invite @kdebug first'],
    ['C0OTHER', 'U0GUEST', '/invite @kdebug', 'Join #other'],
    ['D00ROY', 'U0ROY', '/invite @bob', 'direct message'],
    [SHOP, 'U0ROY', '/invite @kdebug', 'kdebug is already in #shop-oncall'],
    [SHOP, 'U0ROY', '/invite @nobody', 'Nobody here is @nobody'],
    [SHOP, 'U0ROY', '/invite', 'as in /invite @kdebug'],
    [SHOP, 'U0GONE', 'hello', 'deactivated'],
    [SHOP, 'U0NOBODY', 'hello', 'Nobody here'],
    [SHOP, 'U0KDEBUG', 'hello', 'Nobody here'],
    [SHOP, 'U0ROY', ' ', 'nothing to send'],
  ])('is refused with a sentence in %s by %s: %s', async (channel, user, text, why) => {
    await expect(page.type(text, { channel, user })).rejects.toThrow(why);
  });
});

describe('an invitation', () => {
  // A second try of the test below finds the channel as the first did.
  afterEach(() => slack().deliver.remove({ channel: 'C0OTHER', user: 'U0KDEBUG' }));

  it('lets the bot in, which everybody there can see, and notifies nobody', async () => {
    await page.type('/invite @kdebug', { channel: 'C0OTHER' });
    expect(slack().team.channels.C0OTHER?.members).toContain('U0KDEBUG');
    const joined = { user: 'U0KDEBUG', text: 'was added to #other by Roy.' };
    expect(slack().messages('C0OTHER')).toContainEqual(expect.objectContaining(joined));
    // Runs of earlier tests may still notify people elsewhere.
    expect(slack().state.notifications.filter(({ channel }) => channel === 'C0OTHER')).toEqual([]);
  });
});

describe('an approval', () => {
  it('is asked by one person, not given by an outsider, given by another', async () => {
    await page.type('/kdebug neato-5x9k3 --image=debugger --profile=sysadmin --reason=hang -- gdb -p 1 -batch -ex bt', {
      user: 'U0THURSTON',
    });
    const card = await inChannel('"action_id":"approve"');
    const press = {
      kind: 'press' as const,
      channel: SHOP,
      ts: card.ts,
      blockId: blockOf(card, 'approve'),
      actionId: 'approve',
    };
    expect(await page.do({ ...press, user: 'U0GINGER' })).toEqual({ ok: true });
    await privately('U0GINGER', 'approvers');
    expect(await page.do({ ...press, user: 'U0BOB' })).toEqual({ ok: true });
    await replyTo(card, 'ledger_append');
    expect(textOf(card)).toContain('U0BOB');
    expect(await page.do({ ...press, user: 'U0BOB' })).toMatchObject({ ok: false });
  });
});

const option = (value: string) => ({ value, text: { type: 'plain_text', text: value } });

describe('a window', () => {
  const picked = (value: string) => ({
    type: 'static_select',
    selected_option: { value, text: { type: 'plain_text', text: value } },
  });
  const values = (view: StoredView, given: Record<string, unknown>) => {
    const blocks = view.view.blocks as { block_id: string; type: string; element?: { action_id: string } }[];
    const inputs = blocks.filter(({ type }) => type === 'input');
    return Object.fromEntries(
      inputs.map(({ block_id, element }) => [
        block_id,
        {
          [element?.action_id ?? '']: given[block_id.split('~')[0] ?? ''] ?? { type: 'plain_text_input', value: null },
        },
      ]),
    );
  };

  it('opens by the bare command, tells errors, and is closed by its cross', async () => {
    await page.type('/kdebug', { user: 'U0JONAS' });
    const view = await openView('U0JONAS');
    expect(await page.do({ kind: 'submit', user: 'U0JONAS', viewId: view.id, values: values(view, {}) })).toEqual({
      ok: true,
    });
    await slack().until(() => view.errors !== undefined);
    expect(view.open).toBe(true);
    expect(await page.do({ kind: 'close-view', user: 'U0ROY', viewId: view.id })).toMatchObject({ ok: false });
    expect(await page.do({ kind: 'close-view', user: 'U0JONAS', viewId: view.id })).toEqual({ ok: true });
    expect(view.open).toBe(false);
    expect(await page.do({ kind: 'submit', user: 'U0JONAS', viewId: view.id, values: {} })).toEqual({
      ok: false,
      error: 'This window is no longer open.',
    });
  });

  it('opens by the shortcut on a message, with the pod that it names', async () => {
    const { ts } = alert();
    const shortcut = { kind: 'shortcut' as const, user: 'U0ALICE', channel: SHOP, ts };
    expect(await page.do({ ...shortcut, callbackId: 'no-such' })).toMatchObject({ ok: false });
    expect(await page.do({ ...shortcut, callbackId: 'debug-pod' })).toEqual({ ok: true });
    const view = await openView('U0ALICE');
    expect(JSON.stringify(view.view)).toContain('pod-1234');
    const filled = {
      pod: picked('pod-1234'),
      image: picked('debian'),
      profile: picked('auto'),
    };
    const blockOf = (id: string) => Object.keys(values(view, {})).find((one) => one.startsWith(id)) ?? '';
    const image = { blockId: blockOf('image'), actionId: 'image', chosen: ['debian'], values: values(view, filled) };
    expect(await page.do({ kind: 'press-in-view', user: 'U0ALICE', viewId: view.id, ...image })).toEqual({ ok: true });
    await slack().until(() => blockOf('command') !== '');
    const asked = { blockId: blockOf('pod'), actionId: 'pod', typed: 'pod-12' };
    expect(await page.do({ kind: 'suggest', user: 'U0ALICE', viewId: view.id, ...asked })).toMatchObject({
      ok: true,
      options: expect.arrayContaining([expect.objectContaining({ value: 'pod-1234' })]),
    });
    const command = { command: { type: 'plain_text_input', value: 'echo from the form' } };
    const submit = { kind: 'submit' as const, user: 'U0ALICE', viewId: view.id };
    expect(await page.do({ ...submit, values: values(view, { ...filled, ...command }) })).toEqual({ ok: true });
    expect(view.open).toBe(false);
    await slack().until(
      () =>
        slack().thread(SHOP, ts).length > 0 ||
        slack()
          .messages(SHOP)
          .some((one) => textOf(one).includes('from the form')),
    );
  });

  it('opens by the shortcut on the bot’s own card, with the pod that it looked at', async () => {
    await page.type('/kdebug pod-1234 --image=debian -- echo for the card');
    const { ts } = await inChannel('echo for the card');
    const shortcut = { kind: 'shortcut', user: 'U0GINGER', channel: SHOP, ts, callbackId: 'debug-pod' } as const;
    expect(await page.do(shortcut)).toEqual({ ok: true });
    const view = await openView('U0GINGER');
    const initial = (value: string) => `"initial_option":${JSON.stringify(option(value))}`;
    expect(JSON.stringify(view.view)).toContain(initial('pod-1234'));
    expect(JSON.stringify(view.view)).toContain(initial('shop'));
  });

  it('tells the app of its closing where it asked for that', async () => {
    const shown = {
      type: 'modal',
      callback_id: 'x',
      title: { type: 'plain_text', text: 'x' },
      blocks: [],
      notify_on_close: true,
    };
    const view: StoredView = { id: 'V0TEST', kind: 'modal', user: 'U0ROY', view: shown, hash: '1', open: true };
    slack().state.views.set(view.id, view);
    const told = new Promise((resolve) => {
      slack().changes.on('change', (change) => {
        if (change.kind === 'delivered') resolve(change.payload);
      });
    });
    await page.do({ kind: 'close-view', user: 'U0ROY', viewId: view.id });
    expect(await told).toMatchObject({
      type: 'view_closed',
      is_cleared: false,
      user: { id: 'U0ROY' },
      view: { id: 'V0TEST' },
    });
  });
});

describe('a reaction', () => {
  it('is added, joined, and taken back', async () => {
    const message = alert();
    const react = (user: string) => page.do({ kind: 'react', user, channel: SHOP, ts: message.ts, name: 'eyes' });
    await react('U0ROY');
    await react('U0BOB');
    expect(message.reactions).toEqual([{ name: 'eyes', users: ['U0ROY', 'U0BOB'] }]);
    await react('U0ROY');
    await react('U0BOB');
    expect(message.reactions).toEqual([]);
  });

  it('is not for what only one person sees', async () => {
    await page.type('/kdebug help', { user: 'U0BOB' });
    const { ts } = await privately('U0BOB', 'Debug a running pod');
    const react = { kind: 'react' as const, channel: SHOP, ts, name: 'eyes' };
    expect(await page.do({ ...react, user: 'U0BOB' })).toMatchObject({
      error: 'Slack takes no reactions on this message.',
    });
    expect(await page.do({ ...react, user: 'U0ROY' })).toMatchObject({ error: 'This message is no longer there.' });
  });
});

describe('the event stream', () => {
  it('shows a private answer, a window and a new direct message as they come', async () => {
    const stream = await page.stream();
    await page.type('/kdebug help', { user: 'U0GUEST' });
    await stream.until((change) => change.kind === 'ephemeral' && change.message.visibleTo === 'U0GUEST');
    await page.type('/kdebug', { user: 'U0THURSTON' });
    await stream.until((change) => change.kind === 'view' && change.view.user === 'U0THURSTON' && change.view.open);
    await page.do({ kind: 'open-direct', user: 'U0BOB' });
    await stream.until((change) => change.kind === 'team' && change.team.channels.D00BOB !== undefined);
    await stream.close();
  });
});
