import { expect, it } from 'vitest';
import { pageImage, podHealth, stateWords } from '../../../../page/app/cluster/pod-words.ts';
import { roleOf } from '../../../../page/app/rail/roles.ts';
import type { PageContainer } from '../../../../page/contract.ts';
import { defaultTeam } from '../../../../slack/state/team.ts';
import { pod } from '../../../browser/support/worlds.ts';

const container = (more: Partial<PageContainer>): PageContainer => ({
  name: 'web',
  image: 'web:1',
  kind: 'container',
  state: 'running',
  restarts: 0,
  ...more,
});

it.each([
  [{}, { health: 'good', words: 'Running' }],
  [{ deleting: true }, { health: 'busy', words: 'Terminating' }],
  [
    { containers: [container({ state: 'waiting', reason: 'CrashLoopBackOff' })] },
    { health: 'bad', words: 'CrashLoopBackOff' },
  ],
  [
    { containers: [container({ state: 'waiting', reason: 'ContainerCreating' })] },
    { health: 'busy', words: 'ContainerCreating' },
  ],
  [
    { containers: [container({}), container({ kind: 'debug', state: 'terminated', reason: 'Error', exitCode: 1 })] },
    { health: 'good', words: 'Running' },
  ],
  [
    { phase: 'Pending', containers: [] },
    { health: 'busy', words: 'Pending' },
  ],
  [
    { phase: 'Succeeded', containers: [container({ state: 'terminated', reason: 'Completed', exitCode: 0 })] },
    { health: 'done', words: 'Succeeded' },
  ],
  [
    { phase: 'Failed', containers: [] },
    { health: 'bad', words: 'Failed' },
  ],
])('says of %j how the pod is', (more, expected) => expect(podHealth({ ...pod('p'), ...more })).toEqual(expected));

it('writes a container’s end with its code', () => {
  expect(stateWords(container({ state: 'terminated', reason: 'OOMKilled', exitCode: 137 }))).toBe('OOMKilled (137)');
  expect(stateWords(container({ state: 'terminated', reason: 'Completed', exitCode: 0 }))).toBe('Completed');
});

it('shortens images', () => {
  expect(pageImage('registry.example.com/shop/web:2.7')).toBe('web:2.7');
  expect(pageImage(`a/b@sha256:${'0123456789abcdef'.repeat(4)}`)).toBe('b@0123456');
});

it.each([
  ['U0ROY', 'support, may only look'],
  ['U0BOB', 'approver (@sre)'],
  ['U0GUEST', 'guest'],
  ['U0SINGLE', 'guest of one channel'],
  ['U0STRANGER', 'outsider, of another workspace'],
  ['U0GONE', 'account deactivated'],
  ['U0ROBOT', 'another app’s bot'],
])('says what %s is', (id, role) => {
  const team = defaultTeam('U0KDEBUG');
  const person = team.users[id];
  expect(person && roleOf(person, team)).toBe(role);
});
