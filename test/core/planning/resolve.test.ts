import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/container/plan.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import {
  isDiagnostic,
  isSameReference,
  mayUseCommand,
  resolveCluster,
  resolveImage,
  resolveNamespace,
} from '../../../src/core/planning/resolve.ts';
import { aPlan, aPolicy, aRule } from '../../support/builders.ts';

const CHANNEL = 'C0SHOP';
const policy = (rules = [aRule({ namespaces: ['team-*', 'shop', 'vault'] })]) =>
  aPolicy({ channels: { [asChannelId(CHANNEL)]: { rules } } });

describe('resolvePlace', () => {
  it('goes to the first namespace that the channel names in full when none is given', () => {
    expect(resolveNamespace({}, CHANNEL, policy())).toEqual({ kind: 'ok', cluster: 'prod', namespace: 'shop' });
  });

  it('goes where it was told, also by a prefix', () => {
    expect(resolveNamespace({ namespace: 'team-a' }, CHANNEL, policy())).toMatchObject({
      kind: 'ok',
      namespace: 'team-a',
    });
  });

  it.each([
    ['an unknown channel', 'C0OTHER', {}, 'channel_unknown'],
    ['a name that every object has', 'constructor', {}, 'channel_unknown'],
    ['an unknown cluster', CHANNEL, { cluster: 'nowhere' }, 'cluster_unknown'],
    ['a namespace that no rule names', CHANNEL, { namespace: 'kube-system' }, 'namespace_not_allowed'],
  ])('denies %s before the cluster is asked', (_, channel, request, code) => {
    expect(resolveNamespace(request, channel, policy())).toMatchObject({ kind: 'deny', code });
  });

  it('denies a cluster that no rule of the channel names', () => {
    const rules = [aRule({ clusters: ['staging'] })];
    expect(resolveNamespace({}, CHANNEL, policy(rules))).toMatchObject({ kind: 'deny', code: 'cluster_not_allowed' });
  });

  it('denies the namespace default when the channel names none in full', () => {
    const rules = [aRule({ namespaces: ['shop-*'] })];
    expect(resolveNamespace({}, CHANNEL, policy(rules))).toMatchObject({ kind: 'deny', subject: 'default' });
  });
});

const DIGEST = `sha256:${'a'.repeat(64)}`;

