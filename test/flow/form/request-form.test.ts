import { beforeEach, describe, expect, it, vi } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Field, Form, Option } from '../../../src/core/say/message/message.ts';
import { anOrigin, aPod, aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { World } from '../support/world.ts';

const ROY = { teamId: 'T0TEAM', userId: 'U0ROY', channelId: 'C0SHOP' };
const DEBUGGER = { alias: 'debugger', reference: 'debugger:1', class: 'intrusive', command: 'allowed' } as const;

let world: World;
beforeEach(() => {
  world = new World();
});

/** Another policy from now on: the channel's rules, and what else differs. */
const rules = (all: Parameters<typeof aRule>[0][], more: Parameters<typeof aPolicy>[0] = {}): void => {
  const { autodiagnose } = aPolicy().images;
  world.policy = aPolicy({
    images: { autodiagnose: autodiagnose!, debugger: DEBUGGER },
    channels: { [asChannelId('C0SHOP')]: { rules: all.map((one) => aRule(one)) } },
    ...more,
  });
};

async function opened(): Promise<Form> {
  const answer = await world.pipeline.inbox.command(anOrigin(), '');
  if (answer.kind !== 'form') throw new Error(answer.kind);
  return (await answer.complete?.()) ?? answer.form;
}

const change = async (before: Form, fields: Record<string, string>): Promise<Form> => {
  const now = { receivedAtMs: world.clock.now() };
  const after = await world.pipeline.inbox.change({ ...ROY, ...now, value: before.value, fields });
  if (!after) throw new Error('no form');
  return after;
};
const search = (form: Pick<Form, 'value'>, typed: string, field: 'pod' | 'namespace' = 'pod') =>
  world.pipeline.inbox.search({ ...ROY, field, typed, value: form.value, receivedAtMs: world.clock.now() });
const values = (options: readonly Option[]): readonly string[] => options.map(({ value }) => value);
const field = ({ fields }: Form, id: string): Field | undefined => fields.find((one) => one.id === id);
const optionsOf = (form: Form, id: string) => values(field(form, id)?.options ?? []);
const named = (name: string, parts: Parameters<typeof aPod>[0] = {}) => {
  const pod = aPod(parts);
  return { ...pod, metadata: { ...pod.metadata, name, uid: `uid-${name}` } };
};

describe('the form of a bare /kdebug', () => {
  it('opens at once, without fields and without a button, before the cluster is asked', async () => {
    const answer = await world.pipeline.inbox.command(anOrigin(), '');
    expect(answer).toMatchObject({ kind: 'form', form: { name: 'debug', fields: [] } });
    expect(answer.kind === 'form' && answer.form.submit).toBeUndefined();
    expect(world.cluster.calls).toEqual([]);
  });

  it('then shows the channel’s own namespace, and begins to read its pods', async () => {
    const pods = vi.spyOn(world.cluster, 'pods');
    const form = await opened();
    expect(field(form, 'namespace')).toMatchObject({ kind: 'search', initial: 'shop' });
    expect(field(form, 'pod')).toMatchObject({ kind: 'search', optional: false });
    expect(form).toMatchObject({ submit: 'Debug', intro: expect.stringContaining('Pick a pod') });
    expect(pods).toHaveBeenCalledWith('shop', []);
  });

  it('asks for a cluster only where the rules name several', async () => {
    expect(field(await opened(), 'cluster')).toBeUndefined();
    const clusters = { prod: { inCluster: true, default: true }, test: { inCluster: false, default: false } };
    rules([{ clusters: ['prod', 'test'] }], { clusters });
    expect(field(await opened(), 'cluster')).toMatchObject({ initial: 'prod' });
    expect(optionsOf(await opened(), 'cluster')).toEqual(['prod', 'test']);
  });

  it('offers the images that a rule here allows, and says what each does', async () => {
    rules([{ classes: ['observe'] }]);
    expect(optionsOf(await opened(), 'image')).toEqual(['autodiagnose']);
    rules([{ classes: ['observe', 'intrusive'], profiles: ['general'] }]);
    const form = await opened();
    expect(field(form, 'image')?.options).toEqual([
      {
        value: 'autodiagnose',
        label: 'autodiagnose',
        description: 'Diagnoses the pod and reports what is wrong; it only reads.',
      },
      { value: 'debugger', label: 'debugger', description: expect.stringContaining('Runs the command that you write') },
    ]);
    expect(optionsOf(form, 'profile')).toEqual(['auto', 'general']);
  });

  it('has a field for a command only with an image that runs one', async () => {
    rules([{ classes: ['observe', 'intrusive'] }]);
    const form = await opened();
    expect(field(form, 'command')).toBeUndefined();
    expect(field(await change(form, { image: 'debugger' }), 'command')).toBeDefined();
  });

  it('works without an answer of the cluster, and says that it has none', async () => {
    world.cluster.pod = () => new Promise(() => undefined);
    const form = change(await opened(), { namespace: 'shop', pod: 'web-1' });
    await settle();
    await world.clock.advance(2_000);
    expect((await form).intro).toContain('did not answer');
    expect(field(await form, 'pod')).toMatchObject({ initial: 'web-1' });
  });

  it('says at once that a channel may do nothing', async () => {
    const answer = await world.pipeline.inbox.command(anOrigin({ channelId: asChannelId('C0ELSE') }), '');
    expect(JSON.stringify(answer)).toContain('channel_unknown');
  });
});

describe('while it is filled in, the form says', () => {
  const NAMED = { namespace: 'shop', pod: 'web-1' };
  const intro = async (fields: Record<string, string> = NAMED) => (await change(await opened(), fields)).intro;

  it('that it would run', async () => {
    expect(await intro()).toBe('✅ Runs at once: autodiagnose on shop/web-1. The result comes in #shop-oncall.');
  });

  it('whose approval it needs, and how long there is for it', async () => {
    rules([{ approval: approvalTerms({ reason: 'optional' }) }], {
      approvers: { sre: { users: [asUserId('U0BOB')] } },
    });
    expect(await intro()).toBe('⚠️ Needs the approval of one of sre, within 15 min: autodiagnose on shop/web-1.');
  });

  it('that a reason is missing, and nothing of it once there is one', async () => {
    rules([{ approval: approvalTerms({ reason: 'required' }) }], {
      approvers: { sre: { users: [asUserId('U0BOB')] } },
    });
    expect(await intro()).toContain('Write a reason');
    expect(await intro({ ...NAMED, reason: 'it hangs' })).toContain('the approval of one of sre');
  });

  it('that it would be refused, why, and what to do', async () => {
    expect(await intro({ ...NAMED, pod: 'gone-1' })).toMatch(/^❌ Would be refused\. .*gone-1/);
    expect(await intro({ ...NAMED, timeout: 'soon' })).toMatch(/^❌ .*soon/);
    expect(await intro({ ...NAMED, namespace: 'dark', pod: 'web-1' })).toMatch(/^❌ Would be refused\. .*dark/);
  });

  it('how many pods a workload has', async () => {
    rules([{ batch: { maxPods: 5, maxParallelism: 5 } }]);
    const owner = [{ kind: 'StatefulSet', name: 'web', controller: true }];
    const pods = ['web-2', 'web-3'].map((name) => {
      const pod = named(name);
      return { ...pod, metadata: { ...pod.metadata, ownerReferences: owner } };
    });
    world.cluster.siblings = pods;
    expect(await intro({ ...NAMED, pod: 'statefulset/web' })).toBe('✅ Runs at once: autodiagnose on 2 pods.');
  });

  it('nothing of a pod that the cluster does not show to this person', async () => {
    world.policy = aPolicy({ identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } });
    world.cluster.allowed = { kind: 'denied', reason: '', missing: ['get pods'] };
    const form = await change(await opened(), NAMED);
    expect(form.intro).toMatch(/^❌ Would be refused/);
    expect(world.cluster.calls).not.toContain('pod');
    expect(await search(form, '')).toEqual([]);
  });

  it('nothing more to somebody who changes it without end, and works for them all the same', async () => {
    const form = await opened();
    let last = form;
    for (let round = 0; round < 61; round += 1) last = await change(form, NAMED);
    expect(last.intro).toContain('did not answer');
    expect(last.submit).toBe('Debug');
  });
});

