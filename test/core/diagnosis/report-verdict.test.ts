import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/container/plan.ts';
import type { ContainerStatus, ContainerTermination } from '../../../src/core/container/pod.ts';
import type { ClusterFacts } from '../../../src/core/diagnosis/facts/facts.ts';
import type { Diagnosis, DiagnosisTarget } from '../../../src/core/diagnosis/facts/report.ts';
import type { Verdict } from '../../../src/core/diagnosis/facts/verdict.ts';
import { explanationOf, labelOf, verdictOf } from '../../../src/core/diagnosis/report-verdict.ts';
import { asChannelId } from '../../../src/core/ids.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import type { Policy, Rule } from '../../../src/core/policy/policy.ts';
import { aPlan, aPod, aPolicy, aRule, aStatus, aTermination, START_MS } from '../../support/builders.ts';

const report = (parts: Partial<Diagnosis> = {}): Diagnosis => ({
  verdict: 'Nothing found in 13 sections; it does not see inside the program.',
  findings: [],
  sections: [],
  ...parts,
});

const CONTAINER = { name: 'web', image: 'web:1', securityContext: {}, memoryLimit: '1Gi', hasRequests: true };

const facts = (parts: Partial<ClusterFacts> = {}): ClusterFacts => ({
  pod: aPod({ spec: { containers: [CONTAINER] } }),
  targetContainerName: 'web',
  versionedPods: [],
  events: [],
  node: { name: 'node-a', conditions: [{ type: 'Ready', status: 'True' }] },
  nowMs: START_MS,
  ...parts,
});

const restarted = (reason: string): Partial<ClusterFacts> => {
  const lastTermination = aTermination({ exitCode: 1, reason, finishedAt: new Date(START_MS - 5_000).toISOString() });
  const containerStatuses = [aStatus({ restartCount: 3, lastTermination })];
  return { pod: aPod({ spec: { containers: [CONTAINER] }, status: { containerStatuses } }) };
};

const closeWait = { code: 'close_wait', value: 300, threshold: 100, text: '300 sockets in CLOSE_WAIT' };
const memory = { code: 'memory_near_limit', value: 97, threshold: 90, text: 'memory at 97% of its limit' };

describe('the line', () => {
  it('is the image’s own when nothing was found, or only what it alone knows', () => {
    expect(verdictOf(report(), aPlan(), facts()).line).toBe(
      'Nothing found in 13 sections; it does not see inside the program.',
    );
    const own = report({ verdict: 'The queue is stuck.', findings: [{ code: 'queue', text: '9 jobs wait' }] });
    expect(verdictOf(own, aPlan(), facts()).line).toBe('The queue is stuck.');
  });

  it('is the worst finding, a cause before its effects, and what is worth knowing only where nothing is', () => {
    const both = verdictOf(report({ findings: [memory, closeWait] }), aPlan(), facts(restarted('OOMKilled')));
    expect(both.line).toMatch(/^web was killed for lack of memory \(OOMKilled\), 5 s ago, restarted 3 times/);
    expect(both.findings.slice(1).map(({ text }) => text)).toEqual([closeWait.text, memory.text]);
    const { hasRequests: _, ...asks } = CONTAINER;
    const mild = facts({ pod: aPod({ spec: { containers: [asks] } }) });
    expect(verdictOf(report(), aPlan(), mild).line).toBe('Worth knowing: web requests no CPU or memory');
    expect(verdictOf(report({ findings: [memory] }), aPlan(), mild).line).toBe(memory.text);
  });

  it('is what a watch says of what it waited for, also where something is worth knowing', () => {
    const { hasRequests: _, ...asks } = CONTAINER;
    const mild = facts({ pod: aPod({ spec: { containers: [asks] } }) });
    const tool = { name: 'blackbox', version: '0.1.0' };
    const verdict = 'Told to stop: process 1 (app) is alive after 7.0 s of watching.';
    expect(verdictOf(report({ tool, verdict }), aPlan(), mild).line).toBe(verdict);
    const died = { code: 'died_of_exit', text: 'process 1 (app) ended itself with exit code 3' };
    expect(verdictOf(report({ tool, verdict, findings: [died] }), aPlan(), mild).line).toBe(died.text);
  });

  it('fits a heading, whatever the texts', () => {
    const findings = Array.from({ length: 20 }, () => ({ ...closeWait, text: '😀'.repeat(300) }));
    const line = verdictOf(report({ findings }), aPlan(), undefined).line ?? '';
    // No half of a pair is left, so it may be one unit shorter than 300.
    expect([299, 300]).toContain(line.length);
    expect(line).not.toMatch(/\p{Surrogate}/u);
  });
});

