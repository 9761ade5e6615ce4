import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesCluster } from '../../src/adapters/kubernetes/cluster.ts';
import { rbac } from '../../src/cli/rbac.ts';
import { asRunId } from '../../src/core/ids.ts';
import type { AccessRequest, AccessResult, ActingAs, LaunchRequest } from '../../src/flow/ports/cluster.ts';
import { Kube } from '../e2e/kube.ts';
import { ServiceAccount } from './service-account.ts';

const kubeconfig = readFileSync(process.env.KUBECONFIG ?? '', 'utf8');
const directory = mkdtempSync(join(tmpdir(), 'kdebug-rbac-'));
const kube = new Kube(kubeconfig);
let account: ServiceAccount;
let cluster: KubernetesCluster;
let shop: string;
let vault: string;
let pod: LaunchRequest['pod'];

/** Names of this run alone: other tests may have bound others. */
const named = (user: string): ActingAs => ({
  user: `${account.name}:${user}`,
  groups: [`${account.name}:C0SHOP`],
  slackUser: user,
});

function printed({ name, namespace }: ServiceAccount, identity: string, ...people: readonly string[]): string {
  const path = join(directory, 'policy.yaml');
  writeFileSync(
    path,
    `version: 1
clusters: { test: { context: test } }
identity: ${identity}
channels:
  C0SHOP:
    rules: [{ id: look, clusters: [test], namespaces: [${shop}], classes: [observe], profiles: [restricted] }]
`,
  );
  const lines: string[] = [];
  const words = ['--policy', path, '--namespace', namespace, '--service-account', name];
  const more = people.flatMap((person) => ['--user', person]);
  const code = rbac([...words, ...more], { out: (line) => lines.push(line), err: (line) => lines.push(line) });
  expect(code).toBe(0);
  return lines.join('\n');
}

/** The API server learns of a role a moment after it was made: asks anew, with nothing cached, until `holds`. */
async function answer(request: AccessRequest, holds: (answer: AccessResult | Error) => boolean): Promise<unknown> {
  for (let left = 100; ; left -= 1) {
    const got = await cluster.access(request).catch((error: Error) => error);
    if (holds(got) || left === 0) return got;
    await account.clock.advance(30_000);
    await pause(50);
  }
}

const POLL = { timeout: 10_000, interval: 50 };

const isAllowed = (got: AccessResult | Error): boolean => !(got instanceof Error) && got.kind === 'allowed';

const dryRun = (actingAs?: ActingAs) =>
  cluster.launch({
    pod,
    container: {
      name: 'kdebug-x',
      image: 'localhost/busybox:1',
      env: [],
      terminationMessagePolicy: 'FallbackToLogsOnError',
    },
    runId: asRunId('abcdefghij'),
    dryRun: true,
    ...(actingAs && { actingAs }),
  });