describe('a choice that changes what the others mean', () => {
  it('of a namespace empties the pod, of a pod the container', async () => {
    rules([{ namespaces: ['shop', 'pay'] }]);
    const form = await change(await opened(), { namespace: 'shop', pod: 'web-1' });
    const other = await change(form, { namespace: 'pay', pod: 'web-1', container: 'app' });
    expect(field(other, 'pod')?.initial).toBeUndefined();
    expect(field(other, 'pod')?.dependsOn).not.toBe(field(form, 'pod')?.dependsOn);
    expect(field(other, 'reason')?.dependsOn).toBeUndefined();
  });

  it('of a pod with several containers brings a field for them', async () => {
    const pod = aPod();
    const [first] = pod.spec.containers;
    const containers = [first!, { ...first!, name: 'sidecar' }];
    world.cluster.pod = async () => ({ ...pod, spec: { ...pod.spec, containers } });
    const form = await change(await opened(), { namespace: 'shop', pod: 'web-1' });
    expect(optionsOf(form, 'container')).toEqual([first!.name, 'sidecar']);
  });
});

describe('the search for a pod', () => {
  it('finds every word of what was typed, beginnings first, then pods in trouble', async () => {
    const crashing = named('web-9');
    const [status] = crashing.status.containerStatuses;
    const statuses = [{ ...status!, waiting: { reason: 'CrashLoopBackOff', message: '' } }];
    world.cluster.siblings = [
      ...['web-2', 'old-web-1', 'api-1'].map((name) => named(name)),
      { ...crashing, status: { ...crashing.status, containerStatuses: statuses } },
    ];
    const found = await search(await opened(), 'web');
    expect(values(found)).toEqual(['web-9', 'web-1', 'web-2', 'old-web-1', 'web']);
    expect(found[0]).toMatchObject({ description: 'CrashLoopBackOff' });
    expect(values(await search(await opened(), 'web old'))).toEqual(['old-web-1']);
  });

  it('offers what was typed where it is not listed: a new pod, a workload; not what cannot be a name', async () => {
    const form = await opened();
    expect(await search(form, 'deployment/web')).toEqual([{ value: 'deployment/web', label: 'Use “deployment/web”' }]);
    expect(values(await search(form, 'brand-new-1'))).toEqual(['brand-new-1']);
    expect(values(await search(form, 'Not A Name!'))).toEqual([]);
    expect(values(await search(form, 'web-1'))).toEqual(['web-1']);
  });

  it('answers in time when the cluster does not: with what was typed', async () => {
    const form = await opened();
    world.cluster.pods = () => new Promise(() => undefined);
    const found = search(form, 'web-7');
    await settle();
    await world.clock.advance(2_000);
    expect(values(await found)).toEqual(['web-7']);
    world.cluster.pods = () => Promise.reject(new Error('down'));
    expect(values(await search(form, 'web-7'))).toEqual(['web-7']);
  });

  it('shows nothing of a namespace that the channel may not use, whatever the form claims', async () => {
    const before = world.cluster.calls.length;
    for (const value of ['{"namespace":"dark"}', '{"cluster":"other"}', '{"namespace":"kube-system"}'])
      expect(await search({ value }, 'web')).toEqual([]);
    expect(world.cluster.calls.slice(before)).toEqual([]);
  });

  it('shows nothing in a channel that another company reads', async () => {
    const form = await opened();
    world.directory.shared.add('C0SHOP');
    expect(values(await search(form, 'we'))).toEqual(['we']);
  });

  it('takes a broken form for an empty one', async () => {
    for (const value of ['', 'null', '[]', '{"namespace":5}', 'x'])
      expect(values(await search({ value }, 'web-1'))).toEqual(['web-1']);
  });
});

