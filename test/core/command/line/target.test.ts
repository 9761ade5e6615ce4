import { expect, it } from 'vitest';
import { parseCommand } from '../../../../src/core/command/parse.ts';

const SPELLINGS = {
  pod: ['pod', 'pods', 'po', 'POD'],
  deployment: ['deployment', 'deployments', 'deploy', 'Deploy'],
  statefulset: ['statefulset', 'statefulsets', 'sts'],
  daemonset: ['daemonset', 'daemonsets', 'ds'],
  job: ['job', 'jobs'],
  replicaset: ['replicaset', 'replicasets', 'rs'],
  cronjob: ['cronjob', 'cronjobs', 'cj'],
};

it.each(Object.entries(SPELLINGS))('%s has the spellings of kubectl: %j', (kind, spellings) => {
  const target = kind === 'pod' ? { kind: 'pod', name: 'web' } : { kind: 'workload', workload: kind, name: 'web' };
  for (const spelling of spellings) {
    expect(parseCommand(`${spelling}/web`)).toMatchObject({ command: { request: { target } } });
  }
});

it.each(['pod/', '/web', 'pod/a/b', 'pod//a', '/', '__proto__/web', 'n@s/web', 'a/b/c', 'shop/deployment/web'])(
  '%s is nothing to aim at',
  (text) => {
    expect(parseCommand(text).kind).toBe('error');
  },
);

it.each([
  ['shop/web-1', { namespace: 'shop', target: { kind: 'pod', name: 'web-1' } }],
  ['prod/web-1 --image=debian', { namespace: 'prod', image: 'debian' }],
  ['shop/web-1 -n shop', { namespace: 'shop' }],
  ['can-i shop/web-1', { namespace: 'shop' }],
])('%s names the namespace and the pod', (text, request) => {
  expect(parseCommand(text)).toMatchObject({ command: { request } });
});

it('describe takes a namespace before the name as well', () => {
  expect(parseCommand('describe shop/web-1')).toMatchObject({ command: { pod: 'web-1', namespace: 'shop' } });
});

it('two namespaces contradict each other', () => {
  expect(parseCommand('shop/web-1 -n default')).toMatchObject({
    error: { code: 'flag_contradiction', message: 'shop and "default" are two namespaces.', start: 11, end: 21 },
  });
});

it.each(['node/a', 'svc/web', 'rc/web', 'deploymnt/web', 'Shop/web', 'statefullset/web'])(
  '%s is a kind that is none of ours, and no namespace',
  (text) => {
    expect(parseCommand(text)).toMatchObject({ error: { code: 'target_kind_unknown' } });
  },
);

it('the name after a kind is pointed at, not the kind', () => {
  expect(parseCommand('deployment/Web')).toMatchObject({
    error: { code: 'name_invalid', start: 11, end: 14, hint: 'Did you mean web?' },
  });
});
