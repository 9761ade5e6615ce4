import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { explain } from '../../src/cli/explain.ts';
import { loadPolicy } from '../../src/config/load-policy.ts';
import type { Policy } from '../../src/core/policy/policy.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXAMPLE = join(ROOT, 'manifests/base/policy.yaml');
const text = readFileSync(EXAMPLE, 'utf8');
/** The file with every setting on that it shows as off: a # without a space behind it. */
const switchedOn = text.replaceAll(/^(\s*)#(?=[^\s])/gm, '$1');

const directory = mkdtempSync(join(tmpdir(), 'kdebug-policy-'));
afterAll(() => rmSync(directory, { recursive: true }));

function policyOf(yaml: string): Policy {
  const path = join(directory, 'policy.yaml');
  writeFileSync(path, yaml);
  const loaded = loadPolicy(path);
  if (loaded.kind === 'invalid') throw new Error(loaded.problems.join('\n'));
  return loaded.policy;
}

/** What `npm run explain` says that the policy decides on a command of its channel. */
function decisionOn(command: string, yaml: string): string | undefined {
  const path = join(directory, 'explained.yaml');
  writeFileSync(path, yaml);
  const lines: string[] = [];
  explain([command, '--channel', 'C0REPLACEME', '--user', 'U0REPLACEME', '--policy', path], (line) => lines.push(line));
  return lines.find((line) => line.startsWith('decision'))?.replace(/^decision +/, '');
}

const rulesOf = ({ channels }: Policy) => Object.values(channels).flatMap(({ rules }) => rules);

describe('the policy that is shipped', () => {
  const policy = policyOf(text);

  it('lets nobody run a command of their own', () => {
    expect(Object.values(policy.images).map(({ command }) => command)).toEqual(['fixed']);
  });

  it('lets people run autodiagnose without an approval, and nothing else at all', () => {
    expect(Object.keys(policy.images)).toEqual(['autodiagnose']);
    expect(policy.images.autodiagnose).toMatchObject({ class: 'observe', command: 'fixed', diagnostic: true });
    expect(rulesOf(policy)).toEqual([expect.objectContaining({ id: 'look', classes: ['observe'] })]);
  });

  it('names no profile that brings the power of the node', () => {
    const named = rulesOf(policy).flatMap(({ profiles }) => profiles);
    expect(named.filter((profile) => profile === 'sysadmin' || profile === 'netadmin')).toEqual([]);
  });
});

describe.each([
  ['web-1', 'allowed by rule look'],
  ['web-1 -- id', 'denied; nearest rule: look (command_not_allowed)'],
  ['web-1 --env=A=b', 'denied; nearest rule: look (command_not_allowed)'],
  ['web-1 --profile=sysadmin', 'denied; nearest rule: look (profile_not_allowed)'],
  ['web-1 --profile=netadmin', 'denied; nearest rule: look (profile_not_allowed)'],
  ['web-1 --image=busybox -- id', 'denied (image_not_allowed)'],
  ['web-1 -n kube-system', 'denied (namespace_not_allowed)'],
])('/kdebug %s', (command, decision) => {
  it(`is ${decision}`, () => expect(decisionOn(command, text)).toBe(decision));
});

describe('the policy that is shipped, with every setting on that it shows as off', () => {
  const policy = policyOf(switchedOn);

  it('lets a command of their own run only behind an approval, and never calls it observing', () => {
    const free = Object.values(policy.images).filter(({ command }) => command === 'allowed');
    expect(free.map(({ alias }) => alias)).toEqual(['busybox']);
    for (const image of free) {
      expect(image.class).not.toBe('observe');
      const rules = rulesOf(policy).filter(({ classes }) => classes.includes(image.class));
      expect(rules.length).toBeGreaterThan(0);
      for (const { approval } of rules) expect(approval).toMatchObject({ from: ['sre'], grants: 'denied' });
    }
  });

  it.each([
    ['web-1 --image=busybox -- id', 'denied; nearest rule: command (reason_required)'],
    ['web-1 --image=busybox --reason=hang -- id', 'needs approval by rule command: 1 of sre'],
    [
      'web-1 --image=busybox --reason=x --profile=restricted --no-target -- id',
      'needs approval by rule command: 1 of sre',
    ],
    ['web-1 --image=net --env=NET_ENDPOINT=db:5432', 'allowed by rule look'],
    ['web-1 --image=stacks --reason=hang', 'needs approval by rule command: 1 of sre'],
    ['web-1 --image=profile --reason=hot', 'needs approval by rule command: 1 of sre'],
    ['web-1 --image=blackbox --reason=crash', 'needs approval by rule command: 1 of sre'],
    [
      'web-1 --image=capture --profile=baseline --reason=x --env=NET_FILTER=tcp',
      'needs approval by rule capture: 1 of sre',
    ],
    ['web-1 --image=capture --profile=netadmin --reason=x', 'needs approval by rule capture: 1 of sre'],
    ['web-1 --image=busybox --reason=x --profile=sysadmin -- id', 'denied; nearest rule: look (profile_not_allowed)'],
  ])('%s is %s', (command, decision) => expect(decisionOn(command, switchedOn)).toBe(decision));

  it.each(['diagnostic-images', 'stacks', 'profile', 'blackbox', 'net'])(
    'agrees with the policy in docs/%s.md',
    (page) => {
      const markdown = readFileSync(join(ROOT, `docs/${page}.md`), 'utf8');
      const blocks = [...markdown.matchAll(/^ {4}images:\n((?: {6,}.*\n)+)/gm)].map(([block]) => parse(block));
      const shown = blocks.flatMap(({ images }) => Object.entries<Readonly<Record<string, unknown>>>(images));
      expect(shown.length).toBeGreaterThan(0);
      const { images } = parse(switchedOn);
      for (const [alias, { image: _, ...fields }] of shown)
        expect({ [alias]: images[alias] }).toMatchObject({ [alias]: fields });
    },
  );

  it('lets people set whatever a page says that they can', () => {
    const { images } = parse(switchedOn);
    for (const [page, aliases] of [
      ['stacks', ['stacks']],
      ['profile', ['profile']],
      ['blackbox', ['blackbox']],
      ['net', ['net', 'capture']],
    ] as const) {
      const markdown = readFileSync(join(ROOT, `docs/${page}.md`), 'utf8');
      const settings = [...markdown.matchAll(/^\| `([A-Z]+(?:_[A-Z]+)+)` \|/gm)].map(([, name]) => name);
      expect(settings.length).toBeGreaterThan(0);
      expect(new Set(aliases.flatMap((alias) => images[alias].settings))).toEqual(new Set(settings));
    }
  });

  it('shows the defaults of the limits, of shared channels and of people who are not mapped', () => {
    const least = policyOf('version: 1\nclusters: { here: { inCluster: true } }\nidentity: { mode: serviceAccount }\n');
    expect(policy.limits).toEqual(least.limits);
    expect(policy.limits).toEqual(policyOf(text).limits);
    expect(new Set(Object.values(policy.channels).map(({ slackConnect }) => slackConnect))).toEqual(
      new Set(['denied']),
    );
    expect(policy.identity.unmapped).toBe('deny');
  });

  it('lets a batch through that the rule allows, and no larger one', () => {
    const [look] = rulesOf(policy);
    expect(look?.batch).toEqual({ maxPods: 20, maxParallelism: 4 });
    expect(rulesOf(policyOf(text)).map(({ batch }) => batch)).toEqual([undefined]);
  });

  it('names every key that the file can have', () => {
    const keys = keysOf(JSON.parse(readFileSync(join(ROOT, 'schema/policy.schema.json'), 'utf8')));
    expect(keys.size).toBeGreaterThan(60);
    expect(
      [...keys].filter((key) => !new RegExp(`(?:^|[ #{])${key}: `, 'm').test(text.replaceAll(/:$/gm, ': '))),
    ).toEqual([]);
  });
});

/** The keys that the schema gives to objects, at any depth. */
function keysOf(schema: unknown): ReadonlySet<string> {
  if (typeof schema !== 'object' || schema === null) return new Set();
  const { properties = {} } = schema as { readonly properties?: object };
  return new Set([...Object.keys(properties), ...Object.values(schema).flatMap((part) => [...keysOf(part)])]);
}
