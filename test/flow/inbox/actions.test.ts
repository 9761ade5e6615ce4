import { describe, expect, it } from 'vitest';
import {
  ACTION_NAMES,
  type ActionName,
  AUDITED_AS,
  type AuditedAs,
  FORM_NAMES,
  type FormName,
  isActionName,
} from '../../../src/core/actions.ts';
import type { Button, Form } from '../../../src/core/say/message/message.ts';
import type { ClickHandlers, ShortcutHandlers, SubmitHandlers } from '../../../src/flow/inbox/handlers.ts';
import { aRun } from '../../support/builders.ts';
import { DeskWorld, textOf } from './desk-world.ts';

/** What a click on each button answers where kdebug did not post it: a new button needs a line here, or the tests do not compile. */
const FOREIGN_CLICK: Readonly<Record<ActionName, string>> = {
  approve: 'button_stale',
  'approve-grant': 'button_stale',
  reject: 'button_stale',
  cancel: 'button_stale',
  'end-grant': 'button_stale',
  'look-again': 'button_stale',
  'next-image': 'button_stale',
  compare: 'button_stale',
  pause: 'button_stale',
  resume: 'button_stale',
  continue: 'button_stale',
  resize: 'button_stale',
  'rerun-failed': 'button_stale',
  'show-outliers': 'button_stale',
  rerun: 'button_stale',
  'run-anyway': 'button_stale',
  'ask-for-it': 'button_stale',
  logs: 'button_stale',
  details: 'button_stale',
  'copy-command': 'button_stale',
  stop: 'button_stale',
};

const ON_A_RESULT = ['look-again', 'next-image', 'compare', 'rerun', 'logs', 'details', 'copy-command'] as const;

/** What each form answers when it comes back with nothing in it, for a run that is not there. */
const EMPTY_FORM: Readonly<Record<FormName, string>> = {
  debug: '"errors"',
  'again-reason': 'button_stale',
  'vote-reason': 'button_stale',
  apply: '"errors"',
  'resize-batch': 'button_stale',
  'pick-channel': '"errors"',
};

describe('every button', () => {
  it.each(ACTION_NAMES)('%s does nothing on a message that is not the card of its run', async (action) => {
    const desk = new DeskWorld();
    const run = aRun({ state: 'finished', delivery: { closed: true } });
    await desk.keep(run);
    const before = await desk.now(run);
    expect(textOf(await desk.click(action, run, { messageTs: '9.9' }))).toContain(FOREIGN_CLICK[action]);
    expect(await desk.now(run)).toEqual(before);
    expect(desk.started).toEqual([]);
  });

  it.each(ON_A_RESULT)(
    '%s asks for a second click while Slack shows the result before kdebug knows it',
    async (action) => {
      const desk = new DeskWorld();
      const run = aRun({ state: 'finished' });
      await desk.keep(run);
      expect(textOf(await desk.click(action, run, { messageTs: '9.9' }))).toContain('button_early');
      expect(textOf(await desk.click(action, run, { messageTs: '9.9', channelId: 'C0OTHER' }))).toContain(
        'button_stale',
      );
      expect(desk.started).toEqual([]);
    },
  );

  it.each(ACTION_NAMES)('%s has an audit kind where its step has several', (action) => {
    const { step, kind }: AuditedAs = AUDITED_AS[action];
    expect(kind === undefined).toBe(step === 'request' || step === 'lookup');
    expect(isActionName(action)).toBe(true);
  });
});

describe('every form', () => {
  it.each(FORM_NAMES)('%s is answered when it comes back empty', async (name) => {
    const desk = new DeskWorld();
    expect(textOf(await desk.submit(name, '', {}))).toContain(EMPTY_FORM[name]);
    expect(desk.started).toEqual([]);
  });
});

it('an incomplete table does not compile, nor does a button or a form without a name of its own', () => {
  const nothing = async () => ({ kind: 'nothing' }) as const;
  const accepted = async () => ({ kind: 'taken' }) as const;
  const value = 'abcdefgh23';
  const wrong = [
    // @ts-expect-error: buttons without a handler
    { approve: nothing, reject: nothing } satisfies ClickHandlers,
    // @ts-expect-error: forms without a handler
    { debug: accepted } satisfies SubmitHandlers,
    // @ts-expect-error: a shortcut without a handler
    { 'debug-pod': nothing } satisfies ShortcutHandlers,
    // @ts-expect-error: buttons without an audit kind
    { approve: { step: 'vote', kind: 'approve' } } satisfies Record<ActionName, AuditedAs>,
    // @ts-expect-error: a button that is in no table
    { action: 'explode', label: 'Explode', value } satisfies Button,
    // @ts-expect-error: a form that is in no table
    { name: 'explode', value, title: 'Explode', submit: 'Go', fields: [] } satisfies Form,
  ];
  expect(wrong).toHaveLength(6);
  expect(isActionName('explode')).toBe(false);
});