describe('an image', () => {
  const policy = aPolicy();

  it.each<[string | undefined, string]>([
    [undefined, 'autodiagnose'],
    ['debian', 'debian'],
    ['debian:12-slim', 'debian'],
    ['docker.io/library/debian:12-slim', 'debian'],
    ['registry.example.com/autodiagnose:1', 'autodiagnose'],
  ])('asked for as %j is the alias %s', (asked, alias) => {
    expect(resolveImage(asked, policy)).toMatchObject({ kind: 'ok', alias: { alias } });
  });

  it.each<[string, string | undefined]>([
    ['debain', 'debian'],
    ['autodiagnos', 'autodiagnose'],
    ['debian:13', 'debian'],
    ['evil.example.com/debian:12-slim', undefined],
    ['Debian:12-slim', undefined],
    ['debian:12-slim ', undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
    ['', undefined],
    ['x'.repeat(300), undefined],
  ])('denies when %j is not in the catalogue', (asked, near) => {
    const suggestion = near === undefined ? {} : { nearest: near };
    expect(resolveImage(asked, policy)).toEqual({
      kind: 'deny',
      code: 'image_not_allowed',
      subject: asked,
      ...suggestion,
    });
  });

  it('denies when none is asked for and the policy has no default', () => {
    const { defaultImage: _, ...without } = policy;
    expect(resolveImage(undefined, without)).toEqual({ kind: 'deny', code: 'image_required', subject: '' });
  });

  it('of two aliases of the same image the first answers for the reference', () => {
    const image = { reference: 'debian:12', class: 'observe', command: 'fixed' } as const;
    const images = { first: { alias: 'first', ...image }, second: { alias: 'second', ...image } };
    expect(resolveImage('debian:12', aPolicy({ images }))).toMatchObject({ alias: { alias: 'first' } });
  });
});

describe('two references', () => {
  it.each<[string, string, boolean]>([
    ['debian', 'docker.io/library/debian:latest', true],
    ['debian:12', 'index.docker.io/library/debian:12', true],
    ['debian:12', 'debian:13', false],
    [`debian@${DIGEST}`, `debian:12@${DIGEST}`, true],
    ['debian:12', `debian:12@${DIGEST}`, false],
    [`debian@${DIGEST}`, `debian@sha256:${'b'.repeat(64)}`, false],
    ['r.example.com/a:1', 'r.example.com:443/a:1', false],
    ['r.example.com/a:1', 'r.example.org/a:1', false],
    ['not valid', 'not valid', false],
  ])('%s and %s mean the same: %s', (a, b, same) => {
    expect([isSameReference(a, b), isSameReference(b, a)]).toEqual([same, same]);
  });
});

describe('an own command', () => {
  const [fixed, allowed] = [{ command: 'fixed' }, { command: 'allowed' }] as const;
  const alias = (parts: { readonly command: 'fixed' | 'allowed' }) =>
    ({ alias: 'a', reference: 'a:1', class: 'observe', ...parts }) as const;
  const none = { command: [], env: [], argumentsOnly: false };

  it.each([
    { ...none, command: ['sh'] },
    { ...none, env: [{ name: 'A', value: 'b' }] },
    { ...none, argumentsOnly: true },
  ])('is only for aliases that allow it: %j', (plan) => {
    expect(mayUseCommand(alias(fixed), plan)).toBe(false);
    expect(mayUseCommand(alias(allowed), plan)).toBe(true);
  });

  it('that is none may be used with every alias', () => {
    expect(mayUseCommand(alias(fixed), none)).toBe(true);
  });
});

describe('the report of an image', () => {
  const { autodiagnose } = aPolicy().images;
  const images = { autodiagnose: { ...autodiagnose!, settings: ['AUTODIAGNOSE_SAMPLE'] } };
  const plan = (parts: Partial<Plan> = {}) => aPlan({ image: autodiagnose!.reference, ...parts });
  const set = (name: string, value: string) => plan({ env: [{ name, value }] });

  it('is believed with the settings that the policy names, as long as it names them', () => {
    expect(isDiagnostic(set('AUTODIAGNOSE_SAMPLE', '5'), { images })).toBe(true);
    expect(isDiagnostic(set('AUTODIAGNOSE_SAMPLE', '5'), aPolicy())).toBe(false);
  });

  it.each([
    set('AUTODIAGNOSE_PID', '7'),
    set('AUTODIAGNOSE_SAMPLE', 'a\nb'),
    plan({ command: ['sh'] }),
    plan({ argumentsOnly: true }),
    plan({ image: 'evil.example.com/autodiagnose:1' }),
    plan({ imageAlias: 'constructor' }),
  ])('is not believed when anything else is not its own (%#)', (wrong) => {
    expect(isDiagnostic(wrong, { images })).toBe(false);
  });
});

describe('a cluster', () => {
  const cluster = { context: 'x', inCluster: false, default: false };
  const two = aPolicy({ clusters: { spare: cluster, prod: { ...cluster, default: true } } });

  it('is the one that was named', () => {
    expect(resolveCluster('spare', two)).toEqual({ kind: 'ok', cluster: 'spare' });
  });

  it('without a name is the default, wherever it stands', () => {
    expect(resolveCluster(undefined, two)).toEqual({ kind: 'ok', cluster: 'prod' });
  });

  it('without a name and a default is the only one', () => {
    expect(resolveCluster(undefined, aPolicy({ clusters: { here: cluster } }))).toEqual({
      kind: 'ok',
      cluster: 'here',
    });
  });

  it('denies when several have no default', () => {
    const clusters = { a: cluster, b: cluster };
    expect(resolveCluster(undefined, aPolicy({ clusters }))).toEqual({
      kind: 'deny',
      code: 'cluster_required',
      subject: '',
    });
  });

  it.each([
    ['prd', { nearest: 'prod' }],
    ['constructor', {}],
  ])('denies when there is no cluster %s', (name, more) => {
    expect(resolveCluster(name, two)).toEqual({ kind: 'deny', code: 'cluster_unknown', subject: name, ...more });
  });
});