describe('the findings', () => {
  it('are at most three, by rank and then by how far they are over the threshold, the rest counted', () => {
    const findings = [
      { code: 'go_max_procs', value: 400, threshold: 100, text: 'procs' },
      memory,
      closeWait,
      { code: 'dns_unanswered', text: 'no answer' },
      { code: 'tls_expiring', value: 2, threshold: 14, text: 'certificate ends in 2 days' },
    ];
    const verdict = verdictOf(report({ findings }), aPlan(), undefined);
    expect(verdict.findings.map(({ text }) => text)).toEqual([
      'no answer',
      'certificate ends in 2 days',
      '300 sockets in CLOSE_WAIT',
    ]);
    expect(verdict.more).toBe(2);
  });

  it('have the number’s threshold and one next step: the image’s, else the table’s', () => {
    const findings = [closeWait, { ...memory, next: 'Ask the cart team.' }, { code: 'mine', threshold: 5, text: 'x' }];
    expect(verdictOf(report({ findings }), aPlan(), undefined).findings).toEqual([
      {
        code: 'close_wait',
        text: closeWait.text,
        limit: '100 sockets',
        next: 'Look for connections that are not closed after an error or an end of stream.',
        rank: 2,
      },
      { code: 'memory_near_limit', text: memory.text, limit: '90%', next: 'Ask the cart team.', rank: 2 },
      { text: 'x', limit: '5', next: '', rank: 2 },
    ]);
  });

  it('are the same for the same data', () => {
    const findings = [closeWait, memory];
    const once = verdictOf(report({ findings }), aPlan(), facts(restarted('Error')));
    expect(verdictOf(structuredClone(report({ findings })), aPlan(), facts(restarted('Error')))).toEqual(once);
  });
});

describe('too little CPU', () => {
  const rankAt = (code: string, ageMs: number, parts: Partial<ContainerStatus> = {}, value = 99) => {
    const running = { startedAt: new Date(START_MS - ageMs).toISOString() };
    const pod = aPod({
      spec: { containers: [CONTAINER] },
      status: { containerStatuses: [aStatus({ running, ...parts })] },
    });
    const found = { code, value, text: 'too little' };
    const plan = aPlan({ targetContainerName: 'web' });
    return verdictOf(report({ findings: [found] }), plan, facts({ pod })).findings[0]?.rank;
  };

  it('is worth knowing in the first minute of a program, and about to harm from then on, or after a restart', () => {
    expect(rankAt('waits_for_cpu', 60_000)).toBe(3);
    expect(rankAt('waits_for_cpu', 61_000)).toBe(2);
    expect(rankAt('waits_for_cpu', 5_000, { restartCount: 1 })).toBe(2);
  });

  it('is an alarm at once where its limit pauses it nearly all the time', () => {
    expect(rankAt('cpu_throttled', 5_000, {}, 91)).toBe(2);
    expect(rankAt('cpu_throttled', 5_000, {}, 90)).toBe(3);
    expect(rankAt('cpu_throttled', 61_000, {}, 90)).toBe(2);
  });
});

describe('a death that an image saw', () => {
  const death = (code: string) => ({ code, text: 'died of SIGSEGV in grow (shop)', next: 'Look at it.' });

  it.each([
    ['died_of_signal', 'Error'],
    ['died_of_exit', 'Error'],
    ['died_of_memory', 'OOMKilled'],
  ])('is the headline as %s: that the container ended is its effect', (code, reason) => {
    const { line, findings } = verdictOf(report({ findings: [death(code)] }), aPlan(), facts(restarted(reason)));
    expect(line).toBe('died of SIGSEGV in grow (shop)');
    expect(findings[1]?.text).toMatch(/^web /);
  });
});

