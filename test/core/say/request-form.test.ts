import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import {
  commandOfForm,
  fieldOfError,
  fieldsOfImage,
  stateOfValue,
  validFields,
} from '../../../src/core/say/request-form.ts';

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
