import { describe, expect, it } from 'vitest';
import { kindOfTarget } from '../../../src/core/container/profiles.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import type { ImageAlias } from '../../../src/core/policy/policy.ts';
import { REPORT_BEGIN, REPORT_END } from '../../../src/core/report-marks.ts';
import { aPod, aPolicy, aRule, aStatus, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { buttonsOf, textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();

const REPORT = {
  kdebug: 1,
  verdict: 'Nothing found in 13 sections; it does not see inside the program.',
  target: { pid: 1, uid: 65532, gid: 0, effective: true },
  findings: [],
  sections: [{ name: 'dns', state: 'ok', text: '1 ms' }],
};

const marked = (report: object) => `dns ok\n${REPORT_BEGIN}\n${JSON.stringify(report)}\n${REPORT_END}\n`;

async function asked(words: string, prepare: (world: World) => void = () => {}): Promise<World> {
  const world = new World();
  prepare(world);
  await world.say(words);
  return world;
}

async function endsWith(world: World, log: string, message = ''): Promise<void> {
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000), message }) });
  await settle();
}

async function diagnosed(log: string, prepare: (world: World) => void = () => {}, message = ''): Promise<World> {
  const world = await asked('web-1', prepare);
  await endsWith(world, log, message);
  return world;
}

const restarted = aStatus({
  restartCount: 4,
  running: { startedAt: at(-5_000) },
  lastTermination: aTermination({ exitCode: 3, reason: 'Error', finishedAt: at(-6_000) }),
});

describe('a report', () => {
  it('is merged with what the API knows, and its text is not shown twice', async () => {
    const world = await diagnosed(marked(REPORT), ({ cluster }) => {
      cluster.setPod(aPod({ status: { containerStatuses: [restarted] } }));
      cluster.nodeNow = { name: 'node-a', conditions: [{ type: 'MemoryPressure', status: 'True' }] };
    });
    const { verdict, log } = await world.run();
    expect(verdict?.line).toBe('web exited with code 3, 6 s ago, restarted 4 times');
    expect(verdict?.fine).toContain('dns');
    expect(log?.head).toBe('dns ok');
    expect(JSON.stringify(world.anchor()?.parts[0])).toContain('web exited with code 3, 6 s ago, restarted 4 times');
    expect([world.anchor()?.tone, world.result()?.tone]).toEqual(['failure', 'failure']);
  });

  it('tells no secret that an escape in its JSON hid from the filter of the log', async () => {
    const [aws, github] = ['AKIA\\u200bIOSFODNN7EXAMPLE', 'ghp\\u005f0123456789abcdefghijABCDEFGHIJ0123'];
    const hiding = JSON.stringify({
      ...REPORT,
      findings: [{ code: 'own', text: 'AWS', next: 'GITHUB' }],
    });
    const json = hiding.replace('AWS', aws).replace('GITHUB', github);
    const world = await diagnosed(`${REPORT_BEGIN}\n${json}\n${REPORT_END}\n`);
    const { verdict } = await world.run();
    expect(verdict?.findings[0]).toMatchObject({ text: '[redacted:aws-key]', next: '[redacted:github-token]' });
    expect(JSON.stringify(world.result())).not.toMatch(/AKIA|ghp_/);
  });

  it('is not swallowed by a name that opens a quote of a secret', async () => {
    const target = { ...REPORT.target, name: 'token="abc123' };
    const world = await diagnosed(marked({ kdebug: 1, target, verdict: 'It is bad.', findings: [] }));
    expect((await world.run()).verdict).toBeDefined();
    expect(JSON.stringify(world.result())).not.toContain('abc123');
  });

  it('in the termination message is enough when the log was lost', async () => {
    const world = await diagnosed('', () => {}, JSON.stringify(REPORT));
    expect((await world.run()).verdict?.fine).toContain('dns');
    expect(textOf(world.result())).not.toContain('Termination message');
  });

  it('costs one question for warnings and one for the node, as its first answer did; plain output costs none', async () => {
    const questions = (world: World) => world.cluster.calls.filter((call) => call === 'warnings' || call === 'node');
    expect(questions(await diagnosed(marked(REPORT)))).toEqual(['warnings', 'node', 'warnings', 'node']);
    const plain = await diagnosed('nothing to report\n');
    expect(questions(plain)).toEqual(['warnings', 'node']);
    expect((await plain.run()).log?.head).toContain('nothing to report');
  });

  it('stands when the API says no more, and says what is missing', async () => {
    const world = await diagnosed(marked(REPORT), ({ cluster }) => {
      cluster.warnings = () => Promise.reject(new KdebugError('cluster_forbidden'));
      cluster.node = () => Promise.reject(new KdebugError('cluster_unreachable'));
    });
    const { verdict, outcome } = await world.run();
    expect(outcome).toEqual({ kind: 'succeeded' });
    expect(verdict?.unseen).toEqual([
      'the log of web: it is empty',
      'probes, events: kdebug may not read events (missing right: list events)',
      'node: kdebug may not read it (missing optional right: get nodes)',
    ]);
  });

  it('calls nothing checked of which not all was read', async () => {
    const world = await diagnosed(marked(REPORT), ({ cluster }) => {
      cluster.areAllWarnings = false;
    });
    const { verdict } = await world.run();
    expect(verdict?.unseen).toContain(
      'its warnings and probes: not all were read, there are too many in the namespace',
    );
    expect(verdict?.fine).not.toMatch(/probes|events/);
    expect((await (await diagnosed(marked(REPORT))).run()).verdict?.fine).toMatch(/probes.*events/);
  });

  it('does not wait for an API that hangs', async () => {
    const world = await asked('web-1');
    world.cluster.warnings = () => new Promise(() => {});
    await endsWith(world, marked(REPORT));
    expect((await world.run()).state).toBe('collecting');
    await world.clock.advance(1_000);
    expect((await world.run()).verdict?.unseen).toContainEqual(expect.stringContaining('probes, events'));
  });

  it('of hostile words never makes more than words', async () => {
    const text = '<!channel> *bold* <https://evil.example|click> `x`';
    const world = await diagnosed(marked({ ...REPORT, verdict: text, findings: [{ code: 'own', text, next: text }] }));
    const parts = world.result()?.parts.slice(0, 2) ?? [];
    const spans = parts.flatMap((part) => (part.kind === 'paragraph' ? part.spans : []));
    expect(spans).toMatchObject([
      { userId: 'U0ROY' },
      {},
      { kind: 'strong' },
      { kind: 'text', text: `: ${text}` },
      { kind: 'text', text },
    ]);
  });
});