describe('what was fine and what could not be seen', () => {
  const blind = { name: 'memory', state: 'not-readable', text: '', lacks: 'ptrace access' } as const;
  const sections = [
    { name: 'dns', state: 'ok', text: '' },
    { ...blind, helps: ['identity', 'general'] },
    { ...blind, name: 'filesystem', helps: ['identity', 'general'] },
    { name: 'tls', state: 'not-readable', text: 'no tool for it' },
    { name: 'peers', state: 'not-looked-at', text: '0 peers' },
  ] as const;
  const target = { uid: 65532, gid: 0, effective: true };

  it('is one line each, with the reason and the way to see it', () => {
    const verdict = verdictOf(report({ sections, target }), aPlan(), facts({ events: undefined, node: undefined }));
    expect(verdict.fine).toBe('dns, start, restarts, rollout, resources');
    expect(verdict.unseen).toEqual([
      'memory, filesystem: ptrace access: look again as 65532:0',
      'tls: no tool for it',
      'its own log: it was not read',
      'probes, events: kdebug may not read events (missing right: list events)',
      'node: kdebug may not read it (missing optional right: get nodes)',
    ]);
  });

  it('is all that the API knows when the pod is gone', () => {
    expect(verdictOf(report(), aPlan(), undefined).unseen).toEqual([
      'restarts, probes, events, node: the pod is gone, or the cluster did not answer in time',
    ]);
  });

  it('is bounded', () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ ...blind, name: `s${index}`, lacks: `right ${index}` }));
    const { unseen } = verdictOf(report({ sections: many }), aPlan(), undefined);
    expect(unseen).toHaveLength(5);
    expect(unseen?.at(-1)).toBe('17 more in the report');
  });

  describe('and the button', () => {
    const again = (parts: Partial<Diagnosis>, plan = aPlan(), of?: ClusterFacts) =>
      verdictOf(report({ sections, target, ...parts }), plan, of).lookAgain;

    it('offers the target’s own user and group, which need no power', () => {
      const offered = again({});
      expect(offered).toEqual({ kind: 'identity', runAs: { uid: 65532, gid: 0 } });
      expect(offered && labelOf(offered)).toBe('Look again as 65532:0');
    });

    it('offers general where the identity is root, unknown, or was there already', () => {
      const general = { kind: 'general' };
      expect(again({ target: { uid: 0, gid: 0, effective: true } })).toEqual(general);
      expect(again({ target: { effective: false } })).toEqual(general);
      expect(again({}, aPlan({ securityContext: { runAsUser: 65532, runAsGroup: 0 } }))).toEqual(general);
    });

    it('offers nothing that would not help, not be admitted, or not start', () => {
      const root = { uid: 0, gid: 0, effective: true };
      expect(again({ sections: [blind] })).toBeUndefined();
      expect(again({ sections: [{ ...blind, state: 'ok', helps: ['identity'] }] })).toBeUndefined();
      const asGeneral = aPlan({ profile: 'general', securityContext: { runAsUser: 0, runAsGroup: 0 } });
      expect(again({ target: root }, asGeneral)).toBeUndefined();
      const observed = { earlierContainers: 0, podSecurity: 'baseline' } as const;
      expect(again({ target: root }, aPlan({ observed }))).toBeUndefined();
      const pod = aPod({ spec: { containers: [CONTAINER], securityContext: { runAsNonRoot: true } } });
      expect(again({ target: root }, aPlan(), facts({ pod }))).toBeUndefined();
    });

    it('names what only a person can choose', () => {
      const section = { ...blind, helps: ['target', 'sysadmin'] } as const;
      expect(verdictOf(report({ sections: [section] }), aPlan(), facts()).unseen).toEqual([
        'memory: ptrace access: name its container with --target',
        'its own log: it was not read',
      ]);
    });
  });
});