beforeAll(async () => {
  const [own, ...others] = await Promise.all(
    ['kdebug-bot', 'kdebug-shop', 'kdebug-vault'].map((each) => kube.namespace(each)),
  );
  [shop = '', vault = ''] = others;
  account = new ServiceAccount(kubeconfig, own ?? '');
  cluster = await account.open();
  const made = await kube.pod(shop, 'web-1', {
    terminationGracePeriodSeconds: 1,
    containers: [
      { name: 'app', image: 'localhost/busybox:1', imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'] },
    ],
  });
  pod = { namespace: shop, name: 'web-1', uid: made.metadata?.uid ?? '' };
});

afterAll(async () => {
  await account?.close();
  await kube.cleanUp();
  rmSync(directory, { recursive: true });
});

describe('access on a real cluster', () => {
  it('names the rule that lacks before anything was given', async () => {
    await expect(cluster.access({ namespace: shop, podName: 'web-1', actingAs: named('U0ROY') })).rejects.toMatchObject(
      {
        code: 'cluster_forbidden',
        detail: expect.stringContaining(
          `resources: [users], resourceNames: ["${account.name}:U0ROY"], verbs: [impersonate]`,
        ),
      },
    );
  });
});

describe('what rbac prints', () => {
  it('lets kdebug become every person of the list', async () => {
    const { name } = account;
    const identity = `{ mode: impersonate, user: "${name}:{userId}", groups: ["${name}:{channelId}"] }`;
    await account.apply(printed(account, identity, 'U0ROY', 'U0JO'));
    for (const user of ['U0ROY', 'U0JO'])
      expect(await answer({ namespace: shop, podName: 'web-1', actingAs: named(user) }, isAllowed)).toEqual({
        kind: 'allowed',
      });
  });

  it('is enough for the patch itself as the person, and not as the bot', async () => {
    expect(await dryRun(named('U0ROY'))).toMatchObject({ kind: 'launched' });
    expect(await dryRun()).toMatchObject({ kind: 'refused', by: 'rbac' });
  });

  it('is enough for what the bot looks at by itself', async () => {
    expect((await cluster.pod(shop, 'web-1')).metadata.uid).toBe(pod.uid);
    expect(await cluster.podSecurity(shop)).toBe('privileged');
    expect(await cluster.events(pod, 'kdebug-x')).toEqual([]);
    await expect(cluster.podSecurity(vault)).rejects.toMatchObject({ code: 'cluster_forbidden' });
  });

  it.each([
    ['person', (roy: ActingAs) => ({ ...roy, user: `${roy.user}X` }), 'resources: [users]'],
    ['group', (roy: ActingAs) => ({ ...roy, groups: [...roy.groups, 'kdebug:C0OTHER'] }), 'resources: [groups]'],
    ['Slack user', (roy: ActingAs) => ({ ...roy, slackUser: 'U0EVE' }), 'resources: [userextras/slack-user]'],
  ])('refuses one %s more', async (_, change, rule) => {
    const actingAs = change(named('U0ROY'));
    await expect(cluster.access({ namespace: shop, podName: 'web-1', actingAs })).rejects.toMatchObject({
      code: 'cluster_forbidden',
      detail: expect.stringContaining(rule),
    });
    expect(await dryRun(actingAs)).toMatchObject({ kind: 'refused', by: 'rbac' });
  });

  it('gives nothing in a namespace that no rule names', async () => {
    expect(await cluster.access({ namespace: vault, podName: 'web-1', actingAs: named('U0ROY') })).toEqual({
      kind: 'denied',
      reason: '',
      missing: ['patch pods/ephemeralcontainers', 'get pods/log', 'get pods'],
    });
  });
});

describe('what rbac prints for a shared account', () => {
  let shared: ServiceAccount;

  beforeAll(async () => {
    shared = new ServiceAccount(kubeconfig, await kube.namespace('kdebug-shared'));
  });

  afterAll(() => shared.close());

  it('lets it debug by itself and ask about mapped people, and become nobody', async () => {
    const own = await shared.open();
    await shared.apply(printed(shared, `{ mode: serviceAccount, users: { U0ROY: "${shared.name}:roy" } }`));
    const at = { namespace: shop, podName: 'web-1' };
    const roy = { user: `${shared.name}:roy`, groups: [] };
    await expect.poll(() => own.access({ ...at, subject: roy }), POLL).toMatchObject({ kind: 'denied' });
    await shared.bind(shop, 'cluster-admin', roy.user);
    const ask = async (request: AccessRequest) => {
      await shared.clock.advance(30_000);
      return own.access(request);
    };
    await expect.poll(() => ask({ ...at, subject: roy }), POLL).toEqual({ kind: 'allowed' });
    await expect.poll(() => ask(at), POLL).toEqual({ kind: 'allowed' });
    await expect(own.access({ ...at, actingAs: { ...roy, slackUser: 'U0ROY' } })).rejects.toMatchObject({
      code: 'cluster_forbidden',
    });
  });
});

describe('a person on a real cluster', () => {
  const inVault = (user: string): AccessRequest => ({
    namespace: vault,
    podName: 'web-1',
    actingAs: { ...named(user), groups: [] },
  });

  it('who is a viewer may look and not debug', async () => {
    await account.bind(vault, 'view', named('U0JO').user);
    const lacks = { kind: 'denied', missing: ['patch pods/ephemeralcontainers'] };
    const holds = (got: AccessResult | Error) =>
      !(got instanceof Error) && got.kind === 'denied' && got.missing.length === 1;
    expect(await answer(inVault('U0JO'), holds)).toMatchObject(lacks);
  });

  it('who was bound may debug; a revocation is noticed once the answer is 30 s old', async () => {
    const binding = await account.bind(vault, 'admin', named('U0ROY').user);
    await account.apply(`apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: debug, namespace: ${vault} }
rules: [{ apiGroups: [""], resources: [pods/ephemeralcontainers], verbs: [patch], resourceNames: [web-1] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: debug, namespace: ${vault} }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: debug }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: "${named('U0ROY').user}" }]
`);
    expect(await answer(inVault('U0ROY'), isAllowed)).toEqual({ kind: 'allowed' });
    expect(await cluster.access({ ...inVault('U0ROY'), podName: 'web-2' })).toMatchObject({
      missing: ['patch pods/ephemeralcontainers'],
    });
    await account.unbind(binding);
    const got = await answer(inVault('U0ROY'), (each) => !isAllowed(each));
    expect(got).toMatchObject({ kind: 'denied', missing: ['get pods/log', 'get pods'] });
  });
});