describe('one person who searches without end', () => {
  const asked = () => world.cluster.calls.filter((call) => call === 'access').length;

  it('gets only what they typed after 120 searches in a minute, and the cluster is asked no more; others go on', async () => {
    const form = await opened();
    world.policy = {
      ...world.policy,
      identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} },
    };
    const before = asked();
    for (let n = 0; n < 120; n += 1) expect(values(await search(form, 'web'))).toContain('web-1');
    expect(asked() - before).toBe(120);
    expect(values(await search(form, 'web'))).toEqual(['web']);
    expect(asked() - before).toBe(120);
    expect(values(await search(form, '', 'namespace'))).toContain('shop');
    const ofAlice = { ...ROY, userId: 'U0ALICE', field: 'pod', typed: 'web', value: form.value } as const;
    const others = await world.pipeline.inbox.search({ ...ofAlice, receivedAtMs: world.clock.now() });
    expect(values(others)).toContain('web-1');
    await world.clock.advance(61_000);
    expect(values(await search(form, 'web'))).toContain('web-1');
  });
});

describe('the search for a namespace', () => {
  it('knows the names of the rules, and takes typed ones that a prefix covers', async () => {
    rules([{ namespaces: ['shop', 'team-*', 'kube-system'] }]);
    const form = await opened();
    expect(values(await search(form, '', 'namespace'))).toEqual(['shop', 'kube-system']);
    expect(values(await search(form, 'team-a', 'namespace'))).toEqual(['team-a']);
    expect(values(await search(form, 'shopp', 'namespace'))).toEqual([]);
    expect(values(await search(form, 'team-!', 'namespace'))).toEqual([]);
  });
});

