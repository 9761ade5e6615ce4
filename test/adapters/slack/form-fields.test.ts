import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StoredView } from '../../../play/slack/index.ts';
import type { Field, Form } from '../../../src/core/say/message/message.ts';
import { formOf, openForm } from './deeds.ts';
import { startWorld, type World } from './harness.ts';

const POD: Field = { id: 'pod', label: 'Pod', kind: 'search', optional: false, dispatches: true };
const NAMESPACE: Field = { ...POD, id: 'namespace', label: 'Namespace', initial: 'shop' };
const REASON: Field = { id: 'reason', label: 'Reason', kind: 'line', optional: true };
const podOf = (dependsOn: string): Field => ({ ...POD, dependsOn });
const option = (value: string) => ({ value, label: value });
/** As long as a pod's name with a template may be. */
const longName = (index: number): string => `payments-checkout-gateway-${index}-`.padEnd(63, 'x');

let world: World;
beforeAll(async () => {
  world = await startWorld('http', { rates: { extraPerMinute: 1_000 } });
});
afterAll(() => world.stop());
beforeEach(() => {
  world.inbox.options = async () => [];
  world.inbox.changed = async () => undefined;
  world.inbox.submitAnswer = async () => ({ kind: 'taken' });
});
afterEach(() => {
  world.inbox.forget();
  world.local.faults.clear();
  for (const view of world.local.views()) view.open = false;
});

const open = async (more: Partial<Form>): Promise<StoredView> => {
  const id = await openForm(world, 'debug', more);
  return world.local.state.views.get(id)!;
};
const blockOf = ({ view }: StoredView, id: string): string =>
  (view.blocks as { block_id: string }[]).map(({ block_id }) => block_id).find((block) => block.startsWith(id)) ?? '';
const search = async (view: StoredView, typed: string) =>
  world.local.deliver.suggest({
    ...{ user: 'U0ROY', viewId: view.id, typed },
    ...{ blockId: blockOf(view, 'pod'), actionId: 'pod' },
  });
const pick = (view: StoredView, value: string, more: object = {}) => {
  const block = blockOf(view, 'pod');
  const values = { [block]: { pod: { type: 'external_select', selected_option: { value } } }, ...more };
  const press = { actionId: 'pod', blockId: block, chosen: [value] };
  return world.local.deliver.viewAction({ user: 'U0ROY', viewId: view.id, ...press, values });
};

/** The newest call that replaced the view, or did not. */
const updateOf = (view: StoredView, ok = true) =>
  world.local.until(() =>
    world.local.requests('views.update').findLast((one) => one.args.view_id === view.id && one.ok === ok),
  );

describe('a search field', () => {
  it('asks the inbox with the words and the form’s own value, and shows what it answers', async () => {
    const view = await open({ value: '{"namespace":"shop"}', fields: [podOf('shop')] });
    world.inbox.options = async () => [{ ...option('web-1'), description: 'running' }];
    const { options } = await search(view, 'we');
    expect(options).toMatchObject([{ value: 'web-1', text: { text: 'web-1' }, description: { text: 'running' } }]);
    expect(world.inbox.searches).toEqual([
      {
        ...{ field: 'pod', typed: 'we', value: '{"namespace":"shop"}' },
        ...{ channelId: 'C0SHOP', userId: 'U0ROY', teamId: 'T0LOCAL', receivedAtMs: expect.any(Number) },
      },
    ]);
  });

  it.each([null, undefined])('that opens is not left empty, where Slack says of nothing typed: %s', async (value) => {
    const view = await open({ fields: [POD] });
    world.inbox.options = async () => [option('web-1')];
    const asked = { viewId: view.id, blockId: blockOf(view, 'pod'), actionId: 'pod', typed: '' };
    const { options } = await world.local.deliver.suggest({ user: 'U0ROY', ...asked, override: { value } });
    expect(options).toMatchObject([{ value: 'web-1' }]);
    expect(world.inbox.searches).toMatchObject([{ typed: '' }]);
  });

  it('shows at most a hundred options, none that would come back cut, and hostile names as they are', async () => {
    const view = await open({ fields: [POD] });
    const many = Array.from({ length: 150 }, (_, index) => option(`web-${index}`));
    world.inbox.options = async () => [option('x'.repeat(151)), option('<!channel> \u202e*bold*'), ...many];
    const { options = [] } = await search(view, '');
    expect(options).toHaveLength(100);
    expect(options[0]).toEqual({
      value: '<!channel> \u202e*bold*',
      text: { type: 'plain_text', text: '<!channel> *bold*' },
    });
    expect(options.at(-1)).toMatchObject({ text: { text: 'Type more letters to see the others' } });
  });

  it('says that there are others, and keeps what was typed, where the menu has no room for all', async () => {
    const view = await open({ fields: [POD] });
    const others = Array.from({ length: 120 }, (_, index) => option(longName(index)));
    world.inbox.options = async () => [...others, { value: 'web', label: 'Use “web”' }];
    const { options = [] } = await search(view, ' web ');
    const last = options.slice(-2).map(({ text }) => (text as { text: string }).text);
    expect(last).toEqual(['Use “web”', 'Type more letters to see the others']);
    expect(options[0]?.value).toBe(longName(0));
    const exact = await search(view, longName(0));
    expect(exact.options?.filter(({ value }) => value === longName(0))).toEqual([exact.options?.[0]]);
  });

  it('keeps the name of an emoji in an option as it is', async () => {
    const view = await open({ fields: [POD] });
    world.inbox.options = async () => [option(':smile:')];
    expect((await search(view, '')).options).toMatchObject([{ text: { text: ':smile:', emoji: false } }]);
  });

  it('has no options when the inbox fails, and the menu is answered all the same', async () => {
    world.inbox.options = async () => {
      throw new Error('bug');
    };
    expect((await search(await open({ fields: [POD] }), 'x')).options).toEqual([]);
  });
});

