import { describe, expect, it } from 'vitest';
import { differencesOf, told } from './compare.ts';
import { normaliseJson, normaliseText } from './normalise.ts';

const names = { node: 'node-7' };

describe('comparing answers', () => {
  it('finds a field that differs, one that is missing and one too many, each with its path', () => {
    const recorded = { status: 422, causes: [{ field: 'a', reason: 'X' }, { field: 'b' }] };
    const local = { status: 200, causes: [{ field: 'a', reason: 'Y' }], extra: null };
    expect(differencesOf('patch', recorded, local)).toEqual([
      { path: 'patch.status', recorded: 422, local: 200 },
      { path: 'patch.causes[0].reason', recorded: 'X', local: 'Y' },
      { path: 'patch.causes[1]', recorded: { field: 'b' }, local: undefined },
      { path: 'patch.extra', recorded: undefined, local: null },
    ]);
  });

  it('tells a difference with both sides', () => {
    expect(told({ path: 'patch.a', recorded: 'x', local: undefined })).toBe(
      'patch.a\n  recorded  "x"\n  local     (nothing)',
    );
  });
});

describe('normalising', () => {
  it.each([
    ['a uid', '7c9e6679-7425-40de-944b-e07fc1f90ae7', '<uid>'],
    ['a time', '2026-11-21T10:00:00Z', '<time>'],
    ['the beginning of time stays', '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    ['an age in a column', 'web   1/1   Running   0   4m5s', 'web  1/1  Running  0  <age>'],
    ['a quantity stays', '      cpu:     500m', '      cpu:  500m'],
    ['the node', 'Successfully assigned a/b to node-7', 'Successfully assigned a/b to <node>'],
    ['an image stays', 'Image: node-7/busybox:1', 'Image: node-7/busybox:1'],
    [
      'the words of a registry',
      'failed to resolve reference "a": dial tcp: no',
      'failed to resolve reference "a": <the registry>',
    ],
    ['restarts', 'web  0/1  Error  3 (10s ago)  1m', 'web  0/1  Error  <n> (<age> ago)  <age>'],
    ['an exit code stays', '      Exit Code:    137', '      Exit Code:  137'],
  ])('%s', (_what, text, expected) => {
    expect(normaliseText(text, names)).toBe(expected);
  });

  it('leaves out who manages a field, and names and versions by their keys', () => {
    const metadata = { resourceVersion: '12', managedFields: [{ manager: 'x' }], generation: 3 };
    const object = { metadata, spec: { nodeName: 'node-7' }, status: { imageID: '', restartCount: 2 } };
    expect(normaliseJson(object, names)).toEqual({
      metadata: { resourceVersion: '<version>', generation: 3 },
      spec: { nodeName: '<node>' },
      status: { imageID: '', restartCount: '<n>' },
    });
  });
});
