import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isFull } from '../../../test/support/sample.ts';
import { type LocalCluster, openShop, startLocalCluster } from '../../cluster/index.ts';
import { hasKubectl, runKubectl } from './run-kubectl.ts';

if (!hasKubectl) console.warn('skipped: rights as real kubectl sees them, because there is no kubectl here');

describe.runIf(isFull && hasKubectl)('real kubectl and rights', () => {
  let cluster: LocalCluster;
  let directory: string;

  beforeAll(async () => {
    cluster = await startLocalCluster({ kubeletDelayMs: 0 });
    openShop(cluster);
    directory = mkdtempSync(join(tmpdir(), 'kdebug-kubectl-'));
    writeFileSync(join(directory, 'config'), cluster.kubeconfig);
  });

  afterAll(async () => {
    const unknown = cluster.requests.unknown().map(({ method, url }) => `${method} ${url}`);
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
    expect(unknown).toEqual([]);
  });

  const kubectl = (...words: string[]) => runKubectl(directory, ['-n', 'shop', ...words]);

  const file = (name: string, object: object): string => {
    const path = join(directory, name);
    writeFileSync(path, JSON.stringify(object));
    return path;
  };

  it('makes roles and bindings, and somebody is let in and asks whether', async () => {
    expect((await kubectl('auth', 'can-i', 'get', 'pods', '--as=roy')).out).toBe('no\n');
    await kubectl('create', 'role', 'look', '--verb=get,list', '--resource=pods,pods/log');
    const made = await kubectl(
      'create',
      'rolebinding',
      'look',
      '--role=look',
      '--user=roy',
      '--serviceaccount=shop:bot',
    );
    expect(made.out).toBe('rolebinding.rbac.authorization.k8s.io/look created\n');
    expect((await kubectl('auth', 'can-i', 'get', 'pods', '--as=roy')).out).toBe('yes\n');
    expect((await kubectl('auth', 'can-i', 'get', 'pods/log', '--as=roy')).out).toBe('yes\n');
    expect((await kubectl('auth', 'can-i', 'delete', 'pods', '--as=roy')).out).toBe('no\n');
    expect((await kubectl('get', 'pods', '--as=roy')).out).toContain('pod-1234');
    expect((await kubectl('get', 'rolebindings', '-o', 'wide')).out).toMatch(
      /^look +Role\/look +\d+s +roy +shop\/bot$/m,
    );
    expect((await kubectl('describe', 'rolebinding', 'look')).out).toMatch(/ServiceAccount +bot +shop/);
  });

  it('tells a viewer the reason in the real words', async () => {
    await kubectl('create', 'clusterrolebinding', 'viewers', '--clusterrole=view', '--group=viewers');
    const words = ['--image=busybox:1', '--profile=general', '--as=jo', '--as-group=viewers', '--', 'true'];
    expect((await kubectl('debug', 'pod-1234', ...words)).out).toContain(
      'pods "pod-1234" is forbidden: User "jo" cannot patch resource "pods/ephemeralcontainers" in API group "" in the namespace "shop"',
    );
    const bound = await kubectl('create', 'rolebinding', 'lost', '--clusterrole=nowhere', '--user=ginger');
    expect(bound.code).toBe(0);
    expect((await kubectl('auth', 'can-i', 'get', 'pods', '--as=ginger')).out).toBe(
      'no - RBAC: clusterrole.rbac.authorization.k8s.io "nowhere" not found\n',
    );
  });

  it('applies a file, once more, changed, and strictly', async () => {
    const rule = { apiGroups: [''], resources: ['users'], resourceNames: ['slack:U1'], verbs: ['impersonate'] };
    const kind = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'acting' } };
    const path = file('role.json', { ...kind, rules: [rule] });
    const said: string[] = [];
    const apply = async () => said.push((await kubectl('apply', '-f', path)).out.trim().split(' ').at(-1) ?? '');
    await apply();
    await apply();
    file('role.json', { ...kind, rules: [{ ...rule, resourceNames: ['slack:U1', 'slack:U2'] }] });
    await apply();
    expect(said).toEqual(['created', 'unchanged', 'configured']);
    const odd = file('odd.json', { ...kind, metadata: { name: 'odd' }, rulez: [] });
    expect((await kubectl('create', '-f', odd)).out).toContain('strict decoding error: unknown field "rulez"');
  });

  it('is only shown what a dry run would do', async () => {
    await kubectl('create', 'role', 'dry', '--verb=get', '--resource=pods', '--dry-run=server');
    expect((await kubectl('get', 'role', 'dry')).out).toContain('roles.rbac.authorization.k8s.io "dry" not found');
    expect((await kubectl('delete', 'pod', 'pod-1234', '--dry-run=server')).out).toContain('deleted (server dry run)');
    expect(cluster.pod('shop', 'pod-1234')?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('makes a namespace that warns, and prints the warning', async () => {
    expect((await kubectl('create', 'namespace', 'team')).out).toBe('namespace/team created\n');
    await kubectl('label', 'namespace', 'team', 'pod-security.kubernetes.io/warn=restricted');
    const { out, code } = await kubectl('run', 'w', '-n', 'team', '--image=busybox:1', '--restart=Never', '--', 'true');
    expect(code).toBe(0);
    expect(out).toContain('Warning: would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false');
  });
});