describe('the option that says how to see the others', () => {
  const pickMore = async (view: StoredView) => {
    world.inbox.options = async () => Array.from({ length: 150 }, (_, index) => option(`web-${index}`));
    const { options = [] } = await search(view, '');
    return String(options.at(-1)?.value);
  };

  it('names nothing: the form is made as if nothing was picked', async () => {
    const view = await open({ fields: [POD] });
    await pick(view, await pickMore(view));
    expect(world.inbox.changes).toMatchObject([{ fields: {} }]);
  });

  it('is refused beside its field, and nothing is submitted', async () => {
    const view = await open({ fields: [POD, REASON] });
    const picked = { type: 'external_select', selected_option: { value: await pickMore(view) } };
    const values = { pod: { pod: picked }, reason: { reason: { type: 'plain_text_input', value: '…' } } };
    const { body } = await world.local.deliver.viewSubmission({ user: 'U0ROY', viewId: view.id, values });
    const errors = { pod: 'Type more letters here, then pick a name from the list.' };
    expect(body).toEqual({ response_action: 'errors', errors });
    expect(world.inbox.submissions).toEqual([]);
  });
});

it('over Socket Mode, the menu of a large namespace does not cost the connection', async () => {
  const sockets = await startWorld('socket');
  try {
    const restarting = { description: 'Running, 1,234 restarts' };
    sockets.inbox.options = async () =>
      Array.from({ length: 99 }, (_, index) => ({ ...option(longName(index)), ...restarting }));
    const viewId = await openForm(sockets, 'debug', { fields: [POD] });
    const asked = { viewId, blockId: 'pod', actionId: 'pod', typed: '' };
    const { options = [] } = await sockets.local.deliver.suggest({ user: 'U0ROY', ...asked });
    expect(options.length).toBeGreaterThan(50);
    expect(options.at(-1)).toMatchObject({ text: { text: 'Type more letters to see the others' } });
    expect(sockets.local.sockets.opened).toBe(2);
    expect(sockets.local.sockets.count).toBe(2);
  } finally {
    await sockets.stop();
  }
});

