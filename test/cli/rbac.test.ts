import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { rbac } from '../../src/cli/rbac.ts';

const directory = mkdtempSync(join(tmpdir(), 'kdebug-rbac-'));
afterAll(() => rmSync(directory, { recursive: true }));

const policy = (identity: string): string => `version: 1
clusters: { prod: { context: prod, default: true }, test: { context: test } }
identity: ${identity}
approvers: { sre: { users: [U0BOB] } }
images: { debian: { image: "debian:12-slim", class: observe } }
channels:
  C0SHOP:
    rules:
      - { id: look, clusters: [prod], namespaces: [shop, "shop-*"], classes: [observe], profiles: [restricted] }
  C0OPS:
    rules:
      - { id: look, clusters: [prod], namespaces: [shop, kube-system], classes: [observe], profiles: [restricted] }
      - { id: try, clusters: [test], namespaces: [lab], classes: [observe], profiles: [restricted] }
`;
const EACH = '{ mode: impersonate, user: "slack:{userId}", groups: ["kdebug:{channelId}"], users: { U0ROY: roy } }';
const ALONE = '{ mode: serviceAccount }';

interface Rbac {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly { resources: string[]; resourceNames?: string[]; verbs: string[] }[];
  readonly subjects?: readonly { kind: string; name: string; namespace?: string }[];
}

function print(identity: string, ...words: readonly string[]) {
  const path = join(directory, 'policy.yaml');
  writeFileSync(path, policy(identity));
  const [out, err]: [string[], string[]] = [[], []];
  const lines = { out: (line: string) => out.push(line), err: (line: string) => err.push(line) };
  const code = rbac(['--policy', path, ...words], lines);
  const text = out.join('\n');
  const objects = parseAllDocuments(text).map((document) => document.toJS() as Rbac | null);
  const at = (object: Rbac) => `${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name}`;
  const found = new Map(objects.flatMap((object) => (object ? [[at(object), object]] : [])));
  const rightsIn = (key: string) => found.get(key)?.rules?.map(({ resources, verbs }) => `${resources} ${verbs}`) ?? [];
  const namesIn = (key: string) => found.get(key)?.subjects?.map(({ kind, name }) => `${kind} ${name}`) ?? [];
  return { code, text, err, found, rightsIn, namesIn };
}

