import { describe, expect, it } from 'vitest';
import type { FileKind } from '../../../src/core/container/file-kinds.ts';
import type { Plan } from '../../../src/core/container/plan.ts';
import { securityContextOf } from '../../../src/core/container/profiles.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import { decide } from '../../../src/core/planning/decide.ts';
import { matchesNamespace } from '../../../src/core/planning/resolve.ts';
import type { Policy, Rule } from '../../../src/core/policy/policy.ts';
import { aPlan, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';

/** A plan as the planner makes it: its security context is its profile's. */
const planned = (parts: Partial<Plan> = {}): Plan => {
  const profile = parts.profile ?? 'restricted';
  const securityContext = securityContextOf(profile, profile === 'restricted' ? { uid: 1000, gid: 1000 } : undefined);
  return aPlan({ profile, ...(securityContext && { securityContext }), ...parts });
};

const ruled = (rules: readonly Rule[], parts: Partial<Policy> = {}): Policy =>
  aPolicy({
    images: {
      ...aPolicy().images,
      debugger: { alias: 'debugger', reference: 'debugger:1.4', class: 'elevated', command: 'allowed' },
    },
    approvers: { sre: { usergroup: 'S0SRE', users: [] }, nobody: { users: [] } },
    channels: { [asChannelId('C0SHOP')]: { rules } },
    ...parts,
  });

const debuggerPlan = (parts: Partial<Plan> = {}): Plan =>
  planned({ imageAlias: 'debugger', image: 'debugger:1.4', class: 'elevated', profile: 'sysadmin', ...parts });

describe('what a rule names is allowed', () => {
  it('a plan that one rule covers is allowed, by that rule', () => {
    expect(decide(planned(), ruled([aRule()]))).toEqual({ kind: 'allow', rule: 'look' });
  });

  it.each(['shop-a', 'shop-staging'])('a namespace %s is covered by the prefix shop-*', (namespace) => {
    expect(decide(planned({ namespace }), ruled([aRule({ namespaces: ['shop-*'] })])).kind).toBe('allow');
  });

  it('a profile that the rule names is allowed with what it brings', () => {
    expect(decide(planned({ profile: 'general' }), ruled([aRule()]))).toEqual({ kind: 'allow', rule: 'look' });
    expect(decide(planned({ profile: 'sysadmin' }), ruled([aRule({ profiles: ['sysadmin'] })])).kind).toBe('allow');
  });

  it('a rule for elevated allows a plan that its pod or profile made so, with a harmless image', () => {
    const rule = aRule({ classes: ['elevated'], profiles: ['sysadmin'] });
    expect(decide(planned({ profile: 'sysadmin', class: 'elevated' }), ruled([rule])).kind).toBe('allow');
  });

  it('one pod needs no batch, and a batch may be as large as the rule says', () => {
    const rule = aRule({ batch: { maxPods: 50, maxParallelism: 10 } });
    expect(decide(planned(), ruled([aRule()]), 1).kind).toBe('allow');
    expect(decide(planned(), ruled([rule]), 50).kind).toBe('allow');
  });

  it('the longest timeout of the limits is allowed', () => {
    expect(decide(planned({ timeoutMs: 1_800_000 }), ruled([aRule()])).kind).toBe('allow');
  });

  it('own commands are allowed where the alias says so', () => {
    const plan = planned({
      imageAlias: 'debian',
      image: 'debian:12-slim',
      command: ['ls'],
      env: [{ name: 'A', value: 'b' }],
    });
    expect(decide(plan, ruled([aRule()])).kind).toBe('allow');
  });
});

describe('of several rules', () => {
  const asking = aRule({ id: 'ask', approval: approvalTerms() });

  it('the first that allows wins, even after one that needs an approval', () => {
    const rules = [asking, aRule({ id: 'second' }), aRule({ id: 'third' })];
    expect(decide(planned(), ruled(rules))).toEqual({ kind: 'allow', rule: 'second' });
  });

  it('without one that allows, the first that needs an approval wins', () => {
    const rules = [aRule({ id: 'other', namespaces: ['pay'] }), asking, { ...asking, id: 'later' }];
    expect(decide(planned(), ruled(rules))).toEqual({ kind: 'needs-approval', rule: 'ask', approval: approvalTerms() });
  });

  it('a denial names the rule that came nearest, the first of equals', () => {
    const rules = [
      aRule({ id: 'elsewhere', clusters: ['spare'] }),
      aRule({ id: 'near', profiles: ['baseline'] }),
      aRule({ id: 'near-too', profiles: ['baseline'] }),
      aRule({ id: 'other-place', namespaces: ['pay'] }),
    ];
    expect(decide(planned(), ruled(rules))).toEqual({
      kind: 'deny',
      code: 'profile_not_allowed',
      rule: 'near',
      subject: 'restricted',
    });
  });

  it('two rules do not add up: each must cover the whole plan by itself', () => {
    const rules = [aRule({ namespaces: ['pay'] }), aRule({ id: 'b', profiles: ['baseline'] })];
    expect(decide(planned(), ruled(rules)).kind).toBe('deny');
  });
});

describe('default deny', () => {
  const denied = (plan: Plan, policy: Policy, pods?: number) => {
    const decision = decide(plan, policy, pods);
    return decision.kind === 'deny' ? `${decision.code} ${decision.subject} (${decision.rule})` : decision.kind;
  };
  const look = ruled([aRule()]);

  it.each(['C0OTHER', 'constructor', '__proto__', '#shop-oncall', 'D0DIRECT'])(
    'denies when the channel %s is not in the policy',
    (channelId) => {
      expect(denied(planned({ channelId }), look)).toBe(`channel_unknown ${channelId} (undefined)`);
    },
  );

  it('denies when the channel has no rules', () => {
    expect(denied(planned(), ruled([]))).toBe('channel_has_no_rules C0SHOP (undefined)');
  });

  it('denies when a rule of another channel would allow it', () => {
    const policy = ruled([], {
      channels: { [asChannelId('C0PAY')]: { rules: [aRule()] }, [asChannelId('C0SHOP')]: { rules: [] } },
    });
    expect(denied(planned(), policy)).toContain('channel_has_no_rules');
  });

  it.each<[keyof Rule, string]>([
    ['clusters', 'cluster_not_allowed prod (look)'],
    ['namespaces', 'namespace_not_allowed shop (look)'],
    ['classes', 'class_not_allowed autodiagnose (observe) (look)'],
    ['profiles', 'profile_not_allowed restricted (look)'],
  ])('denies when the list of %s is empty', (list, words) => {
    expect(denied(planned(), ruled([aRule({ [list]: [] })]))).toBe(words);
  });

  it('denies when the cluster is another', () => {
    expect(denied(planned({ cluster: 'spare' }), look)).toBe('cluster_not_allowed spare (look)');
  });

  it.each(['shops', 'sho', 'pay', 'SHOP', 'kube-system'])('denies when the namespace is %s', (namespace) => {
    expect(denied(planned({ namespace }), look)).toBe(`namespace_not_allowed ${namespace} (look)`);
  });

  it.each(['gone', 'constructor'])('denies when the catalogue has no alias %s', (imageAlias) => {
    expect(denied(planned({ imageAlias }), look)).toBe('image_not_allowed registry.example.com/autodiagnose:1 (look)');
  });

  it('denies when the alias has come to mean another image', () => {
    expect(denied(planned({ image: 'registry.example.com/autodiagnose:2' }), look)).toContain('image_not_allowed');
  });

  it('denies when the class of the image is not named', () => {
    expect(denied(debuggerPlan({ profile: 'restricted' }), look)).toBe('class_not_allowed debugger (elevated) (look)');
  });

  it('denies when the catalogue has raised the class since the plan was made', () => {
    expect(denied(debuggerPlan({ class: 'observe', profile: 'restricted' }), look)).toContain('class_not_allowed');
  });

  it('denies when the plan needs a higher class than its alias', () => {
    expect(denied(planned({ class: 'intrusive' }), look)).toBe('class_not_allowed autodiagnose (intrusive) (look)');
  });

  it('says which fact of the pod raised the class, unless the catalogue raised it further', () => {
    const plan = planned({ class: 'intrusive', classReasons: [{ fact: 'own-words' }] });
    expect(denied(plan, look)).toBe(
      'class_not_allowed autodiagnose (intrusive: a free command that may reach the workload) (look)',
    );
    const other = { imageAlias: 'debugger', image: 'debugger:1.4' };
    expect(denied({ ...plan, ...other }, look)).toBe('class_not_allowed debugger (elevated) (look)');
  });

  describe('an image that seizes its target', () => {
    const blackbox = { alias: 'blackbox', reference: 'blackbox:1', class: 'intrusive', command: 'fixed' } as const;
    const ofTracer = planned({
      ...{ imageAlias: 'blackbox', image: 'blackbox:1', class: 'intrusive' },
      classReasons: [{ fact: 'tracer' }],
    });
    const may = (rules: readonly Rule[], traces = true) =>
      ruled(rules, { images: { blackbox: { ...blackbox, traces } } });
    const wide = aRule({
      classes: ['observe', 'intrusive', 'elevated'],
      batch: { maxPods: 50, maxParallelism: 10 },
      secretFiles: 'allowed',
    });

    it('is denied by a rule that has its class, and only without `traces`', () => {
      expect(denied(ofTracer, may([wide]))).toBe('tracer_not_allowed blackbox (look)');
      expect(denied(ofTracer, may([{ ...wide, traces: false }]))).toContain('tracer_not_allowed');
      expect(denied(ofTracer, may([{ ...wide, approval: approvalTerms() }]))).toContain('tracer_not_allowed');
      expect(denied(ofTracer, may([wide]), 2)).toContain('tracer_not_allowed');
      expect(decide(ofTracer, may([wide, { ...wide, id: 'watch', traces: true }]))).toEqual({
        kind: 'allow',
        rule: 'watch',
      });
    });

    it('needs the class as well', () => {
      expect(denied(ofTracer, may([aRule({ traces: true })]))).toContain('class_not_allowed blackbox');
    });

    it('is one if either the plan or the catalogue says so', () => {
      const before = { ...ofTracer, classReasons: [] };
      expect(denied(before, may([wide]))).toContain('tracer_not_allowed');
      expect(denied(ofTracer, may([wide], false))).toContain('tracer_not_allowed');
      expect(decide(before, may([wide], false)).kind).toBe('allow');
    });
  });

  it.each(['netadmin', 'sysadmin'] as const)('denies when the profile %s is not named', (profile) => {
    expect(denied(planned({ profile }), look)).toBe(`profile_not_allowed ${profile} (look)`);
  });

  it('denies when there are several pods and the rule has no batch', () => {
    expect(denied(planned(), look, 2)).toBe('batch_not_allowed 2 pods (look)');
  });

  describe('files that may hold secrets', () => {
    const capture = { alias: 'capture', reference: 'net:1', class: 'observe', command: 'fixed' } as const;
    const may = (rules: readonly Rule[], files: readonly FileKind[] = ['text', 'capture']) =>
      ruled(rules, { images: { capture: { ...capture, files } } });
    const ofCapture = planned({ imageAlias: 'capture', image: 'net:1', files: ['text', 'capture'] });
    const withApproval = aRule({ id: 'asked', approval: approvalTerms() });

    it('denies when no rule has an approval', () => {
      expect(denied(ofCapture, may([aRule()]))).toBe('secret_files_need_approval capture (files: capture) (look)');
    });

    it('takes the rule with an approval, and not an earlier one without', () => {
      expect(decide(ofCapture, may([aRule(), withApproval]))).toMatchObject({ kind: 'needs-approval', rule: 'asked' });
    });

    it('needs no approval where the rule says so, nor for files that hold none', () => {
      expect(decide(ofCapture, may([aRule({ secretFiles: 'allowed' })]))).toMatchObject({ kind: 'allow' });
      const harmless = { ...ofCapture, files: ['text', 'profile'] } as const;
      expect(decide(harmless, may([aRule()], ['text', 'profile']))).toMatchObject({ kind: 'allow' });
    });

    it('asks again when the alias was given a kind since the plan, or lost it', () => {
      const { files: _, ...before } = ofCapture;
      expect(denied(before, may([aRule()]))).toContain('secret_files_need_approval');
      expect(denied(ofCapture, may([aRule()], []))).toContain('secret_files_need_approval');
    });

    it('denies when several pods would bring them back, whatever the rule says', () => {
      const wide = aRule({
        secretFiles: 'allowed',
        batch: { maxPods: 9, maxParallelism: 3 },
        approval: approvalTerms(),
      });
      expect(denied(ofCapture, may([wide]), 2)).toBe('secret_files_not_in_batch capture (files: capture) (look)');
    });
  });

  it.each([51, Number.NaN])('denies when there are more pods than the batch may have (%s)', (pods) => {
    const policy = ruled([aRule({ batch: { maxPods: 50, maxParallelism: 10 } })]);
    expect(denied(planned(), policy, pods)).toBe(`batch_too_large ${pods} pods; this rule allows 50 at once (look)`);
  });

  it.each<[string, Partial<Plan>]>([
    ['command', { command: ['sh'] }],
    ['environment', { env: [{ name: 'A', value: 'b' }] }],
    ['arguments', { argumentsOnly: true }],
  ])('denies when an own %s comes with an alias that has its own', (_, parts) => {
    expect(denied(planned(parts), look)).toBe('command_not_allowed autodiagnose (look)');
  });

  describe('with settings', () => {
    const { autodiagnose } = aPolicy().images;
    const images = { autodiagnose: { ...autodiagnose!, settings: ['NET_ENDPOINT', 'NET_SECONDS'] } };
    const policy = { ...look, images };
    const set = (name: string, value: string) => planned({ env: [{ name, value }] });

    it.each(['db:5432', '', 'tcp port 80 and host "a"', 'x'.repeat(256)])(
      'allows a setting of the value %j',
      (value) => {
        expect(denied(set('NET_ENDPOINT', value), policy)).toBe('allow');
      },
    );

    it.each([
      ['NET_FILTER', 'tcp', 'NET_FILTER; autodiagnose has NET_ENDPOINT, NET_SECONDS'],
      ['net_endpoint', 'db', 'net_endpoint; autodiagnose has NET_ENDPOINT, NET_SECONDS'],
      ['NET_ENDPOINT', 'a\nb', 'the value of NET_ENDPOINT'],
      ['NET_ENDPOINT', 'a\u0000b', 'the value of NET_ENDPOINT'],
      ['NET_ENDPOINT', 'dаtabase', 'the value of NET_ENDPOINT'],
      ['NET_ENDPOINT', 'x'.repeat(257), 'the value of NET_ENDPOINT'],
    ])('denies when %s is set to %j', (name, value, subject) => {
      expect(denied(set(name, value), policy)).toBe(`setting_not_allowed ${subject} (look)`);
    });

    it('denies when a command comes with them', () => {
      const plan = { ...set('NET_ENDPOINT', 'db'), command: ['sh'] };
      expect(denied(plan, policy)).toBe('command_not_allowed autodiagnose (look)');
    });
  });

  it.each([
    [1_800_001, '30m'],
    [5_400_000, '1h30m'],
  ])('denies when the timeout of %s ms is over the limit', (timeoutMs, subject) => {
    expect(denied(planned({ timeoutMs }), look)).toBe(`timeout_too_long ${subject}; the policy allows 30m (look)`);
  });

  it.each([undefined, '', '  '])('denies when the rule wants a reason and it is %j', (reason) => {
    const policy = ruled([aRule({ approval: approvalTerms({ reason: 'required' }) })]);
    const plan = planned(reason === undefined ? {} : { reason });
    expect(denied(plan, policy)).toBe('reason_required --reason (look)');
    expect(denied(planned({ reason: 'hang' }), policy)).toBe('needs-approval');
  });

  it.each([[[]], [['nobody']], [['gone']], [['constructor']]])('denies when nobody could approve (%j)', (from) => {
    const policy = ruled([aRule({ approval: approvalTerms({ from }) })]);
    expect(denied(planned(), policy)).toBe(`no_approver ${from.join()} (look)`);
  });

  it('one group of approvers that is not empty is enough, by user group or by users', () => {
    const approvers = { nobody: { users: [] }, bob: { users: [asUserId('U0BOB')] } };
    const policy = ruled([aRule({ approval: approvalTerms({ from: ['nobody', 'bob'] }) })], { approvers });
    expect(denied(planned(), policy)).toBe('needs-approval');
  });
});

describe('a namespace of a rule', () => {
  it.each<[string, string, boolean]>([
    ['shop', 'shop', true],
    ['shop', 'shop-a', false],
    ['shop-*', 'shop-a', true],
    ['shop-*', 'shop', false],
    ['*', 'shop', false],
    ['', '', true],
    ['k*', 'kube-system', false],
    ['k*', 'kafka', true],
    ['kube-*', 'kube-system', false],
    ['kube-system', 'kube-system', true],
    ['s*p', 'shop', false],
  ])('%j covers %j: %s', (pattern, namespace, covers) => {
    expect(matchesNamespace(pattern, namespace)).toBe(covers);
  });
});