describe('a report of a death', () => {
  const death = { code: 'died_of_exit', text: 'shop ended itself with exit code 1', next: 'Look at what calls exit.' };
  const REPORT_OF_DEATH = marked({ ...REPORT, verdict: death.text, findings: [death] });

  async function died(prepare: (world: World) => void = () => {}): Promise<World> {
    const world = await asked('web-1', prepare);
    world.cluster.log = REPORT_OF_DEATH;
    const end = aTermination({ exitCode: 1, reason: 'Error', startedAt: at(-2_000), finishedAt: at(1_000) });
    const target = aStatus({ restartCount: 1, running: { startedAt: at(1_500) }, lastTermination: end });
    const words = ['Traceback (most recent call last):', 'ValueError: no price for 17'];
    world.cluster.targetLogs.set(
      'web --previous',
      words.map((text) => ({ atMs: START_MS + 1_000, text })),
    );
    const name = world.cluster.launches[0]?.container.name ?? '';
    const ours = aStatus({ name, terminated: aTermination({ startedAt: at(0), finishedAt: at(1_000) }) });
    world.cluster.setPod(aPod({ status: { containerStatuses: [target], ephemeralContainerStatuses: [ours] } }));
    await settle();
    return world;
  }

  it('comes with the last words of the container, which nobody had read before', async () => {
    const { verdict } = await (await died()).run();
    expect(verdict?.line).toBe(death.text);
    expect(verdict?.findings[1]?.text).toContain('“ValueError: no price for 17”');
    expect(verdict?.evidence?.[0]?.lines).toContain('ValueError: no price for 17');
    expect(verdict?.ownLog).toBe(true);
  });

  it('says why the log was not read where the policy gives none', async () => {
    const world = await died((each) => {
      each.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ targetLog: 'none' })] } } });
    });
    const { verdict } = await world.run();
    expect(JSON.stringify(verdict)).not.toContain('no price');
    expect(verdict?.unseen).toContainEqual(expect.stringContaining('targetLog in the policy'));
  });
});