describe('with a first answer', () => {
  const READY = aPod({ spec: { containers: [CONTAINER] } });
  const first = (parts: Partial<Verdict> = {}): Verdict => ({
    findings: [],
    healthy: true,
    readAtMs: START_MS,
    ...parts,
  });
  const log = { code: 'log_errors', text: 'web logs “no”, last 3 s ago', next: 'Correct it.', rank: 2 } as const;

  it('is well only where the first answer was, the pod still is, and the look found nothing wrong', () => {
    const well = (given: Verdict | undefined, found = report(), of = facts({ pod: READY })) =>
      verdictOf(found, aPlan(), of, undefined, given).healthy;
    expect(well(first())).toBe(true);
    expect(well(undefined)).toBeUndefined();
    expect(well({ findings: [] })).toBeUndefined();
    expect(well(first(), report({ findings: [memory] }))).toBeUndefined();
    const unmetConditions = [{ type: 'Ready', reason: '', message: '', since: '' }];
    const unready = aPod({ spec: { containers: [CONTAINER] }, status: { unmetConditions } });
    expect(well(first(), report(), facts({ pod: unready }))).toBeUndefined();
  });

  it('is neither well nor only worth knowing where the image could not see what it is there for', () => {
    const verdict = 'No stacks: what lacks is SYS_PTRACE.';
    const stacks = { name: 'stacks', state: 'not-readable', text: '', lacks: 'SYS_PTRACE' } as const;
    const cpu = { name: 'cpu', state: 'ok', text: '' } as const;
    const blind = report({ verdict, tool: { name: 'stacks' }, sections: [stacks, cpu] });
    const { hasRequests: _, ...asks } = CONTAINER;
    const mild = facts({ pod: aPod({ spec: { containers: [asks] } }) });
    expect(verdictOf(blind, aPlan(), mild, undefined, first())).toMatchObject({ line: verdict });
    expect(verdictOf(blind, aPlan(), facts({ pod: READY }), undefined, first()).healthy).toBeUndefined();
    const ofAnother = report({ tool: { name: 'acme-check' }, sections: [stacks, cpu] });
    expect(verdictOf(ofAnother, aPlan(), facts({ pod: READY }), undefined, first()).healthy).toBe(true);
    const cut = facts({ pod: READY, notRead: [{ what: 'events', why: 'cut' }] });
    expect(verdictOf(ofAnother, aPlan(), cut, undefined, first()).healthy).toBeUndefined();
  });

  it.each(['autodiagnose', 'net', 'profile', 'blackbox'])(
    'is not well by %s alone, which sees no program that hangs',
    (name) => {
      const quiet = report({ tool: { name }, sections: [{ name: 'cpu', state: 'ok', text: '' }] });
      expect(verdictOf(quiet, aPlan(), facts({ pod: READY }), undefined, first()).healthy).toBeUndefined();
    },
  );

  it('is well by the stacks of a program whose functions are seen, and of no other', () => {
    const of = (runtime: 'python' | 'native' | 'ruby' | 'unknown') => {
      const sections = [{ name: 'stacks', state: 'ok', text: '' }] as const;
      const quiet = report({ tool: { name: 'stacks' }, target: { effective: true, runtime }, sections });
      return verdictOf(quiet, aPlan(), facts({ pod: READY }), undefined, first()).healthy;
    };
    expect(of('python')).toBe(true);
    for (const runtime of ['native', 'ruby', 'unknown'] as const) expect(of(runtime)).toBeUndefined();
  });

  it('is not well where the image saw nothing, whatever the first answer was', () => {
    const of = facts({ pod: READY });
    const healthy = (parts: Partial<Diagnosis>) => verdictOf(report(parts), aPlan(), of, undefined, first()).healthy;
    const part = (name: string, state: Diagnosis['sections'][number]['state']) => ({ name, state, text: '' });
    const sections = [part('stacks', 'not-readable'), part('cpu', 'ok')];
    expect(healthy({ verdict: 'Nothing hangs.', sections })).toBe(true);
    expect(healthy({ verdict: 'Could not look: it lacks SYS_PTRACE.', sections })).toBeUndefined();
    expect(healthy({ verdict: 'Could not profile the process 1 (postgres).', sections })).toBeUndefined();
    expect(healthy({ sections: [part('a', 'not-readable'), part('b', 'not-looked-at')] })).toBeUndefined();
    expect(healthy({ sections: [part('b', 'not-looked-at')] })).toBe(true);
    expect(healthy({ unsure: true })).toBeUndefined();
  });

  it('keeps what only the logs said, with its evidence and what they could not say', () => {
    const evidence = [{ title: 'Errors in the log of web', lines: ['no'] }];
    const unseen = ['the log of proxy: it is empty', 'its claims: no answer in time; ask again'];
    const given = first({ findings: [log], evidence, unseen });
    const verdict = verdictOf(report({ findings: [closeWait] }), aPlan(), facts({ pod: READY }), undefined, given);
    expect(verdict.line).toBe(closeWait.text);
    expect(verdict.findings.map(({ code }) => code)).toEqual(['close_wait', 'log_errors']);
    expect(verdict.evidence).toEqual(evidence);
    expect(verdict.unseen).toEqual([unseen[0]]);
  });

  describe('in which the log has error lines', () => {
    const of = (findings: Diagnosis['findings'], ofLog: object, parts: Partial<Diagnosis> = {}) => {
      const given = first({ well: 'ready', findings: [{ ...log, rank: 3, ...ofLog }] });
      const all = verdictOf(report({ findings, ...parts }), aPlan(), facts({ pod: READY }), undefined, given);
      return { line: all.line, found: all.findings.map(({ code, rank }) => `${code} ${rank}`), healthy: all.healthy };
    };
    const refused = { code: 'connects_refused', value: 9, threshold: 2, text: '9 attempts to connect failed' };
    const computes = { code: 'busy_thread', value: 99, threshold: 80, text: 'one thread computes all the time' };

    it('has what was measured before a line, whatever its level', () => {
      expect(of([computes], { rank: 3 })).toMatchObject({
        line: computes.text,
        found: ['busy_thread 2', 'log_errors 3'],
      });
      expect(of([computes], { rank: 2 }).found).toEqual(['busy_thread 2', 'log_errors 2']);
    });

    it('has the line first, and as bad, where it gives the cause of what was measured', () => {
      const explains = ['connects_refused', 'peer_refused'];
      expect(of([refused], { explains })).toMatchObject({
        line: log.text,
        found: ['log_errors 2', 'connects_refused 2'],
      });
      expect(of([computes], { explains }).found).toEqual(['busy_thread 2', 'log_errors 3']);
    });

    it('is worth knowing where nothing was found, behind the answer of an image that was asked for', () => {
      const tool = { name: 'autodiagnose' };
      expect(of([], {}, { tool })).toEqual({
        line: `Ready; nothing found in 0 sections; no look into its threads; worth knowing: ${log.text}`,
        found: ['log_errors 3'],
        healthy: undefined,
      });
      expect(of([], {}, { tool: { name: 'profile' }, verdict: 'It used 0.02 of a core.' }).line).toBe(
        `It used 0.02 of a core; worth knowing: ${log.text}`,
      );
    });
  });

  describe('that found nothing', () => {
    const sections = ['cpu', 'io', 'dns'].map((name) => ({ name, state: 'ok', text: '' }) as const);
    const calm = first({ well: 'ready, never restarted, no errors in its log' });
    const lineOf = (parts: Partial<Diagnosis>, given: Verdict | undefined = calm, pod = READY) =>
      verdictOf(report({ sections, ...parts }), aPlan(), facts({ pod }), undefined, given).line;
    const tool = { name: 'autodiagnose' };
    const blind = { name: 'memory', state: 'not-readable', text: '' } as const;

    it('says what is well, what was looked at, and what nobody looked at', () => {
      const line =
        'Ready, never restarted, no errors in its log; nothing found in 3 sections; no look into its threads';
      expect(lineOf({ tool })).toBe(line);
      expect(lineOf({ tool, sections: [...sections, blind] })).toBe(line);
      const unread = first({ well: 'ready, never restarted', healthy: undefined as never });
      expect(lineOf({ tool }, unread)).toBe(
        'Ready, never restarted; nothing found in 3 sections; no look into its threads',
      );
      const groups = [{ text: 'both pods: ready', podNames: ['web-1', 'web-2'] }];
      expect(lineOf({ tool }, first({ well: '2 of 2 pods ready, no errors in their logs', groups }))).toBe(
        '2 of 2 pods ready, no errors in their logs; nothing found in 3 sections of one; no look into its threads',
      );
    });

    it('says that it is healthy where an image saw its threads', () => {
      const target = { effective: true, runtime: 'jvm' } as const;
      expect(lineOf({ tool: { name: 'stacks' }, target, verdict: 'No deadlock, and no queue at a lock.' })).toBe(
        'Healthy: ready, never restarted, no errors in its log; no deadlock, and no queue at a lock.',
      );
    });

    it('leaves the image its own sentence: a doubt, what it is asked for, a pod that is not ready, no first answer', () => {
      const doubt = '7 clients of port 8080 have waited 9 s for an answer of this pod; nothing found in 3 sections.';
      expect(lineOf({ tool, verdict: doubt })).toBe(doubt);
      expect(lineOf({ tool: { name: 'net' }, verdict: 'All names are known.' })).toBe('All names are known.');
      const unmetConditions = [{ type: 'Ready', reason: '', message: '', since: '' }];
      const unready = aPod({ spec: { containers: [CONTAINER] }, status: { unmetConditions } });
      expect(lineOf({ tool }, calm, unready)).toBe(report().verdict);
      expect(lineOf({ tool }, first())).toBe(report().verdict);
    });

    it('says what is well beside what is worth knowing', () => {
      const { hasRequests: _, ...asks } = CONTAINER;
      expect(lineOf({ tool }, calm, aPod({ spec: { containers: [asks] } }))).toBe(
        'Ready, never restarted, no errors in its log; worth knowing: web requests no CPU or memory',
      );
    });
  });

  it('keeps the sentence with the last words for the same finding of the same container', () => {
    const said = {
      code: 'restarts',
      text: 'web exited with code 1, 2 s ago: “no such file”',
      next: 'Do this.',
      rank: 2,
    } as const;
    const restartedOnce = { ...restarted('Error') };
    const lineOf = (finding: Verdict['findings'][number]) =>
      verdictOf(report(), aPlan(), facts(restartedOnce), undefined, first({ findings: [finding] })).line;
    expect(lineOf({ ...said, code: 'crash_loop' })).toBe(said.text);
    expect(lineOf(said)).not.toContain('no such file');
    expect(lineOf({ ...said, code: 'crash_loop', text: 'proxy exited: “no such file”' })).not.toContain('no such file');
  });

  it('does not call memory fine after a kill for lack of it', () => {
    const sections = [{ name: 'memory', state: 'ok', text: '' }] as const;
    expect(verdictOf(report({ sections }), aPlan(), facts(restarted('OOMKilled'))).fine).not.toContain('memory');
    expect(verdictOf(report({ sections }), aPlan(), facts()).fine).toContain('memory');
  });
});

