import { describe, expect, it } from 'vitest';
import { REPORT_BEGIN, REPORT_END } from '../../src/core/diagnosis/marked-report.ts';
import { aPod, aStatus, aTermination, START_MS } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { World } from './support/world.ts';

const at = (ms: number) => new Date(START_MS + ms).toISOString();

const REPORT = {
  kdebug: 1,
  verdict: 'Nothing wrong was found.',
  target: { pid: 1, uid: 65532, gid: 0, effective: true },
  findings: [],
  sections: [{ name: 'dns', state: 'ok', text: '1 ms' }],
};

const marked = (report: object) => `dns ok\n${REPORT_BEGIN}\n${JSON.stringify(report)}\n${REPORT_END}\n`;

async function diagnosed(log: string, prepare: (world: World) => void = () => {}, message = ''): Promise<World> {
  const world = new World();
  prepare(world);
  await world.say('web-1');
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination({ startedAt: at(0), finishedAt: at(2_000), message }) });
  await settle();
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
    expect(verdict?.line).toMatch(/^2 findings: web restarted 4 times, .*exit code 3 \(Error\); the node node-a/);
    expect(verdict?.fine).toBe('dns, probes, events, clock, rollout');
    expect(log?.head).toBe('dns ok');
    expect(world.anchor()?.parts).toContainEqual({
      kind: 'paragraph',
      spans: [{ kind: 'text', text: verdict?.line }],
    });
    expect(world.result()?.tone).toBe('attention');
  });

  it('in the termination message is enough when the log was lost', async () => {
    const world = await diagnosed('', () => {}, JSON.stringify(REPORT));
    expect((await world.run()).verdict?.fine).toContain('dns');
    expect(JSON.stringify(world.result())).not.toContain('Termination message');
  });

  it('costs one question for events and one for the node; plain output costs none', async () => {
    const asked = (world: World) => world.cluster.calls.filter((call) => call === 'events' || call === 'node');
    expect(asked(await diagnosed(marked(REPORT)))).toEqual(['events', 'node']);
    const plain = await diagnosed('nothing to report\n');
    expect(asked(plain)).toEqual([]);
    expect((await plain.run()).verdict).toBeUndefined();
    expect(JSON.stringify(plain.result())).toContain('nothing to report');
  });

  it('stands when the API says no more, and says what is missing', async () => {
    const world = await diagnosed(marked(REPORT), ({ cluster }) => {
      cluster.faults.add('events', 'cluster_forbidden');
      cluster.faults.add('node', 'cluster_unreachable');
    });
    const { verdict, outcome } = await world.run();
    expect(outcome).toEqual({ kind: 'succeeded' });
    expect(verdict?.unseen).toEqual([
      'probes, events: kdebug could not read the events (its right: list events)',
      'node: kdebug could not look at it (its right, an optional one: get nodes)',
    ]);
  });

  it('does not wait for an API that hangs', async () => {
    const world = await diagnosed(marked(REPORT), ({ cluster }) => {
      cluster.events = () => new Promise(() => {});
    });
    expect((await world.run()).state).toBe('collecting');
    await world.clock.advance(2_000);
    expect((await world.run()).verdict?.unseen?.[0]).toContain('probes, events');
  });

  it('of hostile words never makes more than words', async () => {
    const text = '<!channel> *bold* <https://evil.example|click> `x`';
    const world = await diagnosed(marked({ ...REPORT, verdict: text, findings: [{ code: 'own', text, next: text }] }));
    const spans = world.result()?.parts.flatMap((part) => (part.kind === 'list' ? part.items.flat() : [])) ?? [];
    expect(spans[0]).toEqual({ kind: 'strong', text });
    expect(new Set(spans.map(({ kind }) => kind))).toEqual(new Set(['strong', 'text']));
  });
});

describe('an end without a report', () => {
  it('is explained by the target’s own when it took the diagnosis along', async () => {
    const world = new World();
    await world.say('web-1');
    const died = aTermination({ exitCode: 1, reason: 'Error', startedAt: at(-2_000), finishedAt: at(1_000) });
    const target = aStatus({ restartCount: 4, terminated: died });
    const name = world.cluster.launches[0]?.container.name ?? '';
    const killed = aTermination({ exitCode: 137, reason: 'Error', startedAt: at(0), finishedAt: at(1_000) });
    const ours = aStatus({ name, terminated: killed });
    world.cluster.setPod(aPod({ status: { containerStatuses: [target], ephemeralContainerStatuses: [ours] } }));
    await settle();
    const { outcome, verdict } = await world.run();
    expect(outcome?.kind).toBe('target-ended');
    expect(verdict?.findings[0]?.text).toContain('web restarted 4 times');
    expect(verdict?.line).toBeUndefined();
    expect(world.cluster.calls).not.toContain('node');
    expect(world.result()?.parts[0]).toEqual({ kind: 'heading', text: 'The target ended' });
  });
});

describe('the identity that was seen', () => {
  it('is remembered by the image, so that the next run has it at once', async () => {
    const world = await diagnosed(marked(REPORT));
    expect(world.cluster.launches[0]?.container.securityContext?.runAsUser).toBe(0);
    await world.say('web-1', { ...(await world.run()).origin, dedupeKey: 'two' });
    expect(world.cluster.launches[1]?.container.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 65532,
      runAsGroup: 0,
    });
  });

  it.each([
    [{ effective: false, uid: 65532, gid: 0 }],
    [{ effective: true, uid: 0, gid: 0 }],
    [{ effective: true, uid: 65532 }],
  ])('is not remembered from %j', async (target) => {
    const world = await diagnosed(marked({ ...REPORT, target }));
    expect(await world.store.learnt('sha256:feed')).toBeUndefined();
  });
});