describe('the printed rights', () => {
  it('is bounded by the map where the policy refuses who is not in it, so it needs no names and exits with 0', () => {
    const printed = print(EACH.replace(/ }$/, ', unmapped: deny }'));
    const text = JSON.stringify(printed);
    expect(text).toContain('roy');
    expect(text).not.toContain('slack:U0BOB');
    expect(printed).toMatchObject({ code: 0, err: [] });
    expect(print(EACH.replace(', users: { U0ROY: roy }', '')).code).toBe(1);
  });

  it('name every user, group and Slack user that kdebug may become, in this cluster', () => {
    const { code, found } = print(EACH);
    expect(code).toBe(0);
    expect(found.get('ClusterRole /kdebug-policy-impersonation')?.rules).toEqual([
      { apiGroups: [''], resources: ['users'], resourceNames: ['roy', 'slack:U0BOB'], verbs: ['impersonate'] },
      {
        apiGroups: [''],
        resources: ['groups'],
        resourceNames: ['kdebug:C0OPS', 'kdebug:C0SHOP'],
        verbs: ['impersonate'],
      },
      {
        apiGroups: ['authentication.k8s.io'],
        resources: ['userextras/slack-user'],
        resourceNames: ['U0BOB', 'U0ROY'],
        verbs: ['impersonate'],
      },
    ]);
  });

  it('name only the channels that may reach the cluster', () => {
    const { found, namesIn } = print(EACH, '--cluster', 'test');
    const groups = found.get('ClusterRole /kdebug-policy-impersonation')?.rules?.[1]?.resourceNames;
    expect(groups).toEqual(['kdebug:C0OPS']);
    expect(namesIn('RoleBinding lab/kdebug-policy-people')).toEqual(['Group kdebug:C0OPS']);
    expect([...found.keys()].filter((key) => key.startsWith('Role ')).map((key) => key.split(/[ /]/)[1])).toEqual([
      'lab',
      'lab',
    ]);
  });

  it('let the bot only look where people act as themselves', () => {
    const { rightsIn, namesIn } = print(EACH);
    expect(rightsIn('Role shop/kdebug-policy')).toEqual(['pods get,list,watch', 'events list', 'namespaces get']);
    expect(rightsIn('Role shop/kdebug-policy-people')).toEqual([
      'pods get',
      'pods/log get',
      'pods/ephemeralcontainers patch',
    ]);
    expect(namesIn('RoleBinding shop/kdebug-policy-people')).toEqual(['Group kdebug:C0OPS', 'Group kdebug:C0SHOP']);
    expect(namesIn('RoleBinding kube-system/kdebug-policy-people')).toEqual(['Group kdebug:C0OPS']);
    expect(namesIn('ClusterRoleBinding /kdebug-policy-reviews')).toEqual([
      'ServiceAccount kdebug',
      'Group kdebug:C0OPS',
      'Group kdebug:C0SHOP',
    ]);
  });

  it('hold the optional rights on more than pods only when asked for, for the bot alone, and say what each brings', () => {
    const { rightsIn, namesIn, text } = print(EACH, '--more-facts');
    expect(rightsIn('Role shop/kdebug-policy')).toEqual([
      'pods get,list,watch',
      'events list',
      'namespaces get',
      'persistentvolumeclaims list',
      'services list',
      'endpointslices list',
      'deployments,replicasets,statefulsets,daemonsets get',
      'jobs,cronjobs get',
      'replicasets list',
    ]);
    expect(rightsIn('ClusterRole /kdebug-policy-more-facts')).toEqual(['storageclasses list']);
    expect(namesIn('ClusterRoleBinding /kdebug-policy-more-facts')).toEqual(['ServiceAccount kdebug']);
    expect(text).toContain('# Optional, services: without it kdebug cannot say that a Service selects no pod');
    expect(print(EACH).text).not.toContain('storageclasses');
  });

  it('bind people one by one where there are no groups', () => {
    const { namesIn } = print('{ mode: impersonate, user: "slack:{userId}" }', '--user', 'U0ROY');
    expect(namesIn('RoleBinding shop/kdebug-policy-people')).toEqual(['User slack:U0BOB', 'User slack:U0ROY']);
  });

  it('are the bot’s own alone where it acts itself', () => {
    const { code, text, found, rightsIn } = print(ALONE, '--namespace', 'tools', '--service-account', 'helper');
    expect(code).toBe(0);
    expect(text).not.toContain('impersonate');
    expect(text).not.toContain('people\n');
    expect(rightsIn('Role shop/helper-policy')).toEqual([
      'pods get,list,watch',
      'events list',
      'namespaces get',
      'pods/log get',
      'pods/ephemeralcontainers patch',
    ]);
    expect(rightsIn('ClusterRole /helper-policy-reviews')).toEqual(['selfsubjectaccessreviews create']);
    const subjects = new Set([...found.values()].flatMap((object) => JSON.stringify(object.subjects ?? [])));
    expect([...subjects].filter((subject) => subject !== '[]')).toEqual([
      '[{"kind":"ServiceAccount","name":"helper","namespace":"tools"}]',
    ]);
  });

  it('let the bot ask about others only where people are mapped', () => {
    const { rightsIn, text } = print('{ mode: serviceAccount, users: { U0ROY: roy } }');
    expect(rightsIn('ClusterRole /kdebug-policy-reviews')).toEqual([
      'selfsubjectaccessreviews,subjectaccessreviews create',
    ]);
    expect(text).not.toContain('impersonate');
  });

  it('say loudly what cannot be listed, in the YAML and beside it, and exit with 1', () => {
    const { code, text, err, found } = print(
      '{ mode: impersonate, user: "slack:{userId}", groups: ["a:{channelId}"] }',
    );
    expect(code).toBe(1);
    expect(text).toContain('# !!! UNBOUNDED: "slack:{userId}"');
    expect(err).toEqual([expect.stringMatching(/^UNBOUNDED: "slack:\{userId\}".*--user/)]);
    expect(found.get('ClusterRole /kdebug-policy-impersonation')?.rules?.[0]?.resourceNames).toEqual(['slack:U0BOB']);
  });

  it('never allow to become anyone at all', () => {
    for (const identity of [
      EACH,
      '{ mode: impersonate, user: "slack:{userId}" }',
      '{ mode: impersonate, user: bot }',
    ]) {
      const rules = [...print(identity).found.values()].flatMap((object) => object.rules ?? []);
      const open = rules.filter(({ verbs, resourceNames }) => verbs.includes('impersonate') && !resourceNames?.length);
      expect(
        open.flatMap(({ resources }) => resources).filter((resource) => resource !== 'userextras/slack-user'),
      ).toEqual([]);
      expect(rules.flatMap(({ resources, verbs }) => [...resources, ...verbs])).not.toContain('*');
      expect(print(identity).text).not.toContain('system:');
    }
  });

  it('have a namespace that a beginning covers only when it is named', () => {
    expect(print(EACH).text).toContain('# RBAC has no prefixes: of shop-*');
    const { found } = print(EACH, '--in', 'shop-eu', '--in', 'vault');
    expect(found.has('RoleBinding shop-eu/kdebug-policy-people')).toBe(true);
    expect(found.has('RoleBinding vault/kdebug-policy-people')).toBe(false);
  });

  it('are the same every time', () => {
    expect(print(EACH).text).toBe(print(EACH).text);
    expect(print(EACH, '--user', 'U0A', '--user', 'U0B').text).toBe(print(EACH, '--user', 'U0B', '--user', 'U0A').text);
  });
});

describe('wrong words', () => {
  it.each([
    [['--cluster', 'prd'], 'prd'],
    [['--namespace', 'Tools'], 'usage'],
    [['--service-account', '../x'], 'usage'],
    [['--user', 'roy'], 'usage'],
    [['--team', 'acme'], 'usage'],
    [['--in', '*'], 'usage'],
    [['--everything'], 'usage'],
  ])('%j exit with 2 and print no YAML', (words, said) => {
    const { code, text, err } = print(EACH, ...words);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(err.join('\n')).toContain(said);
  });

  it('a policy that is wrong exits with 2 and its problems', () => {
    const { code, text, err } = print('{ mode: nobody }');
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(err[0]).toContain('identity.mode');
  });
});
