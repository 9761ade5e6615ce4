import { describe, expect, it } from 'vitest';
import { view, weightOf } from '../../../../src/adapters/slack/views/view.ts';
import type { Pod, PodEvent } from '../../../../src/core/container/pod.ts';
import { firstAnswer } from '../../../../src/core/diagnosis/first-answer.ts';
import { asRunId } from '../../../../src/core/ids.ts';
import {
  noSuchPodMessage,
  type PodDescription,
  podMessage,
} from '../../../../src/core/say/answers/describe-message.ts';
import { HOSTILE } from '../../../adapters/slack/views/messages.ts';
import {
  anOrigin,
  aPlan,
  aPod,
  approvalTerms,
  aRun,
  aStatus,
  aTermination,
  type PodParts,
  START_MS,
} from '../../../support/builders.ts';
import { textOf } from '../../../support/plain-message.ts';

const WEB = {
  name: 'web',
  image: 'web:1',
  securityContext: {},
  cpuLimit: '500m',
  cpuRequest: '50m',
  memoryLimit: '128Mi',
  memoryRequest: '128Mi',
  hasRequests: true,
};

const healthy = (parts: PodParts = {}): Pod =>
  aPod({
    ...parts,
    spec: { containers: [WEB], ...parts.spec },
    status: {
      containerStatuses: [aStatus({ ready: true, running: { startedAt: '2026-11-20T00:00:01Z' } })],
      ...parts.status,
    },
  });

const described = (
  pod: Pod,
  parts: Partial<PodDescription> = {},
  events: readonly PodEvent[] = [],
): PodDescription => ({
  facts: {
    pod,
    targetContainerName: 'web',
    versionedPods: [],
    events,
    node: { name: 'node-a', conditions: [{ type: 'Ready', status: 'True' }] },
    nowMs: START_MS,
  },
  cluster: 'prod',
  podSecurity: 'restricted',
  possible: {
    kind: 'possible',
    more: 3,
    images: [
      {
        alias: 'autodiagnose',
        command: 'any',
        runs: [
          { rule: 'look', profiles: ['baseline', 'restricted'] },
          {
            rule: 'attach',
            profiles: ['sysadmin'],
            approval: approvalTerms({ from: ['sre', 'leads'], reason: 'required' }),
          },
        ],
      },
      {
        alias: 'debian',
        command: 'own',
        runs: [],
        denial: { kind: 'deny', code: 'class_not_allowed', subject: 'debian (intrusive)' },
      },
    ],
  },
  earlier: [],
  ...parts,
});

const linesOf = (description: PodDescription): readonly string[] => textOf(podMessage(description)).split('\n');
const ago = (ms: number): string => new Date(START_MS - ms).toISOString();

const event = (parts: Partial<PodEvent> = {}): PodEvent => ({
  reason: 'Pulled',
  message: 'Container image "web:1" already present',
  type: 'Normal',
  atMs: START_MS - 60_000,
  ...parts,
});