describe('an end without a report', () => {
  it('is explained by the target’s own when it took the diagnosis along', async () => {
    const world = new World();
    await world.say('web-1');
    const died = aTermination({ exitCode: 1, reason: 'Error', startedAt: at(-2_000), finishedAt: at(1_000) });
    const target = aStatus({ restartCount: 4, terminated: died });
    world.cluster.targetLogs.set('web', [{ atMs: START_MS + 1_000, text: 'cannot reach db' }]);
    const name = world.cluster.launches[0]?.container.name ?? '';
    const killed = aTermination({ exitCode: 137, reason: 'Error', startedAt: at(0), finishedAt: at(1_000) });
    const ours = aStatus({ name, terminated: killed });
    world.cluster.setPod(aPod({ status: { containerStatuses: [target], ephemeralContainerStatuses: [ours] } }));
    await settle();
    const { outcome, verdict } = await world.run();
    expect(outcome?.kind).toBe('target-ended');
    expect(verdict?.findings[0]?.text).toContain('web exited with code 1');
    expect(verdict?.evidence?.[0]?.lines).toEqual(['cannot reach db']);
    expect(verdict?.healthy).toBeUndefined();
  });
});

describe('the end of a target under a command of one’s own', () => {
  async function killedWith(target: Parameters<typeof aTermination>[0], phase: 'Running' | 'Succeeded' = 'Running') {
    const world = await asked('web-1 --image=debian -- sleep 30');
    const name = world.cluster.launches[0]?.container.name ?? '';
    world.cluster.targetLogs.set('web', [{ atMs: START_MS + 900, text: 'FATAL queue lost lease 77' }]);
    const web = aStatus({ terminated: aTermination({ startedAt: at(-600_000), finishedAt: at(1_000), ...target }) });
    const killed = aTermination({ exitCode: 137, reason: 'Error', startedAt: at(0), finishedAt: at(1_000) });
    const ours = aStatus({ name, terminated: killed });
    world.cluster.setPod(aPod({ status: { phase, containerStatuses: [web], ephemeralContainerStatuses: [ours] } }));
    await settle();
    expect((await world.run()).outcome?.kind).toBe('target-ended');
    return world;
  }

  it('is told with its exit code and its last words', async () => {
    const card = textOf((await killedWith({ exitCode: 3, reason: 'Error' })).anchor());
    expect(card).toContain('web exited with code 3, under a second ago: “queue lost lease 77”');
    expect(card).toContain('the target exited');
  });

  it('is no success, and no failure of the target, where that has done its work', async () => {
    const world = await killedWith({ exitCode: 0, reason: 'Completed' }, 'Succeeded');
    expect(textOf(world.anchor())).toContain('The target exited');
    expect(textOf(world.anchor())).not.toContain('✅');
    expect((await world.run()).verdict?.healthy).toBeUndefined();
  });
});

