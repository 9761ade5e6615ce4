import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KdebugError } from '../../../../src/core/errors.ts';
import { helpMessage } from '../../../../src/core/say/answers/help.ts';
import { type Form, type Message, person, quietPerson, text } from '../../../../src/core/say/message/message.ts';
import { BOT, COMMAND } from '../../../../src/core/shown-names.ts';
import { privateDestinationOf } from '../../../../src/flow/context/destinations.ts';
import { formOf, typed } from '../deeds.ts';
import { saying, startWorld, type World } from '../harness.ts';

const ROY = { user: 'U0ROY', channel: 'C0SHOP' };
const MARKED = saying(`Type ${COMMAND} help, or ask ${BOT}`);
const MARKED_FORM: Form = {
  ...formOf('debug'),
  intro: `Like ${COMMAND} web-1`,
  fields: formOf('debug').fields.map((field) => ({ ...field, hint: `Ask ${BOT}` })),
};

/** Everything that Slack got from us, or was told with an acknowledgement. */
const unnamed = /\/kdebug\b(?!-)|@kdebug\b|[\uFFF0\uFFF1]|Type {2}help|ask "/;

describe.each(['http', 'socket'] as const)('an app over %s whose command has another name', (kind) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld(kind, {
      command: '/debug-pods',
      team: ({ users }) => {
        const bot = users.U0KDEBUG;
        if (bot) bot.name = 'poddy';
      },
    });
  });
  afterAll(() => world.stop());
  afterEach(() => {
    world.inbox.forget();
    for (const view of world.local.views()) view.open = false;
  });

  it('gets the help under the name that was typed, and the name of the bot', async () => {
    world.inbox.answer = async () => ({ kind: 'message', message: helpMessage() });
    const { status, body } = await world.local.deliver.command({ ...ROY, command: '/kdebug-staging', text: 'help' });
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toContain('/kdebug-staging web-1 -n shop');
    expect(JSON.stringify(body)).toContain('@poddy POD …');
    expect(JSON.stringify(body)).not.toMatch(unnamed);
  });

  it('hears the name later too, in a private answer that comes by its address', async () => {
    world.inbox.answer = async () => ({ kind: 'nothing' });
    await world.local.deliver.command({ ...ROY, command: '/kdebug-staging', text: 'web-1' });
    const origin = world.inbox.commands[0]?.origin;
    expect(origin?.command).toBe('/kdebug-staging');
    const before = world.local.ephemerals('U0ROY').length;
    if (origin) await world.slack.thread.tell(privateDestinationOf({ origin, delivery: {} }), MARKED);
    expect(world.local.ephemerals('U0ROY')[before]?.text).toBe('Type /kdebug-staging help, or ask @poddy');
  });

  it('keeps no name that is the configured one, or that Slack would give to no command', async () => {
    world.inbox.answer = async () => ({ kind: 'message', message: MARKED });
    for (const command of ['/debug-pods', '/<!channel>']) {
      const { body } = await world.local.deliver.command({ ...ROY, command, text: 'help' });
      expect(JSON.stringify(body)).toContain('Type /debug-pods help');
    }
    expect(world.inbox.commands.map(({ origin }) => origin.command)).toEqual([undefined, undefined]);
  });

  it('is refused under the name that was typed', async () => {
    world.inbox.answer = () => Promise.reject(new KdebugError('bot_not_in_channel'));
    const { body } = await world.local.deliver.command({ ...ROY, command: '/kdebug-staging', text: 'x' });
    expect(JSON.stringify(body)).toContain('/invite @poddy here');
    world.inbox.answer = () => Promise.reject(new KdebugError('run_id_missing'));
    const second = await world.local.deliver.command({ ...ROY, command: '/kdebug-staging', text: 'x' });
    expect(JSON.stringify(second.body)).toContain('/kdebug-staging list');
  });

  it('reads the typed name, too, when its form could not open', async () => {
    world.inbox.answer = async () => ({ kind: 'form', form: MARKED_FORM });
    const before = world.local.ephemerals('U0ROY').length;
    world.local.faults.queue({ method: 'views.open', kind: 'expired_trigger_id' });
    await world.local.deliver.command({ ...ROY, command: '/kdebug-staging', text: '' });
    const said = await world.local.until(() => world.local.ephemerals('U0ROY')[before]);
    expect(JSON.stringify(said.blocks)).toContain('type /kdebug-staging again');
  });

  it('reads the configured name in the channel: in posts, updates and announcements', async () => {
    const meta = { run: 'abcdefgh23', kind: 'anchor', seq: 1 } as const;
    const ref = await world.slack.thread.post({ channelId: 'C0SHOP' }, MARKED, meta);
    expect(world.local.message('C0SHOP', ref.ts)?.text).toBe('Type /debug-pods help, or ask @poddy');
    const later = saying(`Later: ${COMMAND} list`);
    await world.slack.thread.update(ref, later, meta, 'final');
    expect(world.local.message('C0SHOP', ref.ts)?.text).toBe('Later: /debug-pods list');
    world.inbox.welcome = async () => ({ kind: 'post', message: saying(`Welcome: ${COMMAND}`) });
    world.local.deliver.remove({ channel: 'C0SHOP', user: 'U0KDEBUG' });
    await world.local.deliver.invite({ ...ROY, invited: 'U0KDEBUG' });
    await world.local.until(() =>
      world.local.messages('C0SHOP').find(({ text: said }) => said === 'Welcome: /debug-pods'),
    );
  });

  it('says the names of people in the text, where Slack shows no mention, and mentions whoever it does not know', async () => {
    await world.slack.directory.person('U0ROY');
    const notification = [person('U0ROY'), text(' and '), person('U0BOB')];
    const shown: Message = {
      summary: '',
      notification,
      tone: 'neutral',
      parts: [{ kind: 'paragraph', spans: notification }],
    };
    const ref = await world.slack.thread.post({ channelId: 'C0SHOP' }, shown, {
      run: 'abcdefgh23',
      kind: 'anchor',
      seq: 1,
    });
    const posted = world.local.message('C0SHOP', ref.ts);
    expect(posted?.text).toBe('roy and <@U0BOB>');
    expect(JSON.stringify(posted?.blocks)).toContain('{"type":"user","user_id":"U0ROY"}');
  });

  it('names a quiet person in the parts, too, so that nobody is notified', async () => {
    await world.slack.directory.person('U0ROY');
    const parts = [
      { kind: 'paragraph', spans: [quietPerson('U0ROY')] },
      { kind: 'note', spans: [quietPerson('U0ROY')] },
    ] as const;
    const meta = { run: 'abcdefgh23', kind: 'anchor', seq: 1 } as const;
    const ref = await world.slack.thread.post({ channelId: 'C0SHOP' }, { summary: 'x', tone: 'neutral', parts }, meta);
    expect(JSON.stringify(world.local.message('C0SHOP', ref.ts)?.blocks)).not.toContain('U0ROY');
    expect(world.local.notified('U0ROY').filter(({ ts }) => ts === ref.ts)).toEqual([]);
  });

  it('reads it in forms: when they open, when they are completed, beside a field, and in what may be picked', async () => {
    world.inbox.answer = async () => ({ kind: 'form', form: MARKED_FORM, complete: async () => MARKED_FORM });
    const before = world.local.requests('views.update').length;
    await world.local.deliver.command({ ...ROY, text: '' });
    const view = await world.local.until(() => world.local.views('U0ROY')[0]);
    await world.local.until(() => world.local.requests('views.update')[before]);
    expect(JSON.stringify(view.view)).toContain('Like /debug-pods web-1');
    expect(JSON.stringify(view.view)).toContain('Ask @poddy');
    world.inbox.submitAnswer = async () => ({ kind: 'errors', errors: { pod: `See ${COMMAND} images` } });
    const submitted = await world.local.deliver.viewSubmission({
      user: 'U0ROY',
      viewId: view.id,
      values: typed('web-1'),
    });
    expect(JSON.stringify(submitted.body)).toContain('See /debug-pods images');
    world.inbox.submitAnswer = () => Promise.reject(new KdebugError('run_id_missing'));
    const refused = await world.local.deliver.viewSubmission({
      user: 'U0ROY',
      viewId: view.id,
      values: typed('web-1'),
    });
    expect(JSON.stringify(refused.body)).toContain('/debug-pods list');
  });

  it('reads it in windows and on the Home tab', async () => {
    const page: Message = { ...MARKED, parts: [{ kind: 'note', spans: [text(`${COMMAND} show`)] }] };
    world.inbox.anywhere = async () => ({ kind: 'page', title: 'Debug a pod', message: page });
    await world.local.deliver.shortcut({ user: 'U0ROY', callbackId: 'debug-anywhere' });
    const opened = await world.local.until(() => world.local.views('U0ROY')[0]);
    expect(JSON.stringify(opened.view)).toContain('/debug-pods show');
    world.inbox.homePage = async () => page;
    await world.local.deliver.openHome({ user: 'U0ROY' });
    const published = await world.local.until(() => world.local.requests('views.publish')[0]);
    expect(JSON.stringify(published)).toContain('/debug-pods show');
  });
});