describe('a field that dispatches', () => {
  it('gives the inbox what stands in all fields, and shows the form that it answers with', async () => {
    const view = await open({ fields: [podOf('shop'), REASON] });
    world.inbox.options = async () => [option('web-1')];
    await search(view, '');
    world.inbox.changed = async () =>
      formOf('debug', { value: 'next', intro: 'It would run.', fields: [podOf('shop')] });
    await pick(view, 'web-1', { reason: { reason: { type: 'plain_text_input', value: 'it hangs' } } });
    expect(world.inbox.changes).toMatchObject([{ fields: { pod: 'web-1', reason: 'it hangs' }, value: 'abcdefgh23' }]);
    await world.local.until(() => JSON.stringify(view.view).includes('It would run.'));
    expect(JSON.parse(String(view.view.private_metadata))).toMatchObject({ value: 'next', channelId: 'C0SHOP' });
    expect((await updateOf(view)).args).toHaveProperty('hash');
  });

  it('leaves the form as it is when nothing changes', async () => {
    const view = await open({ fields: [POD] });
    const { hash } = view;
    await pick(view, 'web-1');
    expect(view.hash).toBe(hash);
  });

  it('empties a field whose dependence changed, and shows an error beside it under its new id', async () => {
    const view = await open({ fields: [NAMESPACE, podOf('shop')] });
    const before = blockOf(view, 'pod');
    world.inbox.changed = async () => formOf('debug', { fields: [NAMESPACE, podOf('pay')] });
    await pick(view, 'web-1');
    await world.local.until(() => blockOf(view, 'pod') !== before);
    expect(view.values).toEqual({});
    world.inbox.submitAnswer = async () => ({ kind: 'errors', errors: { pod: 'No pod is named.' } });
    const values = {
      [blockOf(view, 'pod')]: { pod: { type: 'external_select', selected_option: { value: 'web-9' } } },
    };
    const { body } = await world.local.deliver.viewSubmission({ user: 'U0ROY', viewId: view.id, values });
    expect(world.inbox.submissions).toMatchObject([{ fields: { pod: 'web-9' } }]);
    expect(body).toEqual({ response_action: 'errors', errors: { [blockOf(view, 'pod')]: 'No pod is named.' } });
  });

  it('shows the newest of two quick changes, whichever answer comes first', async () => {
    const view = await open({ fields: [POD] });
    const answers: (() => void)[] = [];
    world.inbox.changed = (change) =>
      new Promise((resolve) => {
        const intro = `about ${change.fields.pod}`;
        answers.push(() => resolve(formOf('debug', { intro, fields: [POD] })));
      });
    world.inbox.options = async () => [option('web-1'), option('web-2')];
    await search(view, '');
    const both = [pick(view, 'web-1'), pick(view, 'web-2')];
    await vi.waitFor(() => expect(answers).toHaveLength(2));
    for (const answer of answers.reverse()) answer();
    await Promise.all(both);
    await world.local.until(() => JSON.stringify(view.view).includes('about web-2'));
    expect(JSON.stringify(view.view)).not.toContain('about web-1');
  });

  it('replaces our own answer to the change before, which the person had not seen', async () => {
    const view = await open({ fields: [POD] });
    world.inbox.changed = async () => formOf('debug', { intro: 'the newest', fields: [POD] });
    world.local.faults.queue({ method: 'views.update', kind: 'hash_conflict' });
    await pick(view, 'web-1');
    await world.local.until(() => JSON.stringify(view.view).includes('the newest'));
    expect((await updateOf(view)).args).not.toHaveProperty('hash');
  });

  it('says nothing when the person has closed the form', async () => {
    const view = await open({ fields: [POD] });
    world.inbox.changed = async () => {
      view.open = false;
      return formOf('debug');
    };
    const before = world.log.records.length;
    await pick(view, 'web-1');
    await updateOf(view, false);
    expect(world.log.records.slice(before).filter(({ level }) => level !== 'info')).toEqual([]);
  });
});

describe('a form that loads', () => {
  const loading: Form = { name: 'debug', value: '', title: 'Debug a pod', intro: 'Loading…', fields: [] };
  const ask = (complete: () => Promise<Form>) => {
    world.inbox.answer = async () => ({ kind: 'form', form: loading, complete });
    return world.local.deliver.command({ user: 'U0ROY', channel: 'C0SHOP', text: '' });
  };
  const opened = () => world.local.until(() => world.local.views('U0ROY')[0]);

  it('opens at once without a button to submit, and is replaced by its hash when it is complete', async () => {
    let finish: (form: Form) => void = () => undefined;
    const made = new Promise<Form>((resolve) => {
      finish = resolve;
    });
    await ask(() => made);
    const view = await opened();
    const { hash } = view;
    expect(view.view.submit).toBeUndefined();
    expect(JSON.stringify(view.view)).toContain('Loading…');
    finish(formOf('debug', { fields: [POD] }));
    await world.local.until(() => blockOf(view, 'pod') === 'pod');
    expect((await updateOf(view)).args).toMatchObject({ hash });
  });

  it('that Slack does not replace is told privately', async () => {
    world.local.faults.queue({ method: 'views.update', kind: 'http_500' });
    const before = world.local.ephemerals('U0ROY').length;
    await ask(async () => formOf('debug'));
    const { blocks } = await world.local.until(() => world.local.ephemerals('U0ROY')[before]);
    expect(JSON.stringify(blocks)).toContain('slack_form_not_opened');
  });

  it('that the person closes meanwhile is left alone', async () => {
    const before = world.local.ephemerals('U0ROY').length;
    await ask(async () => {
      for (const view of world.local.views()) view.open = false;
      return formOf('debug');
    });
    await world.local.until(() => world.local.requests('views.update').at(-1)?.error === 'not_found');
    expect(world.local.ephemerals('U0ROY')).toHaveLength(before);
  });
});