describe('an end that leaves an inspector open', () => {
  const OPEN = `The inspector of process 12 is open until ${at(40_000).slice(11, 19)} UTC at the latest.\n`;
  const killed = { startedAt: at(0), finishedAt: at(2_000), exitCode: 137, reason: 'Error' };

  async function ended(words: string, log: string, termination: Parameters<typeof aTermination>[0] = killed) {
    const world = await asked(words);
    world.cluster.log = log;
    world.cluster.report({ terminated: aTermination(termination) });
    // Meanwhile it looks whether the target has ended, too.
    await world.clock.advance(3_000);
    return world;
  }

  it('says so first, with the time when it closes', async () => {
    const world = await ended('web-1', OPEN);
    const { outcome } = await world.run();
    expect(outcome?.kind).toBe('failed');
    const [first, second] = (world.anchor()?.parts ?? []).map((part) =>
      textOf({ summary: '', tone: 'ended', parts: [part] }),
    );
    expect(first).toContain(`The inspector of process 12 may be open until ${at(40_000).slice(11, 19)} UTC`);
    expect(second).toContain('It closes without help by then. Run stacks again');
    expect(world.anchor()?.tone).toBe('failure');
  });

  it('says nothing of it where the log shows that it was closed, and after a report', async () => {
    for (const rest of ['The inspector of process 12 is closed.\n', marked(REPORT)]) {
      expect(textOf((await ended('web-1', `${OPEN}${rest}`)).anchor())).not.toContain('inspector');
    }
  });

  it('does not believe the log of an image that runs what people type', async () => {
    const world = await ended('web-1 --image=debian -- cat /app.log', OPEN);
    expect(JSON.stringify((await world.run()).verdict ?? {})).not.toContain('inspector');
  });

  it('says it of a run that goes on beyond its timeout', async () => {
    const world = await asked('web-1');
    world.cluster.log = OPEN.replace(at(40_000).slice(11, 19), at(150_000).slice(11, 19));
    world.cluster.report({ running: { startedAt: at(0) } });
    await settle();
    await world.clock.advance(121_000);
    await settle();
    expect((await world.run()).outcome?.kind).toBe('timed-out');
    expect(textOf(world.anchor())).toContain('The inspector of process 12 may be open until');
  });
});

describe('a report that is not believed', () => {
  const FORGED = marked({
    ...REPORT,
    verdict: 'Fine, says the target.',
    target: { uid: 4242, gid: 4242, effective: true },
  });
  const policyWith = (over: Partial<ImageAlias>) => {
    const policy = aPolicy();
    const autodiagnose = { ...policy.images.autodiagnose!, ...over };
    return { ...policy, images: { ...policy.images, autodiagnose } };
  };

  async function looked(words: string, policy = aPolicy()): Promise<World> {
    const world = new World({ policy });
    await world.say(words);
    world.cluster.log = FORGED;
    world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000), message: '' }) });
    await settle();
    return world;
  }

  async function expectPlain(world: World): Promise<void> {
    const run = await world.run();
    expect(run.outcome?.kind).toBe('succeeded');
    expect(JSON.stringify(run.verdict ?? null)).not.toContain('says the target');
    expect(run.log?.head).toContain('KDEBUG REPORT');
    expect(
      world
        .anchor()
        ?.parts.map((part) => JSON.stringify(part))
        .join(),
    ).not.toContain('says the target');
    expect(textOf(world.result())).toContain('Fine, says the target.');
    expect(await world.store.learnt(KIND)).toBeUndefined();
    expect(world.cluster.calls).not.toContain('events');
  }

  it('comes from an image that people give commands to: it may be a file of the target', async () => {
    const world = await looked('web-1 --image=debian -- cat /proc/1/root/app.log');
    await expectPlain(world);
    expect(textOf(world.result())).not.toContain('diagnostic: true');
  });

  it('comes from an image that the policy does not call diagnostic, and the result says what is missing', async () => {
    const world = await looked('web-1', policyWith({ diagnostic: false }));
    await expectPlain(world);
    expect(textOf(world.result())).toContain('autodiagnose is not marked `diagnostic: true` in the policy');
  });

  it('comes from a diagnostic image that ran somebody’s command or environment, whatever the file says of it', async () => {
    const open = policyWith({ command: 'allowed' });
    await expectPlain(await looked('web-1 -- cat /proc/1/root/app.log', open));
    await expectPlain(await looked('web-1 --env=AUTODIAGNOSE_PID=7', open));
    await expectPlain(await looked('web-1 --arguments-only -- stop x', open));
  });

  it('is believed with a setting that the policy names: it only chooses among what the image does anyway', async () => {
    const policy = policyWith({ settings: ['AUTODIAGNOSE_SAMPLE'] });
    const world = await looked('web-1 --env=AUTODIAGNOSE_SAMPLE=5', policy);
    const { verdict, plan } = await world.run();
    expect(verdict).toBeDefined();
    expect(plan).toMatchObject({ class: 'observe', env: [{ name: 'AUTODIAGNOSE_SAMPLE', value: '5' }] });
  });

  it('comes from an image that is another one in the policy by now', async () => {
    const world = new World();
    await world.say('web-1');
    world.policy = policyWith({ reference: 'registry.example.com/autodiagnose:2' });
    world.cluster.log = FORGED;
    world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000) }) });
    await settle();
    await expectPlain(world);
  });

  it('stands in the termination message of another image', async () => {
    const world = new World();
    await world.say('web-1 --image=debian -- true');
    const message = JSON.stringify({ ...REPORT, verdict: 'Fine, says the target.' });
    world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000), message }) });
    await settle();
    expect((await world.run()).verdict).toBeUndefined();
    expect(textOf(world.result())).toContain('Termination message');
  });

  it('gets no button: Look again is of a believed verdict alone', async () => {
    const sections = [{ name: 'files', state: 'not-readable', text: '', helps: ['identity'] }];
    const world = new World();
    await world.say('web-1 --image=debian -- cat /app.log');
    world.cluster.log = marked({ ...REPORT, sections });
    world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000) }) });
    await settle();
    expect(buttonsOf(world.result())).not.toContain('look-again');
  });
});

