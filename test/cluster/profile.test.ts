import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectValid } from '../../images/test/autodiagnose/script.ts';
import { table, withPart } from '../../scripts/generated.ts';
import { type Profile, securityContextOf, type UserAndGroup } from '../../src/core/container/profiles.ts';
import type { Diagnosis } from '../../src/core/diagnosis/facts/report.ts';
import { parseDiagnosis } from '../../src/core/diagnosis/marked-report.ts';
import { Kube } from '../e2e/kube.ts';
import { Looks, podOf } from './autodiagnose-looks.ts';
import { filesInLog } from './files-in-log.ts';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
const PAGE = new URL('../../docs/profile.md', import.meta.url);
const NAMES = { jvm: 'a JVM', python: 'Python', node: 'Node.js', go: 'Go with pprof' } as const;
type Name = keyof typeof NAMES;
const TARGETS = Object.keys(NAMES) as Name[];
const TARGET_USER = { uid: 10001, gid: 10001 };
const STRANGER = { uid: 65532, gid: 65532 };
const ROOT = { uid: 0, gid: 0 };

/** How the target's container is set up, beside running as 10001:10001 without capabilities. */
const SETUPS = {
  plain: {},
  'read-only root': { readOnlyRootFilesystem: true },
} as const;

interface Target {
  readonly level: 'restricted' | 'baseline' | 'privileged';
  readonly setup: keyof typeof SETUPS;
}

interface Row extends Target {
  readonly profile: Profile;
  readonly runAs: UserAndGroup;
}

type Pod = readonly [namespace: string, name: string];

/** Each profile under the strictest level that admits it. */
const ROWS: readonly Row[] = [
  { level: 'restricted', profile: 'restricted', runAs: TARGET_USER, setup: 'plain' },
  { level: 'restricted', profile: 'restricted', runAs: TARGET_USER, setup: 'read-only root' },
  { level: 'restricted', profile: 'restricted', runAs: STRANGER, setup: 'plain' },
  { level: 'baseline', profile: 'baseline', runAs: ROOT, setup: 'plain' },
  { level: 'privileged', profile: 'general', runAs: ROOT, setup: 'plain' },
];

/** What the loop of each target spends its time in. */
const LOOP = /recompute|discount|loopOverPrices|loop_over_prices/;

