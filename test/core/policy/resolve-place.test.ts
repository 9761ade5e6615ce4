import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../../src/core/ids.ts';
import { resolveNamespace } from '../../../src/core/policy/resolve-place.ts';
import { aPolicy, aRule } from '../../support/builders.ts';

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
