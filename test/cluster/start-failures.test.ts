import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig, type V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Kube } from '../e2e/kube.ts';
import { SecondRuns } from '../e2e/second-runs.ts';
import { PROGRAMS_MAP, programs, START_FAILURES, type StartFailure } from './starts/failures.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');
const config = new KubeConfig();
config.loadFromString(kubeconfig);

/** Of all that were seen. */
const GOAL = 10 / 12;
/** From the container's start to the answer in the thread. */
const GOAL_MS = 10_000;

interface Seen {
  readonly failure: StartFailure;
  /** What a person reads first. */
  readonly lines: readonly string[];
  readonly isNamed: boolean;
  /** From the approval, and from the container's own start, of which the kubelet tells the second; without one, from the approval. */
  readonly fromApprovalMs: number;
  readonly fromStartMs: number;
}

const waitingFor = ({ status }: V1Pod): string =>
  status?.containerStatuses?.find(({ name }) => name === 'app')?.state?.waiting?.reason ?? '';
/** After two restarts, the kubelet waits twenty seconds for the next one. */
const isDown = (pod: V1Pod): boolean =>
  waitingFor(pod) === 'CrashLoopBackOff' &&
  pod.status?.containerStatuses?.some(({ name, restartCount }) => name === 'app' && restartCount >= 2) === true;
const lacksImage = (pod: V1Pod): boolean => /ImagePull|ErrImage/.test(waitingFor(pod));

describe('a program that fails at its start', () => {
  const kube = new Kube(kubeconfig);
  const seen: Seen[] = [];
  const missing: string[] = [];
  let runs: SecondRuns;
  let namespace: string;

  beforeAll(async () => {
    namespace = await kube.namespace('kdebug-starts');
    const metadata = { name: PROGRAMS_MAP, namespace };
    await config
      .makeApiClient(CoreV1Api)
      .createNamespacedConfigMap({ namespace, body: { metadata, data: programs() } });
    // Each dies a few times before its turn, and waits the longer between two starts.
    await Promise.all(START_FAILURES.map(({ name, spec }) => kube.pod(namespace, name, spec, () => true)));
    const context = config.getCurrentContext();
    runs = await SecondRuns.open({ kubeconfig, context, transport: 'socket', longLogs: [] }, namespace);
  });

  afterAll(async () => {
    await runs?.bed.stop();
    await kube.cleanUp();
    console.log(tableOf(seen, missing));
  });

  async function runsAgain(failure: StartFailure): Promise<Seen | undefined> {
    const { name, truth } = failure;
    const pod = await kube.until(namespace, name, (each) => lacksImage(each) || isDown(each));
    if (lacksImage(pod)) return undefined;
    const { result, approvedAtMs, toldAtMs } = await runs.approved(`once-more ${name} -n ${namespace} --target=app`);
    const { status } = await kube.read(namespace, name);
    const startedAt = status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.startedAt;
    const lines = firstLinesOf(result);
    return {
      failure,
      lines,
      isNamed: truth.test(lines.join('\n')),
      fromApprovalMs: toldAtMs - approvedAtMs,
      fromStartMs: toldAtMs - (startedAt?.getTime() ?? approvedAtMs),
    };
  }

  it.each(START_FAILURES)('tells of $what', async (failure) => {
    const told = await runsAgain(failure);
    if (told === undefined) missing.push(`${failure.what}: no image ${failure.spec.containers[0]?.image}`);
    else seen.push(told);
  });

  it('is named by its cause in the first two lines, within ten seconds of its start', () => {
    const inTime = seen.filter(({ isNamed, fromStartMs }) => isNamed && fromStartMs <= GOAL_MS);
    expect(inTime.length).toBeGreaterThanOrEqual(GOAL * seen.length);
  });
});

/** Below the sender. */
const firstLinesOf = (result: string): readonly string[] =>
  result
    .split('\n')
    .slice(1)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, 2);

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function tableOf(seen: readonly Seen[], missing: readonly string[]): string {
  const rows = seen.map(({ failure, lines, isNamed, fromApprovalMs, fromStartMs }) =>
    [
      `${isNamed ? 'named' : 'NOT NAMED'}: ${failure.what}, ${seconds(fromApprovalMs)} after the approval, ${seconds(fromStartMs)} after its start`,
      ...lines.map((line) => `    ${line}`),
    ].join('\n'),
  );
  const count = seen.filter(({ isNamed }) => isNamed).length;
  const slowest = seconds(Math.max(0, ...seen.map(({ fromStartMs }) => fromStartMs)));
  return [
    ...rows,
    ...missing.map((line) => `skipped: ${line}`),
    `named ${count} of ${seen.length}, the slowest after ${slowest}`,
  ].join('\n');
}
