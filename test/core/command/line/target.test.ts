import { expect, test } from 'vitest';
import { parseCommand } from '../../../../src/core/command/parse.ts';

const SPELLINGS = {
  pod: ['pod', 'pods', 'po', 'POD'],
  deployment: ['deployment', 'deployments', 'deploy', 'Deploy'],
  statefulset: ['statefulset', 'statefulsets', 'sts'],
  daemonset: ['daemonset', 'daemonsets', 'ds'],
  job: ['job', 'jobs'],
};

test.each(Object.entries(SPELLINGS))('%s has the spellings of kubectl: %j', (kind, spellings) => {
  const target = kind === 'pod' ? { kind: 'pod', name: 'web' } : { kind: 'workload', workload: kind, name: 'web' };
  for (const spelling of spellings) {
    expect(parseCommand(`${spelling}/web`)).toMatchObject({ command: { request: { target } } });
  }
});

test.each(['pod/', '/web', 'pod/a/b', 'pod//a', '/', 'constructor/web', '__proto__/web', 'n@s/web'])(
  '%s is nothing to aim at',
  (text) => {
    expect(parseCommand(text).kind).toBe('error');
  },
);

test('the name after a kind is pointed at, not the kind', () => {
  expect(parseCommand('deployment/Web')).toMatchObject({
    error: { code: 'name_invalid', start: 11, end: 14, hint: 'Did you mean web?' },
  });
});
