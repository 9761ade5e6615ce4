import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModalView } from '@slack/types';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LocalSlack, type StoredView, startLocalSlack } from '../../slack/index.ts';
import { outcome, plainClient } from './bolt-app.ts';

const words = (text: string) => ({ type: 'plain_text' as const, text });
const option = (value: string) => ({ text: words(value), value });
const menu = (block_id: string, more: object = {}) => ({
  type: 'input' as const,
  block_id,
  label: words('Pod'),
  dispatch_action: true,
  element: { type: 'external_select' as const, action_id: 'pod', min_query_length: 0, ...more },
});
const REASON = {
  type: 'input' as const,
  block_id: 'reason',
  label: words('Why'),
  element: { type: 'plain_text_input' as const, action_id: 'reason' },
};
const modal = (...blocks: ModalView['blocks']): ModalView => ({
  type: 'modal',
  title: words('T'),
  submit: words('Go'),
  blocks,
});

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
});
afterEach(async () => {
  await slack.stop();
  app.close();
  expect(slack.unknown).toEqual([]);
});

async function open(...blocks: ModalView['blocks']): Promise<StoredView> {
  reply = 200;
  const { parcel } = await slack.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: '' });
  const trigger_id = String(parcel.payload.trigger_id);
  expect(await outcome(plainClient(slack).views.open({ trigger_id, view: modal(...blocks) }))).toBe('ok');
  return slack.views('U0ROY')[0]!;
}

const asked = (view: StoredView, typed: string, answer: object | number) => {
  reply = answer;
  return slack.deliver.suggest({ user: 'U0ROY', viewId: view.id, blockId: 'pod', actionId: 'pod', typed });
};
const picked = (view: StoredView, value: string) =>
  slack.deliver.viewAction({
    ...{ user: 'U0ROY', viewId: view.id, actionId: 'pod', blockId: 'pod', chosen: [value] },
    values: { pod: { pod: { type: 'external_select', selected_option: option(value) } } },
  });

describe('a menu whose options the app suggests', () => {
  it('asks with what was typed and with the state that Slack knew last, not with what stands there now', async () => {
    const view = await open(menu('pod'), REASON);
    const first = await asked(view, 'web', { options: [option('web-1'), option('web-2')] });
    expect(first.options).toHaveLength(2);
    expect(first.delivery.parcel.payload).toMatchObject({
      type: 'block_suggestion',
      api_app_id: slack.appId,
      user: { id: 'U0ROY' },
      container: { type: 'view', view_id: view.id },
      block_id: 'pod',
      action_id: 'pod',
      value: 'web',
      view: { id: view.id, hash: view.hash, state: { values: {} } },
    });
    expect(first.delivery.parcel.payload).not.toHaveProperty('trigger_id');
    reply = 200;
    const { parcel } = await picked(view, 'web-2');
    expect(parcel.payload).toMatchObject({ actions: [{ type: 'external_select', selected_option: option('web-2') }] });
    const { delivery } = await asked(view, '', { options: [] });
    expect(delivery.parcel.payload.view).toMatchObject({
      state: { values: { pod: { pod: { type: 'external_select' } } } },
    });
  });

  it('lets people pick only what was suggested', async () => {
    const view = await open(menu('pod'));
    await asked(view, '', { options: [option('web-1')] });
    const { parcel } = await picked(view, 'api-1');
    expect(parcel.payload).toMatchObject({ actions: [{ selected_option: null }] });
  });

  it.each([
    ['more than a hundred options', { options: Array.from({ length: 101 }, (_, index) => option(`p${index}`)) }],
    ['an option of 151 characters', { options: [{ text: words('a'), value: 'a'.repeat(151) }] }],
    ['a label of 76 characters', { options: [{ text: words('a'.repeat(76)), value: 'a' }] }],
    ['no options at all', {}],
    ['options and groups of options', { options: [], option_groups: [{ label: words('P'), options: [option('a')] }] }],
    ['an error of the server', 500],
  ])('shows nothing of %s', async (_name, answer) => {
    expect((await asked(await open(menu('pod')), '', answer)).options).toBeUndefined();
  });

  it('accepts that nothing matches, and options in groups', async () => {
    const view = await open(menu('pod'));
    expect((await asked(view, 'x', { options: [] })).options).toEqual([]);
    const groups = { option_groups: [{ label: words('Pods'), options: [option('a')] }] };
    expect((await asked(view, 'x', groups)).options).toEqual([option('a')]);
  });

  it('asks from three characters on where the view does not say', async () => {
    const view = await open(menu('pod', { min_query_length: undefined }));
    await expect(asked(view, 'we', { options: [] })).rejects.toThrow('from 3 characters on');
    expect((await asked(view, 'web', { options: [] })).options).toEqual([]);
  });
});

describe('a form that changes while it is filled in', () => {
  it('tells the app only of inputs that dispatch', async () => {
    const view = await open(menu('pod'), REASON);
    const typing = { user: 'U0ROY', viewId: view.id, actionId: 'reason', chosen: ['it hangs'] };
    await expect(slack.deliver.viewAction(typing)).rejects.toThrow('nothing to press');
  });

  it('refuses an update of an older state, and takes one of the state that it knows', async () => {
    const view = await open(menu('pod'));
    const { hash } = view;
    const update = (blocks: ModalView['blocks'], known: string) =>
      outcome(plainClient(slack).views.update({ view_id: view.id, hash: known, view: modal(...blocks) }));
    expect(await update([menu('pod'), REASON], hash)).toBe('ok');
    expect(await update([menu('pod')], hash)).toBe('hash_conflict');
    expect(await update([menu('pod')], view.hash)).toBe('ok');
    view.open = false;
    expect(await update([menu('pod')], view.hash)).toBe('not_found');
  });

  it('empties an input whose block has another id, and no other', async () => {
    const view = await open(menu('pod'), REASON);
    const values = { pod: { pod: { selected_option: null } }, reason: { reason: { value: 'it hangs' } } };
    reply = 200;
    await slack.deliver.viewAction({ user: 'U0ROY', viewId: view.id, actionId: 'pod', values });
    await plainClient(slack).views.update({ view_id: view.id, view: modal(menu('pod~shop'), REASON) });
    expect(view.values).toEqual({ reason: values.reason });
  });

  it('empties an input whose element has another id', async () => {
    const view = await open(menu('pod'), REASON);
    const values = { pod: { pod: { selected_option: null } }, reason: { reason: { value: 'it hangs' } } };
    reply = 200;
    await slack.deliver.viewAction({ user: 'U0ROY', viewId: view.id, actionId: 'pod', values });
    const other = { ...REASON, element: { ...REASON.element, action_id: 'why' } };
    await plainClient(slack).views.update({ view_id: view.id, view: modal(menu('pod'), other) });
    expect(view.values).toEqual({ pod: values.pod });
  });
});