describe.skipIf(kubeconfigPath === '')('what a profile can see', () => {
  let kube: Kube;
  let looks: Looks;
  const namespaces = new Map<string, string>();

  beforeAll(async () => {
    const kubeconfig = readFileSync(kubeconfigPath, 'utf8');
    kube = new Kube(kubeconfig);
    looks = new Looks(kubeconfig);
    const levels = [...new Set(ROWS.map(({ level }) => level))];
    for (const level of levels) namespaces.set(level, await kube.namespace('kdebug-profile', level));
  });
  afterAll(() => kube?.cleanUp());

  async function podFor(name: Name, { level, setup }: Target): Promise<Pod> {
    const namespace = namespaces.get(level) ?? '';
    const pod = `${name}-${setup === 'plain' ? 'plain' : 'read-only'}`;
    const securityContext = { ...restricted(TARGET_USER), ...SETUPS[setup] };
    const env = [{ name: 'HOT', value: '0.6' }];
    await kube.pod(namespace, pod, podOf({ image: `localhost/target-${name}:1`, env, securityContext }));
    await ready(namespace, pod);
    return [namespace, pod];
  }

  /** A JVM that has just begun cannot be asked for anything. */
  async function ready(namespace: string, pod: string): Promise<void> {
    for (let left = 1_500; !(await looks.log(namespace, pod)).includes('ready'); left -= 1) {
      if (left === 0) throw new Error(`${pod} does not say that it is ready`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async function profileOf([namespace, pod]: Pod, row: Row, seconds: number): Promise<readonly [Diagnosis, string]> {
    const context = securityContextOf(row.profile, row.runAs);
    const container = await looks.start(namespace, pod, {
      image: 'localhost/profile:1',
      env: { PROFILE_SECONDS: String(seconds) },
      ...(context && { securityContext: JSON.parse(JSON.stringify(context)) }),
    });
    const { state, log } = await looks.ended(namespace, pod, container);
    const diagnosis = parseDiagnosis(log, '');
    if (diagnosis === undefined) throw new Error(`no report: ${state.exitCode} ${log}`);
    expectValid(/-----BEGIN KDEBUG REPORT-----\n(.*)\n-----END/.exec(log)?.[1] ?? '');
    expectValid(state.message ?? '');
    return [diagnosis, log];
  }

  /** Looks at the target as it is after the profile: what it has in /tmp, and where it listens. */
  async function tracesIn(namespace: string, pod: string): Promise<string> {
    const script =
      'ls /proc/1/root/tmp; while read -r _ local _ state _; do echo "listens $local $state"; done </proc/1/net/tcp';
    const container = await looks.start(namespace, pod, {
      image: 'localhost/busybox:1',
      args: ['/bin/sh', '-c', script],
      securityContext: restricted(TARGET_USER),
    });
    return (await looks.ended(namespace, pod, container)).log;
  }

  /** On a full machine a target may get too little CPU for a share to be told: then it is looked at again, for longer. */
  async function profileWithCpu(pod: Pod, row: Row) {
    for (let seconds = 5; ; seconds *= 2) {
      const [diagnosis, log] = await profileOf(pod, row, seconds);
      const section = diagnosis.sections.find((each) => each.name === 'profile');
      const files = filesInLog(log);
      const isTold = files.size > 0 && !diagnosis.verdict.includes('too little to tell where');
      if (section?.state === 'not-readable' || isTold || seconds >= 40) return { diagnosis, files, section };
    }
  }

  async function cellsOf(name: Name, pod: Pod, row: Row): Promise<readonly string[]> {
    const { diagnosis, files, section } = await profileWithCpu(pod, row);
    const isSeen = section?.state !== 'not-readable';
    if (isSeen) expectFiles(files, diagnosis);
    else expect([...files.keys()]).toEqual([]);
    const user = `${row.runAs.uid}:${row.runAs.gid}${row.runAs === TARGET_USER ? " (the target's own)" : ''}`;
    const found = isSeen ? 'yes' : `no: it lacks ${section?.lacks ?? 'something that it did not name'}`;
    return [NAMES[name], row.level, `*${row.profile}*`, user, row.setup, found];
  }

  /** One pod at a time: each is busy as long as it lives. */
  async function rowsOf(name: Name): Promise<readonly (readonly string[])[]> {
    const rows = new Map<Row, readonly string[]>();
    for (const first of ROWS) {
      if (rows.has(first)) continue;
      const pod = await podFor(name, first);
      for (const row of ROWS.filter(({ level, setup }) => level === first.level && setup === first.setup)) {
        rows.set(row, await cellsOf(name, pod, row));
      }
      const traces = await tracesIn(...pod);
      expect(traces).not.toMatch(/kdebug|\.jfr|\.jfc/);
      // 9229, the inspector of Node.js.
      expect(traces).not.toMatch(/listens \w+:240D 0A/);
      await kube.remove(...pod);
    }
    return ROWS.map((row) => rows.get(row) ?? []);
  }

  it('is what docs/profile.md says, by runtime, profile and Pod Security level', async () => {
    const rows = await Promise.all(TARGETS.map(rowsOf));
    const head = ['runtime', 'Pod Security', 'profile', 'runs as', 'target', 'a profile'];
    const page = readFileSync(PAGE, 'utf8');
    const next = withPart(page, 'profile-visibility', table(head, rows.flat()));
    if (process.env.KDEBUG_WRITE_DOCS === '1') writeFileSync(PAGE, next);
    else expect(page).toBe(next);
  });
});

/** The three files are whole, say the same, and name the loop. */
function expectFiles(files: ReadonlyMap<string, Buffer>, diagnosis: Diagnosis): void {
  expect([...files.keys()], diagnosis.verdict).toEqual(['cpu.png', 'cpu.svg', 'cpu.speedscope.json', 'cpu.folded']);
  const folded = String(files.get('cpu.folded'));
  expect(folded).toMatch(LOOP);
  expect(diagnosis.verdict).toMatch(/% of the CPU time goes into|No function takes half/);
  const scope = JSON.parse(String(files.get('cpu.speedscope.json')));
  const total = folded.split('\n').reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  expect(scope.profiles[0].endValue).toBe(total);
  const picture = String(files.get('cpu.svg'));
  expect(picture).toMatch(/^<svg [^>]*>[\s\S]*<\/svg>\n$/);
  expect(picture).toMatch(LOOP);
  expect(picture).not.toMatch(/<script|onclick|href/);
}

/** As the API's types take it: they have no readonly lists. */
const restricted = (user: UserAndGroup) => JSON.parse(JSON.stringify(securityContextOf('restricted', user)));
