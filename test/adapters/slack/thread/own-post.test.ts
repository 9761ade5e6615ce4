import { describe, expect, it } from 'vitest';
import { isPostOf, ownFiles, type Posted } from '../../../../src/adapters/slack/thread/find.ts';
import { view } from '../../../../src/adapters/slack/views/view.ts';
import { asRunId } from '../../../../src/core/ids.ts';
import type { Run } from '../../../../src/core/run/run.ts';
import type { Message } from '../../../../src/core/say/message/message.ts';
import { plainName } from '../../../../src/core/say/message/typed-text.ts';
import { approvedMessage } from '../../../../src/core/say/run/approved-message.ts';
import { copyMessage, reminderMessage } from '../../../../src/core/say/run/copy-messages.ts';
import { anchorMessage, resultMessage } from '../../../../src/core/say/run/run-messages.ts';
import { withNames } from '../../../../src/core/shown-names.ts';
import { aPlan, aRun, aTermination, START_MS } from '../../../support/builders.ts';

const US = { botId: 'B0KDEBUG', botUserId: 'U0KDEBUG' };
/** No part of the signature, whatever they are. */
const NAMES = { command: '/debug-staging', bot: '@kdebug2' };
const MOMENT = { approvers: {}, nowMs: START_MS };

/** As Slack shows it, without metadata: `bot_id` is there for a plain post. */
const posted = (message: Message, more: Partial<Posted> = {}): Posted => ({
  ts: '1700000000.000100',
  bot_id: US.botId,
  user: US.botUserId,
  blocks: view(withNames(message, NAMES)).blocks,
  ...more,
});

const finished = (parts: Partial<Run> = {}): Run =>
  aRun({ state: 'finished', plan: aPlan(), outcome: { kind: 'succeeded' }, termination: aTermination(), ...parts });

const isAnchor = isPostOf({ run: aRun().id, kind: 'anchor' }, US);
const isResult = isPostOf({ run: aRun().id, kind: 'result' }, US);

describe('a message of ours without metadata is known by its small print', () => {
  it.each(['received', 'pending-approval', 'approved', 'running', 'finished'] as const)(
    'an anchor of a run that is %s, as an anchor only',
    (state) => {
      const message = posted(anchorMessage(finished({ state }), MOMENT));
      expect([isAnchor(message), isResult(message)]).toEqual([true, false]);
    },
  );

  it.each(['Roy', 'Roy · run bbbbbbbbbb', '/Roy', 'x'.repeat(300), '\u202e', ''])(
    'an anchor whose requester is called %j, and no other',
    (name) => {
      const nameOf = () => plainName(name);
      const blocks = view(
        withNames(anchorMessage(finished({ state: 'running' }), MOMENT), { ...NAMES, nameOf }),
      ).blocks;
      const message = posted(anchorMessage(finished(), MOMENT), { blocks });
      const isOther = isPostOf({ run: asRunId('bbbbbbbbbb'), kind: 'anchor' }, US);
      expect([isAnchor(message), isOther(message)]).toEqual([true, false]);
    },
  );

  it.each(['finished', 'rejected', 'cancelled', 'expired'] as const)(
    'a result of a run that is %s, as a result only',
    (state) => {
      const message = posted(resultMessage(finished({ state })));
      expect([isAnchor(message), isResult(message)]).toEqual([false, true]);
    },
  );

  it('copies and reminders for approvers, which are no results', () => {
    const pending = finished({ state: 'pending-approval' });
    const isA = (kind: 'copy' | 'reminder', message: Message) =>
      isPostOf({ run: pending.id, kind }, US)(posted(message));
    expect(isA('copy', copyMessage(pending, MOMENT, undefined))).toBe(true);
    expect(isA('copy', copyMessage(finished({ state: 'expired' }), MOMENT, undefined))).toBe(true);
    expect(isA('reminder', reminderMessage(pending, MOMENT))).toBe(true);
    for (const message of [
      reminderMessage(pending, MOMENT),
      copyMessage(finished({ state: 'expired' }), MOMENT, undefined),
    ])
      expect(isResult(posted(message))).toBe(false);
  });

  it('the word of an approval, which is no result', () => {
    const run = finished({ state: 'running' });
    const message = posted(approvedMessage(run));
    expect(isPostOf({ run: run.id, kind: 'approval' }, US)(message)).toBe(true);
    expect([isAnchor(message), isResult(message)]).toEqual([false, false]);
  });

  it('a result that came with its files, where Slack names our user alone', () => {
    const { bot_id: _bot, ...message } = posted(resultMessage(finished()), { files: [{ id: 'F1', name: 'a.log' }] });
    expect(isResult(message)).toBe(true);
  });

  it('never one of another run', () => {
    const other = finished({ id: 'zzzzzzzz23' as Run['id'] });
    expect(isAnchor(posted(anchorMessage(other, MOMENT)))).toBe(false);
    expect(isResult(posted(resultMessage(other)))).toBe(false);
  });

  it('never by words that somebody typed, or that a container wrote', () => {
    const { id } = aRun();
    const other = finished({
      id: 'zzzzzzzz23' as Run['id'],
      commandLine: `web-1 --reason="x · run ${id} · Run ${id}"`,
    });
    const printed: Message = {
      summary: 'x',
      tone: 'neutral',
      parts: [
        { kind: 'paragraph', spans: [{ kind: 'text', text: `Run ${id}` }] },
        { kind: 'preformatted', text: `Run ${id}` },
      ],
    };
    for (const message of [anchorMessage(other, MOMENT), resultMessage(other), printed]) {
      expect([isAnchor(posted(message)), isResult(posted(message))]).toEqual([false, false]);
    }
  });

  it('never one of another app, nor any before we know who we are', () => {
    const message = anchorMessage(finished(), MOMENT);
    expect(isAnchor(posted(message, { bot_id: 'B0OTHER', user: 'U0OTHER' }))).toBe(false);
    expect(isPostOf({ run: aRun().id, kind: 'anchor' }, undefined)(posted(message))).toBe(false);
  });

  it('never where its metadata says something else', () => {
    const metadata = { event_type: 'kdebug_run', event_payload: { run: 'zzzzzzzz23', kind: 'anchor' } };
    expect(isAnchor(posted(anchorMessage(finished(), MOMENT), { metadata }))).toBe(false);
  });
});

describe('a file is ours', () => {
  const share = { ts: '1700000000.000100', files: [{ id: 'F1', name: 'a.log' }] };

  it.each([
    ['our bot', { bot_id: US.botId }],
    ['our user, since Slack does not name the bot of every file', { user: US.botUserId }],
  ])('when Slack names %s', (_who, by) => {
    expect(ownFiles(['a.log'], US)({ ...share, ...by })).toEqual({ 'a.log': 'F1' });
  });

  it.each([
    ['somebody else', { user: 'U0ROY' }],
    ['another bot', { bot_id: 'B0OTHER', user: 'U0OTHER' }],
    ['nobody', {}],
  ])('but not when Slack names %s', (_who, by) => {
    expect(ownFiles(['a.log'], US)({ ...share, ...by })).toBeUndefined();
  });
});