describe('the description of a pod', () => {
  it('says first that a pod is well where its log was read too, and the rest below', () => {
    const { facts, ...rest } = described(healthy(), {}, [event(), event({ atMs: START_MS - 30_000 })]);
    const logs = [{ containerName: 'web', lines: 40, shapes: [] }];
    const message = podMessage({ ...rest, facts: { ...facts, logs } });
    expect(message.tone).toBe('success');
    expect(textOf(message).split('\n').slice(2)).toEqual([
      '1 container',
      'web running, ready · CPU 50m to 500m · memory 128Mi · web:1',
      'Events',
      'Pulled 2 times, 30 s ago: Container image "web:1" already present',
      'What this channel may run here',
      'autodiagnose: allowed with baseline, restricted (rule look); any 1 of sre, leads must approve sysadmin (rule attach), with a --reason',
      'debian, your own command: refused: no rule of this channel allows this kind of run there: debian (intrusive)',
      '… 3 more images',
      'no workload · running · node node-a, ready · Pod Security restricted · 31 h 30 min old · cluster prod · nothing was started',
    ]);
  });

  it('says nothing good of a pod whose log was not read, but what is missing', () => {
    const message = podMessage(described(healthy()));
    expect(message.tone).toBe('ended');
    expect(textOf(message).split('\n').slice(2, 4)).toEqual(['Not checked:', expect.stringContaining('log of web')]);
  });

  it('begins with no tick above a probe that fails, also in the first minute of a container', () => {
    const status = { containerStatuses: [aStatus({ ready: true, running: { startedAt: ago(20_000) } })] };
    const failing = event({
      type: 'Warning',
      reason: 'Unhealthy',
      message: 'Liveness probe failed: the disk is gone',
      count: 6,
      atMs: START_MS - 1_000,
      fieldPath: 'spec.containers{web}',
    });
    const { facts, ...rest } = described(healthy({ status }), {}, [failing]);
    const logs = [{ containerName: 'web', lines: 40, shapes: [] }];
    const message = podMessage({ ...rest, facts: { ...facts, logs } });
    expect(message.tone).not.toBe('success');
    expect(textOf(message)).not.toContain('Healthy');
    expect(textOf(message).split('\n').slice(0, 2).join(' ')).toMatch(/web’s liveness probe fails.*“the disk is gone”/);
  });

  it('says the same as the first answer to a question, in its tone', () => {
    const lastTermination = aTermination({ exitCode: 1, reason: 'Error', finishedAt: ago(12_000) });
    const waiting = { reason: 'CrashLoopBackOff', message: 'back-off' };
    const status = { containerStatuses: [aStatus({ restartCount: 14, waiting, lastTermination })] };
    const { facts, ...rest } = described(healthy({ status }));
    const lastWords = [{ containerName: 'web', line: 'DATABASE_URL is not set', more: ['starting', 'bye'] }];
    const description = { ...rest, facts: { ...facts, lastWords } };
    const verdict = firstAnswer(description.facts);
    const message = podMessage(description);
    const lines = textOf(message).split('\n');
    expect(message.tone).toBe('failure');
    expect(lines.slice(1, 4)).toEqual([`shop/web-1: ${verdict.line}`, verdict.findings[0]?.next, 'Last words of web']);
    expect(verdict.line).toContain('“DATABASE_URL is not set”');
    expect(lines).toContain('starting');
    expect(lines).toContain('web waiting: CrashLoopBackOff · CPU 50m to 500m · memory 128Mi · web:1');
  });

  it('names the cause whole where the first line has no room for it', () => {
    const message = `${'no match for the node selector, '.repeat(6)}and nothing else`;
    const unmetConditions = [{ type: 'PodScheduled', reason: 'Unschedulable', message, since: ago(60_000) }];
    const { nodeName: _, ...spec } = healthy().spec;
    const pod = { ...healthy({ status: { phase: 'Pending', unmetConditions } }), spec };
    const lines = linesOf(described(pod));
    expect(lines[1]?.length).toBeLessThan(120);
    expect(lines.some((line, index) => index > 1 && line.length > 119 && line.includes('no match'))).toBe(true);
  });

  it('keeps telling how a container ended', () => {
    const lastTermination = aTermination({ exitCode: 137, reason: 'OOMKilled', finishedAt: ago(72 * 3_600_000) });
    const status = {
      containerStatuses: [aStatus({ ready: true, running: { startedAt: '' }, restartCount: 2, lastTermination })],
    };
    expect(linesOf(described(healthy({ status }))).join('\n')).toMatch(/3 d ago/);
  });

  it('is yellow for what is about to fail, and lists what is only worth knowing', () => {
    const node = { name: 'node-a', conditions: [{ type: 'MemoryPressure', status: 'True' }] };
    const { memoryLimit: _, ...unbounded } = WEB;
    const pod = healthy({ spec: { containers: [unbounded] } });
    const description = described(pod);
    const message = podMessage({ ...description, facts: { ...description.facts, node } });
    expect(message.tone).toBe('attention');
    expect(podMessage(description).tone).toBe('ended');
    expect(textOf(podMessage(description))).toMatch(/web has no memory limit/);
  });

  it.each([
    ['a pod that starts', { phase: 'Pending' }, 'ended'],
    ['a pod that finished', { phase: 'Succeeded' }, 'ended'],
    ['a pod that failed long ago', { phase: 'Failed' }, 'failure'],
    ['a pod of a lost node', { phase: 'Unknown' }, 'failure'],
  ] as const)('has no green tick for %s', (_, status, tone) => {
    expect(podMessage(described(healthy({ status }))).tone).toBe(tone);
  });

  it('lists bad conditions once, and none that a finding tells', () => {
    const bad = (type: string, message: string) => ({ type, reason: 'Why', message, since: ago(120_000) });
    const unmetConditions = [
      bad('Ready', 'web is not'),
      bad('ContainersReady', 'web is not'),
      bad('Initialized', 'db waits'),
    ];
    const lines = linesOf(described(healthy({ status: { unmetConditions } })));
    expect(lines.filter((line) => line.includes('web is not')).slice(1)).toHaveLength(1);
    expect(lines).toContain('Initialized not true for 2 min: Why: db waits');
  });

  it('lists no condition that the state of the containers explains', () => {
    const waiting = { reason: 'ErrImagePull', message: 'no such image' };
    const condition = { type: 'Ready', reason: 'ContainersNotReady', message: 'unready: [web]', since: ago(5_000) };
    const status = {
      phase: 'Pending',
      containerStatuses: [aStatus({ waiting })],
      unmetConditions: [condition],
    } as const;
    expect(linesOf(described(healthy({ status }))).join()).not.toContain('ContainersNotReady');
    const starting = { ...status, containerStatuses: [aStatus()] };
    expect(linesOf(described(healthy({ status: starting })))).toContain(
      'Ready not true for 5 s: ContainersNotReady: unready: [web]',
    );
  });

  it('names a warning about a pod that is well once', () => {
    const mount = event({ reason: 'FailedMount', type: 'Warning', message: 'no volume' });
    const lines = linesOf(described(healthy(), {}, [mount]));
    expect(lines.filter((line) => line.includes('no volume'))).toHaveLength(1);
  });

  it('leaves out the events of debug containers', () => {
    const probe = event({
      reason: 'Unhealthy',
      type: 'Warning',
      message: 'Liveness probe failed: 500',
      count: 9,
      fieldPath: 'spec.containers{web}',
    });
    const ours = event({
      reason: 'Created',
      message: 'Created kdebug-a',
      fieldPath: 'spec.ephemeralContainers{kdebug-a}',
    });
    const mount = event({
      reason: 'FailedMount',
      type: 'Warning',
      message: 'no volume',
      count: 3,
      atMs: START_MS - 3_600_000,
    });
    const lines = linesOf(described(healthy(), {}, [probe, ours, mount]));
    expect(lines[1]).toMatch(/liveness probe/i);
    expect(lines).toContain('Warning FailedMount 3 times, 1 h ago: no volume');
    expect(lines.join()).not.toContain('kdebug-a');
  });

  it('names the runs of this channel, and of other debug containers only that they are there', () => {
    const mine = { name: 'kdebug-a', image: 'tools:1', runId: 'abcdefghij' };
    const foreign = { name: 'kdebug-b', image: 'debian:12', runId: 'bbbbbbbbbb' };
    const hand = { name: 'debugger-x', image: 'busybox' };
    const ended = aStatus({ name: 'kdebug-a', terminated: aTermination({ finishedAt: ago(60_000) }) });
    const going = aStatus({ name: 'kdebug-b', running: { startedAt: ago(5_000) } });
    const pod = healthy({
      spec: { ephemeralContainers: [mine, foreign, hand] },
      status: {
        containerStatuses: [aStatus({ ready: true, running: { startedAt: '' } })],
        ephemeralContainerStatuses: [ended, going],
      },
    });
    const run = aRun({
      id: asRunId('abcdefghij'),
      state: 'finished',
      outcome: { kind: 'succeeded' },
      plan: aPlan(),
      origin: anOrigin(),
    });
    const lines = linesOf(
      described(pod, { earlier: [{ containerName: 'kdebug-a', run, url: 'https://x.slack.com/archives/C/p1' }] }),
    );
    const first = lines.indexOf('3 debug containers');
    expect(lines.slice(first + 1, first + 4)).toEqual([
      'busybox not started, not by kdebug',
      'debian:12 running for 5 s, of a batch, or of another channel',
      'abcdefghij autodiagnose by U0ROY: Succeeded, ended 1 min ago',
    ]);
    expect(lines.join()).not.toContain('bbbbbbbbbb');
  });

  it('says why no debug container can be added', () => {
    const lines = linesOf(
      described(healthy(), { possible: { kind: 'deny', code: 'pod_deleting', subject: 'shop/web-1' } }),
    );
    expect(lines.find((line) => line.startsWith('No debug container'))).toMatch(
      /^No debug container can be added: .+\. [A-Z]/,
    );
    expect(lines).not.toContain('What this channel may run here');
  });

  it('says which facts are missing', () => {
    const description = described(healthy());
    const facts = { ...description.facts, events: undefined, node: undefined };
    const lines = linesOf({ ...description, facts });
    expect(lines.join('\n')).toContain('its warnings and probes: they were not read');
    expect(lines.at(-1)).toContain('node node-a ·');
  });
});

