import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModalView } from '@slack/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, type StoredView, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient } from './bolt-app.ts';

const TROUBLE = 'We had some trouble connecting. Try again?';
const words = (text: string) => ({ type: 'plain_text' as const, text });
const modal = (...blocks: ModalView['blocks']): ModalView => ({
  type: 'modal',
  title: words('T'),
  submit: words('Go'),
  blocks,
});
const POD = {
  type: 'input' as const,
  block_id: 'pod',
  label: words('Pod'),
  element: { type: 'plain_text_input' as const, action_id: 'x' },
};
const NOTE = { type: 'section' as const, block_id: 'note', text: words('a note') };

let slack: LocalSlack;
let app: Server;
/** What the app answers to the next request; a number is a status without a body. */
let reply: object | number = 200;

beforeEach(async () => {
  app = createServer((request, response) => {
    request.resume();
    if (typeof reply === 'number') response.writeHead(reply).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
  slack = await startLocalSlack({ requestUrl: `http://127.0.0.1:${(app.address() as AddressInfo).port}/` });
  reply = 200;
});
afterEach(async () => {
  await slack.stop();
  app.close();
  expect(slack.unknown).toEqual([]);
});

async function open(view: ModalView): Promise<string> {
  const { parcel } = await slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: '' });
  return outcome(plainClient(slack).views.open({ trigger_id: String(parcel.payload.trigger_id), view }));
}

async function submit(answer: object | number): Promise<StoredView> {
  expect(await open(modal(POD, NOTE))).toBe('ok');
  const [view] = slack.views('U0ROY');
  if (view === undefined) throw new Error('no view');
  reply = answer;
  await slack.deliver.viewSubmission({ user: 'U0ROY', viewId: view.id, values: {} });
  return view;
}

describe('the answer to a submitted form', () => {
  it.each([
    ['errors for a block that is not there', { response_action: 'errors', errors: { image: 'which?' } }],
    ['errors for a block that is no input', { response_action: 'errors', errors: { note: 'which?' } }],
    ['errors for nothing', { response_action: 'errors', errors: {} }],
    ['a view with faults', { response_action: 'update', view: { type: 'modal' } }],
    ['an action that nobody knows', { response_action: 'explode' }],
    ['an error of the server', 500],
  ])('%s leaves it open, and the person reads that there was trouble', async (_name, answer) => {
    expect(await submit(answer)).toMatchObject({ open: true, trouble: TROUBLE });
  });

  it('errors for its inputs are shown; the next answer takes the trouble away', async () => {
    const view = await submit(500);
    reply = { response_action: 'errors', errors: { pod: 'which?' } };
    await slack.deliver.viewSubmission({ user: 'U0ROY', viewId: view.id, values: {} });
    expect(view).toMatchObject({ open: true, errors: { pod: 'which?' } });
    expect(view.trouble).toBeUndefined();
  });

  it('a view pushed on top knows the one below; clear closes both', async () => {
    const below = await submit({ response_action: 'push', view: modal(POD) });
    const [, top] = slack.views('U0ROY');
    expect(top).toMatchObject({ previousId: below.id, rootId: below.id });
    reply = { response_action: 'clear' };
    await slack.deliver.viewSubmission({ user: 'U0ROY', viewId: top?.id ?? '', values: {} });
    expect(slack.views('U0ROY')).toEqual([]);
  });
});

describe('what a form starts with', () => {
  const option = (value: string) => ({ text: words(value), value });
  const input = (element: object) =>
    modal({ ...POD, element: { action_id: 'x', ...element } } as unknown as typeof POD);

  it.each([
    ['a text longer than max_length', { type: 'plain_text_input', initial_value: 'abcd', max_length: 3 }],
    ['a text shorter than min_length', { type: 'plain_text_input', initial_value: 'a', min_length: 2 }],
    [
      'an option that is none of its options',
      { type: 'static_select', options: [option('a')], initial_option: option('b') },
    ],
    [
      'an option with another text',
      { type: 'radio_buttons', options: [option('a')], initial_option: { ...option('a'), text: words('A') } },
    ],
    ['boxes that are not there', { type: 'checkboxes', options: [option('a')], initial_options: [option('b')] }],
  ])('%s is refused', async (_name, element) => {
    expect(await open(input(element))).toBe('invalid_arguments');
  });

  it.each([
    ['a text of max_length', { type: 'plain_text_input', initial_value: 'abc', max_length: 3 }],
    [
      'an option of a group',
      {
        type: 'static_select',
        option_groups: [{ label: words('g'), options: [option('a')] }],
        initial_option: option('a'),
      },
    ],
  ])('%s is taken', async (_name, element) => {
    expect(await open(input(element))).toBe('ok');
  });
});