describe('the next image', () => {
  const { autodiagnose } = aPolicy().images;
  const images = Object.fromEntries(
    ['stacks', 'profile', 'net', 'blackbox'].map((alias) => [
      alias,
      { ...autodiagnose!, alias, reference: `${alias}:1` },
    ]),
  );
  const AS_TARGET = aPlan({ securityContext: { runAsUser: 7, runAsGroup: 7 } });
  const finding = (code: string) => ({ code, value: 1_000, text: code });
  const next = (
    codes: readonly string[],
    target: Partial<DiagnosisTarget> = {},
    {
      plan = AS_TARGET,
      of,
      rules = [aRule()],
      ...parts
    }: Partial<Diagnosis> & {
      readonly plan?: Plan;
      readonly images?: Policy['images'];
      readonly of?: Parameters<typeof facts>[0];
      readonly rules?: readonly Rule[];
    } = {},
  ) => {
    const { nextImage, nextAs } = verdictOf(
      report({ findings: codes.map(finding), target: { effective: true, uid: 7, gid: 7, ...target }, ...parts }),
      plan,
      facts(of ?? {}),
      {
        images: parts.images ?? images,
        channels: aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules } } }).channels,
      },
    );
    return nextAs ? [nextImage, nextAs] : nextImage;
  };
  const blind = { name: 'memory', state: 'not-readable', text: '', helps: ['identity', 'general'] } as const;

  it.each([
    ['accept_queue', 'stacks'],
    ['listen_overflow', 'stacks'],
    ['close_wait', 'stacks'],
    ['pids_near_limit', 'stacks'],
    ['cpu_throttled', 'profile'],
    ['retransmits', 'net'],
    ['dns_unanswered', 'net'],
    ['peer_refused', 'net'],
    ['disk_full', undefined],
    ['of_another_image', undefined],
    ['constructor', undefined],
  ])('of %s is %s', (code, image) => {
    expect(next([code])).toBe(image);
  });

  it('is that of the worst finding for which the policy has one that is diagnostic', () => {
    expect(next(['cpu_throttled', 'peer_refused', 'disk_full'])).toBe('net');
    expect(next(['cpu_throttled', 'peer_refused'], {}, { images: { profile: images.profile! } })).toBe('profile');
    expect(next(['peer_refused'], {}, { images: { net: { ...images.net!, diagnostic: false } } })).toBeUndefined();
    expect(next(['accept_queue'], {}, { images: {} })).toBeUndefined();
  });

  it('is none that every rule of the channel refuses there', () => {
    const intrusive = { stacks: { ...images.stacks!, class: 'intrusive' as const } };
    expect(next(['accept_queue'], {}, { images: intrusive })).toBeUndefined();
    const rules = [aRule({ id: 'ask', classes: ['intrusive'] })];
    expect(next(['accept_queue'], {}, { images: intrusive, rules })).toBe('stacks');
    expect(next(['accept_queue'], {}, { rules: [aRule({ namespaces: ['pay'] })] })).toBeUndefined();
  });

  describe('of a container that ends and comes up again', () => {
    const UP = { running: { startedAt: new Date(START_MS - 4_000).toISOString() } };
    const again = (ending: Partial<ContainerTermination> = {}, status: Partial<ContainerStatus> = {}) => {
      const lastTermination = aTermination({
        exitCode: 139,
        reason: 'Error',
        finishedAt: new Date(START_MS - 5_000).toISOString(),
        ...ending,
      });
      const containerStatuses = [
        aStatus({ restartCount: 3, lastTermination, ...(status.waiting ? {} : UP), ...status }),
      ];
      return { pod: aPod({ spec: { containers: [CONTAINER] }, status: { containerStatuses } }) };
    };
    const OOM = { exitCode: 137, reason: 'OOMKilled' };

    it.each([
      ['loops', again()],
      ['restarted once', again({}, { restartCount: 1 })],
      ['was killed for memory', again(OOM)],
    ])('that %s waits beside it for the next end', (_, of) => {
      expect(next([], {}, { of })).toBe('blackbox');
    });

    it('is offered only while the target runs, for it waits beside a process', () => {
      const waiting = { reason: 'CrashLoopBackOff', message: '' };
      expect(next([], {}, { of: again({}, { waiting }) })).toBeUndefined();
    });

    it('is none for another container than the one that was looked at', () => {
      expect(next([], {}, { of: again(), plan: { ...AS_TARGET, targetContainerName: 'sidecar' } })).toBeUndefined();
    });

    it('stands behind what fills the memory now, and before all else', () => {
      expect(next(['memory_near_limit'], { runtime: 'jvm' }, { of: again(OOM) })).toBe('stacks');
      expect(next(['memory_near_limit'], { runtime: 'go' }, { of: again(OOM) })).toBe('blackbox');
      expect(next(['memory_near_limit'], { runtime: 'jvm' }, { of: again() })).toBe('blackbox');
      expect(next(['accept_queue', 'cpu_throttled'], {}, { of: again() })).toBe('blackbox');
    });

    it('goes on to the next finding where the policy has no such image, or it waited already', () => {
      const { blackbox: _, ...others } = images;
      expect(next(['accept_queue'], {}, { of: again(), images: others })).toBe('stacks');
      expect(next(['accept_queue'], {}, { of: again(), plan: { ...AS_TARGET, imageAlias: 'blackbox' } })).toBe(
        'stacks',
      );
    });

    it('holds its target by ptrace, so Yama stands in its way whatever the runtime', () => {
      const yama = (ptraceScope: number) => next([], { runtime: 'go', ptraceScope }, { of: again() });
      expect([yama(0), yama(1), yama(3)]).toEqual(['blackbox', ['blackbox', { kind: 'general' }], undefined]);
    });

    it('needs the right to seize where the policy calls it a tracer', () => {
      const tracer = { blackbox: { ...images.blackbox!, class: 'intrusive' as const, traces: true } };
      const rule = (parts: Partial<Rule>) => [aRule({ classes: ['observe', 'intrusive'], ...parts })];
      expect(next([], {}, { of: again(), images: tracer, rules: rule({}) })).toBeUndefined();
      expect(next([], {}, { of: again(), images: tracer, rules: rule({ traces: true }) })).toBe('blackbox');
    });
  });

  it('is never the image that looked', () => {
    const plan = { ...AS_TARGET, imageAlias: 'stacks' };
    expect(next(['accept_queue'], {}, { plan })).toBeUndefined();
    expect(next(['accept_queue', 'cpu_throttled'], {}, { plan })).toBe('profile');
  });

  it('of memory helps a JVM alone, whose histogram says what fills it', () => {
    expect(next(['memory_near_limit'], { runtime: 'jvm' })).toBe('stacks');
    expect(next(['memory_near_limit'], { runtime: 'python' })).toBeUndefined();
    expect(next(['memory_near_limit'])).toBeUndefined();
  });

  it.each(['jvm', 'python', 'node', 'go', 'ruby', 'dotnet', 'native'] as const)(
    'of a %s program in which nothing is wrong is stacks, which sees inside',
    (runtime) => {
      expect(next([], { runtime })).toBe('stacks');
      expect(next(['go_max_procs'], { runtime })).toBe('stacks');
      expect(next(['disk_full'], { runtime })).toBeUndefined();
      expect(next([], { runtime }, { plan: { ...AS_TARGET, imageAlias: 'stacks' } })).toBeUndefined();
      expect(next([], { runtime }, { images: {} })).toBeUndefined();
    },
  );

  it('of a program in which nothing is wrong looks as its user, and is none where nobody knows what runs it', () => {
    expect(next([], { runtime: 'go' }, { plan: aPlan() })).toEqual([
      'stacks',
      { kind: 'identity', runAs: { uid: 7, gid: 7 } },
    ]);
    expect(next([], { runtime: 'python', ptraceScope: 3 })).toBeUndefined();
    expect(next([], { runtime: 'unknown' })).toBeUndefined();
    expect(next([])).toBeUndefined();
  });

  it('looks as whoever sees more of the target; the network is the same for everybody', () => {
    const identity = { kind: 'identity', runAs: { uid: 7, gid: 7 } };
    const plan = aPlan();
    expect(next(['accept_queue'], {}, { plan })).toEqual(['stacks', identity]);
    expect(next(['accept_queue'], { uid: 0 }, { plan })).toBe('stacks');
    expect(next(['peer_refused'], {}, { plan })).toBe('net');
    expect(next(['accept_queue'], {}, { sections: [blind] })).toEqual(['stacks', { kind: 'general' }]);
    expect(next(['peer_refused'], {}, { sections: [blind] })).toBe('net');
  });

  describe('of a Python target on a node with Yama', () => {
    const python = (ptraceScope: number) => ({ runtime: 'python', ptraceScope }) as const;
    const general = { kind: 'general' };

    it('needs root with general, which alone may attach', () => {
      expect(next(['accept_queue'], python(1))).toEqual(['stacks', general]);
      expect(next(['cpu_throttled'], python(2), { sections: [blind] })).toEqual(['profile', general]);
      expect(next(['accept_queue'], python(0))).toBe('stacks');
      expect(next(['accept_queue'], { runtime: 'jvm', ptraceScope: 1 })).toBe('stacks');
    });

    it('runs as the diagnosis did, if that was root with general already', () => {
      const securityContext = { runAsUser: 0, runAsGroup: 0, capabilities: { add: ['SYS_PTRACE'] } };
      expect(next(['accept_queue'], python(1), { plan: aPlan({ profile: 'general', securityContext }) })).toBe(
        'stacks',
      );
    });

    it('is not offered where nobody may attach; then the next finding leads on', () => {
      const observed = { earlierContainers: 0, podSecurity: 'restricted' } as const;
      expect(next(['accept_queue'], python(3))).toBeUndefined();
      expect(next(['accept_queue'], python(1), { plan: { ...AS_TARGET, observed } })).toBeUndefined();
      expect(next(['accept_queue', 'retransmits'], python(3))).toBe('net');
    });
  });
});