describe('a hostile pod', () => {
  const worst = HOSTILE.filter((text) => text.length < 5_000).map((text) => `${text}${'x'.repeat(400)}`);
  const hostilePod = (text: string): Pod => {
    const names = Array.from({ length: 60 }, (_, index) => `${index}${text}`);
    const status = (name: string) =>
      aStatus({
        name,
        restartCount: 1e9,
        waiting: { reason: text, message: text },
        lastTermination: aTermination({ reason: text, message: text }),
      });
    return healthy({
      metadata: {
        name: 'w'.repeat(253),
        namespace: 'n'.repeat(63),
        ownerReferences: [{ kind: 'Job', name: text, controller: true }],
      },
      spec: {
        nodeName: text,
        containers: names.map((name) => ({ ...WEB, name, image: text, cpuLimit: text, memoryRequest: text })),
        ephemeralContainers: names.map((name) => ({ name, image: text })),
      },
      status: {
        phase: 'Failed',
        reason: text,
        message: text,
        unmetConditions: names.map((type) => ({ type, reason: text, message: `${type}${text}`, since: text })),
        containerStatuses: names.map(status),
        ephemeralContainerStatuses: names.map(status),
      },
    });
  };

  it.each(worst.map((text, index) => [index, text] as const))('fits Slack, with the answer first (%i)', (_, text) => {
    const events = Array.from({ length: 20 }, (__, index) =>
      event({ reason: text, message: `${index}${text}`, type: text }),
    );
    const message = podMessage(described(hostilePod(text), {}, events));
    const { blocks } = view(message);
    expect(blocks.length).toBeLessThanOrEqual(50);
    expect(weightOf(blocks)).toBeLessThanOrEqual(12_000);
    expect(message.summary.length).toBeLessThanOrEqual(120);
    expect(message.summary).toContain(': the pod failed');
    expect(JSON.stringify(blocks)).toContain('nothing was started');
  });
});

it('the answer for a pod that cannot be seen depends on nothing but the words of the request', () => {
  expect(textOf(noSuchPodMessage('web-1', 'vault'))).toBe(
    [
      "There's no pod named web-1 in vault that this channel may see.",
      "There's no pod named web-1 in vault that this channel may see.",
      'Check the name and -n; /kdebug whoami shows the namespaces of this channel.',
      'pod_not_found',
    ].join('\n'),
  );
});