const KIND = kindOfTarget(aPod(), 'web', 'prod') ?? '';

describe('the identity that was seen', () => {
  const withoutGeneral = () => {
    const channels = { [asChannelId('C0SHOP')]: { rules: [aRule({ profiles: ['restricted', 'baseline'] })] } };
    return aPolicy({ channels });
  };
  const again = async (world: World, words = 'web-1') =>
    world.say(words, { ...(await world.run()).origin, dedupeKey: words });

  it('is remembered by the kind of target, so that the next run has it at once', async () => {
    const world = await diagnosed(marked(REPORT), (fresh) => {
      fresh.policy = withoutGeneral();
    });
    expect(world.cluster.launches[0]?.container.securityContext?.runAsUser).toBe(0);
    await again(world);
    expect(world.cluster.launches[1]?.container.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 0,
    });
  });

  it('never takes the place of general where that is allowed', async () => {
    const rules = [aRule({ classes: ['observe', 'elevated'] })];
    const world = await diagnosed(marked(REPORT), (fresh) => {
      fresh.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules } } });
    });
    expect(await world.store.learnt(KIND)).toEqual({ uid: 65532, gid: 0 });
    await again(world);
    expect(world.cluster.launches[1]?.container.securityContext?.runAsUser).toBe(0);
  });

  it('says nothing of pods in another namespace, cluster, or with another declared user', async () => {
    const world = await diagnosed(marked(REPORT));
    const others = [
      kindOfTarget(aPod({ metadata: { namespace: 'vault' } }), 'web', 'prod'),
      kindOfTarget(aPod(), 'web', 'test'),
      kindOfTarget(aPod({ spec: { securityContext: { runAsUser: 0 } } }), 'web', 'prod'),
    ];
    for (const kind of others) expect(await world.store.learnt(kind ?? '')).toBeUndefined();
  });

  it('is not taken from a pod that gives the container a command of its own, which may change to any user', async () => {
    const planted = aPod({
      spec: { containers: [{ name: 'web', image: 'web:1', securityContext: {}, hasOwnCommand: true }] },
    });
    const world = await diagnosed(marked(REPORT), ({ cluster }) => cluster.setPod(planted));
    expect((await world.run()).verdict).toBeDefined();
    expect(await world.store.learnt(KIND)).toBeUndefined();
  });

  it.each([
    [{ effective: false, uid: 65532, gid: 0 }],
    [{ effective: true, uid: 0, gid: 0 }],
    [{ effective: true, uid: 65532 }],
  ])('is not remembered from %j', async (target) => {
    const world = await diagnosed(marked({ ...REPORT, target }));
    expect(await world.store.learnt(KIND)).toBeUndefined();
  });
});
