import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import {
  commandOfForm,
  fieldOfError,
  fieldsOfImage,
  podInText,
  stateOfValue,
  validFields,
} from '../../../src/core/say/request-form.ts';

it.each([
  ['HighLatency pod=pod-1234 namespace=shop', { pod: 'pod-1234', namespace: 'shop' }],
  ['Pod shop/payments-sockets-0 (payments) is restarting', { pod: 'payments-sockets-0', namespace: 'shop' }],
  ['shop is slow, look at pod `cart-leaky-0`.', { pod: 'cart-leaky-0' }],
  ['the pod neato-5thn0: no answer, namespace: shop', { pod: 'neato-5thn0', namespace: 'shop' }],
  ['pod shop/web-7d9f8b6c5-abcde is gone', { pod: 'web-7d9f8b6c5-abcde' }],
])('reads the pod that a message names: %s', (words, hint) => {
  expect(podInText(words)).toEqual(hint);
});

it.each([
  'each pod and/or node-1 in us-east-1 is slow',
  'the top-10 of orders-0, utf-8, see feature/shop-12',
  'a pod in eu-west-1 with pods web-1',
  'pod web-1/extra or pod web-1.example.com',
  'said: debian on shop/pod-1234',
])('guesses no pod where there may be none: %s', (words) => {
  expect(podInText(words)).toEqual({});
});

it('reads what our own card looks at, whatever its log says', () => {
  const card = (line: string) =>
    ` pod-1234: Succeeded\n${line}\nautodiagnose · shop · prod ·\n@U0ROY\n· run abcdefghij`;
  const summary = '\n✅ Succeeded after 1 s: autodiagnose on shop/pod-1234, for @U0ROY';
  expect(podInText(card('read') + summary)).toEqual({ pod: 'pod-1234', namespace: 'shop' });
  expect(podInText(card('pod=other namespace=dark') + summary)).toEqual({ pod: 'pod-1234', namespace: 'shop' });
});

it('reads a card that waits for an approval, whatever its reason says', () => {
  const card = 'prod · pod uid 1 · run abcdefghij';
  const summary = '\n🔐 Approval needed: @U0ROY, debugger (sysadmin) on shop/pod-1234';
  for (const reason of ['', ': it hangs', ': as before: debugger on dark/other', ': pod=other'])
    expect(podInText(card + summary + reason)).toEqual({ pod: 'pod-1234', namespace: 'shop' });
});

describe('the command of a filled form', () => {
  it('has every field, and is a run even of a pod that is named like a verb', () => {
    const fields = {
      cluster: 'prod',
      namespace: 'shop',
      pod: 'list',
      container: 'app',
      image: 'debian',
      timeout: '5m',
    };
    const parsed = parseCommand(
      commandOfForm({ ...fields, profile: 'general', reason: 'a "b"', command: 'echo -n x' }),
    );
    expect(parsed).toMatchObject({
      kind: 'ok',
      command: {
        kind: 'run',
        request: {
          ...{ cluster: 'prod', namespace: 'shop', image: 'debian', profile: 'general', timeoutMs: 300_000 },
          ...{ target: { kind: 'pod', name: 'list' }, targetContainer: { kind: 'named', name: 'app' } },
          ...{ reason: 'a "b"', command: ['echo', '-n', 'x'] },
        },
      },
    });
  });

  it('has the settings of its image, whatever their values, and no others', () => {
    const filled = { pod: 'web-1', image: 'net', 'setting-A': 'a "b" -- c', 'setting-B': '', 'setting-C': 'old' };
    const fields = fieldsOfImage(filled, { settings: ['A', 'B'] });
    expect(parseCommand(commandOfForm(fields))).toMatchObject({
      kind: 'ok',
      command: { request: { image: 'net', env: [{ name: 'A', value: 'a "b" -- c' }], command: [] } },
    });
  });

  it.each([
    [{ pod: 'Not A Name' }, 'pod'],
    [{ pod: 'web-1', timeout: 'soon' }, 'timeout'],
    [{ pod: 'web-1', container: 'No!', timeout: '5m' }, 'container'],
    [{ pod: 'web-1', timeout: '5m', command: 'echo "x' }, 'command'],
  ])('shows a mistake beside its field: %j', (fields, field) => {
    const parsed = parseCommand(commandOfForm(fields));
    expect(parsed.kind === 'error' && fieldOfError(parsed.error)).toBe(field);
  });
});

it('a form’s value that nobody of us wrote holds nothing', () => {
  for (const value of ['', '[]', 'null', '{"pod":5}', '{']) expect(stateOfValue(value)).toEqual({});
});

it('another cluster or namespace takes away what was chosen under it, and nothing else', () => {
  const fields = { cluster: 'prod', namespace: 'shop', pod: 'web-1', container: 'app', reason: 'why' };
  const before = (more: object) => JSON.stringify({ cluster: 'prod', namespace: 'shop', pod: 'web-1', ...more });
  expect(validFields(before({}), fields)).toEqual(fields);
  expect(validFields(before({ pod: 'web-2' }), fields)).toEqual({ ...fields, container: undefined });
  expect(validFields(before({ namespace: 'pay' }), fields)).toEqual({
    cluster: 'prod',
    namespace: 'shop',
    reason: 'why',
  });
  expect(validFields(before({ cluster: 'test' }), fields)).toEqual({ cluster: 'prod', reason: 'why' });
});