it('says who looked, as whom and at which cost', () => {
  const parts = {
    tool: { name: 'autodiagnose', version: '0.2.0' },
    self: { uid: 65532, gid: 0, capabilities: [] },
    cost: { milliseconds: 3_412, cpuMilliseconds: 410, memoryBytes: 2_310_144 },
  };
  expect(verdictOf(report(parts), aPlan(), undefined).by).toBe(
    'autodiagnose 0.2.0 · ran as 65532:0 with no capabilities · looked for 3.4 s · 0.4 s of CPU · 2.2 MiB of memory',
  );
  expect(verdictOf(report(), aPlan({ imageAlias: 'audit' }), undefined).by).toBe('audit');
});

describe('an end without a report', () => {
  const NOT_RUN: Outcome = { kind: 'start-failed', reason: 'RunContainerError', message: 'init was killed' };

  it('is explained by what is wrong with the target, and by nothing else', () => {
    const ended: Outcome = { kind: 'target-ended', exitCode: 137 };
    const explanation = explanationOf(facts(restarted('Error')), aPlan(), ended);
    expect(explanation?.findings[0]?.text).toContain('restarted 3 times');
    expect(explanation?.line).toBeUndefined();
    expect(explanationOf(facts({ pod: aPod() }), aPlan(), ended)).toBeUndefined();
  });

  it('is told as a lack of memory when the image’s own command could not be started in a limited pod', () => {
    const text = 'the pod very likely has no memory left to start in: its containers may use 2.0 GiB in all';
    const two = facts({ pod: aPod({ spec: { containers: [CONTAINER, { ...CONTAINER, name: 'beside' }] } }) });
    expect(explanationOf(two, aPlan(), NOT_RUN)?.findings).toMatchObject([
      { text, next: expect.stringMatching(/^Raise the memory limit/), rank: 1 },
    ]);
    const { memoryLimit: _, ...free } = CONTAINER;
    const unlimited = facts({ pod: aPod({ spec: { containers: [CONTAINER, free] } }) });
    expect(explanationOf(unlimited, aPlan(), NOT_RUN)).toBeUndefined();
    const sidecar = { ...free, name: 'proxy', restartPolicy: 'Always' };
    const besideFree = facts({ pod: aPod({ spec: { containers: [CONTAINER], initContainers: [sidecar] } }) });
    expect(explanationOf(besideFree, aPlan(), NOT_RUN)).toBeUndefined();
    expect(explanationOf(two, aPlan({ command: ['no-such-tool'] }), NOT_RUN)).toBeUndefined();
    const dead = aPod({
      spec: { containers: [CONTAINER] },
      status: { containerStatuses: [aStatus({ waiting: { reason: 'CrashLoopBackOff', message: '' } })] },
    });
    expect(explanationOf(facts({ pod: dead }), aPlan(), NOT_RUN)).toBeUndefined();
    expect(explanationOf(two, aPlan(), { ...NOT_RUN, reason: 'ImagePullBackOff' })).toBeUndefined();
  });
});
