import fc from 'fast-check';
import { expect, it } from 'vitest';
import { IMAGE_CLASSES } from '../../../src/core/container/image-class.ts';
import type { Plan } from '../../../src/core/container/plan.ts';
import { PROFILES } from '../../../src/core/container/profiles.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import { decide } from '../../../src/core/planning/decide.ts';
import type { ImageAlias, Policy, Rule } from '../../../src/core/policy/policy.ts';
import { aPlan, aPolicy } from '../../support/builders.ts';
import { inFullOr } from '../../support/sample.ts';

const CLUSTERS = ['prod', 'spare'];
const NAMESPACES = ['shop', 'shop-a', 'shop-b', 'pay', 'kube-system'];
const ALIASES = ['one', 'two', 'three'];
const CHANNELS = ['C0SHOP', 'C0PAY'];
const approval = {
  from: ['sre'],
  count: 1,
  expiresMs: 1,
  reason: 'optional',
  voteReason: 'optional',
  grants: 'allowed',
} as const;

const aRuleOf: fc.Arbitrary<Rule> = fc.record(
  {
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    clusters: fc.subarray(CLUSTERS),
    namespaces: fc.subarray([...NAMESPACES, 'shop-*', 'p*', 'kube-*', '*']),
    classes: fc.subarray([...IMAGE_CLASSES]),
    profiles: fc.subarray([...PROFILES]),
    approval: fc.constant(approval),
  },
  { requiredKeys: ['id', 'clusters', 'namespaces', 'classes', 'profiles'] },
);

const anAlias = (alias: string): fc.Arbitrary<ImageAlias> =>
  fc.record({
    alias: fc.constant(alias),
    reference: fc.constant(`example.com/${alias}:1`),
    class: fc.constantFrom(...IMAGE_CLASSES),
    command: fc.constantFrom('allowed' as const, 'fixed' as const),
  });

const aPolicyOf: fc.Arbitrary<Policy> = fc
  .record({
    images: fc.tuple(...ALIASES.map(anAlias)),
    rules: fc.tuple(...CHANNELS.map(() => fc.array(aRuleOf, { maxLength: 4 }))),
  })
  .map(({ images, rules }) =>
    aPolicy({
      approvers: { sre: { usergroup: 'S0SRE', users: [] } },
      images: Object.fromEntries(images.slice(0, 2).map((image) => [image.alias, image])),
      channels: Object.fromEntries(CHANNELS.map((id, index) => [asChannelId(id), { rules: rules[index] ?? [] }])),
    }),
  );

const aPlanOf: fc.Arbitrary<Plan> = fc
  .record({
    cluster: fc.constantFrom(...CLUSTERS),
    namespace: fc.constantFrom(...NAMESPACES),
    alias: fc.constantFrom(...ALIASES),
    profile: fc.constantFrom(...PROFILES),
    class: fc.constantFrom(...IMAGE_CLASSES),
    command: fc.constantFrom([], ['sh']),
    channelId: fc.constantFrom(...CHANNELS, 'C0NONE'),
  })
  .map(({ alias, ...parts }) => aPlan({ ...parts, imageAlias: alias, image: `example.com/${alias}:1` }));

/** The namespaces that a rule names, spelled out: `kube-system` only by its full name. */
const covered = ({ namespaces }: Rule): readonly string[] => [
  ...namespaces,
  ...(namespaces.includes('shop-*') ? ['shop-a', 'shop-b'] : []),
  ...(namespaces.includes('p*') ? ['pay'] : []),
];

it('whatever is not denied is named, in all its parts, by one rule of its own channel', () => {
  let passed = 0;
  fc.assert(
    fc.property(aPlanOf, aPolicyOf, (plan, policy) => {
      const decision = decide(plan, policy);
      if (decision.kind === 'deny') return;
      passed += 1;
      const rules = policy.channels[asChannelId(plan.channelId)]?.rules ?? [];
      const alias = policy.images[plan.imageAlias];
      const floor =
        IMAGE_CLASSES[Math.max(...[plan.class, alias?.class ?? 'elevated'].map((name) => IMAGE_CLASSES.indexOf(name)))];
      const rule = rules.find(
        (each) =>
          each.id === decision.rule &&
          each.clusters.includes(plan.cluster) &&
          covered(each).includes(plan.namespace) &&
          each.profiles.includes(plan.profile) &&
          each.classes.includes(floor ?? 'elevated') &&
          (each.approval === undefined) === (decision.kind === 'allow'),
      );
      expect(rule).toBeDefined();
      expect(alias).toBeDefined();
      expect(plan.command.length === 0 || alias?.command === 'allowed').toBe(true);
    }),
    { numRuns: inFullOr(20_000, 1_500), seed: 1 },
  );
  expect(passed).toBeGreaterThan(inFullOr(200, 40));
});

it('with more rules nothing is lost, and without any nothing is allowed', () => {
  fc.assert(
    fc.property(aPlanOf, aPolicyOf, aRuleOf, (plan, policy, rule) => {
      const strength = { deny: 0, 'needs-approval': 1, allow: 2 };
      const channels = Object.fromEntries(
        Object.entries(policy.channels).map(([id, { rules }]) => [id, { rules: [...rules, rule] }]),
      );
      const more = decide(plan, { ...policy, channels });
      expect(strength[more.kind]).toBeGreaterThanOrEqual(strength[decide(plan, policy).kind]);
      expect(decide(plan, { ...policy, channels: {} }).kind).toBe('deny');
    }),
    { numRuns: inFullOr(5_000, 500), seed: 2 },
  );
});

it('a decision depends on its own channel alone, and on nothing outside its arguments', () => {
  fc.assert(
    fc.property(aPlanOf, aPolicyOf, (plan, policy) => {
      const own = Object.entries(policy.channels).filter(([id]) => id === plan.channelId);
      expect(decide(plan, { ...policy, channels: Object.fromEntries(own) })).toEqual(decide(plan, policy));
    }),
    { numRuns: inFullOr(2_000, 500), seed: 3 },
  );
});