describe('five thousand pods', () => {
  it('cost one list, and a search of them answers no more than tells that there are others', async () => {
    world.cluster.siblings = Array.from({ length: 5_000 }, (_, index) => named(`shop-web-${index}`));
    const form = await opened();
    await settle();
    const pods = vi.spyOn(world.cluster, 'pods');
    const before = world.cluster.calls.length;
    const searches = ['', 's', 'sh', 'web', 'web 49', 'shop-web-4999', 'nothing-like-it'];
    for (const typed of searches) {
      const found = await search(form, typed);
      expect(found.length).toBeLessThanOrEqual(102);
    }
    // From the shared watch: no search asks the cluster for anything but that.
    expect(pods).toHaveBeenCalledTimes(searches.length);
    expect(world.cluster.calls.slice(before)).toEqual([]);
    // More than Slack shows, so that its menu says that there are others.
    expect((await search(form, 'web')).length).toBeGreaterThan(100);
    expect(values(await search(form, 'shop-web-4999'))).toEqual(['shop-web-4999']);
  });
});

describe('a hostile insider with a form', () => {
  it('has only so many namespaces read', async () => {
    rules([{ namespaces: ['team-*'] }]);
    const pods = vi.spyOn(world.cluster, 'pods');
    const form = await opened();
    for (let index = 0; index < 200; index += 1) await change(form, { namespace: `team-${index}` });
    expect(pods.mock.calls.length).toBeLessThanOrEqual(60);
  });

  it('has only ten words of a search looked for', async () => {
    const words = Array.from({ length: 5_000 }, (_, index) => `w${index}`);
    const pod = named(words.slice(0, 10).join('-'));
    world.cluster.setPod(pod);
    expect(values(await search(await opened(), words.join(' ')))).toEqual([pod.metadata.name]);
  });
});
