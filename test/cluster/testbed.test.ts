import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig, type V1Pod, type V1SecurityContext } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { securityContextOf } from '../../src/core/container/profiles.ts';
import { Kube } from '../e2e/kube.ts';
import { Looks } from './autodiagnose-looks.ts';
import { type Judgement, judge, type Read, readOf } from './testbed/judge.ts';
import { chosenStates, type ImageName, podOf, type State } from './testbed/states.ts';

const kubeconfigPath = process.env.KUBECONFIG ?? '';
/** Where the images under test are, so that those of a branch can be judged too. */
const PREFIX = process.env.KDEBUG_TESTBED_IMAGES ?? 'localhost/';
/** Pods at once: each may use a CPU. */
const AT_ONCE = Number(process.env.KDEBUG_TESTBED_PODS ?? 2);
/** Somebody who asks for some states reads each look. */
const isAsked = !['all', undefined].includes(process.env.KDEBUG_TESTBED);
/** Of true and useful looks. */
const GOAL = 0.95;

interface Look {
  readonly state: State;
  readonly image: ImageName;
  readonly judgement: Judgement;
  readonly read: Read;
  readonly cost: Cost;
}

interface Cost {
  readonly cpuShare?: number;
  readonly memoryShare?: number;
  /** The time that the program took to answer during the look, in that of the time before. */
  readonly latency?: number;
}

const AS_TARGET: V1SecurityContext = JSON.parse(
  JSON.stringify(securityContextOf('restricted', { uid: 10001, gid: 10001 })),
);

const isUp = ({ status }: V1Pod): boolean =>
  status?.containerStatuses?.every(({ state }) => state?.running !== undefined) === true;
const lacksImage = ({ status }: V1Pod): boolean =>
  status?.containerStatuses?.some(({ state }) => /ImagePull|ErrImage/.test(state?.waiting?.reason ?? '')) === true;

describe.skipIf(kubeconfigPath === '')('the test bed', () => {
  const states = chosenStates(process.env.KDEBUG_TESTBED);
  let kube: Kube;
  let looks: Looks;
  let core: CoreV1Api;
  let namespace = '';

  beforeAll(async () => {
    const kubeconfig = readFileSync(kubeconfigPath, 'utf8');
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    core = config.makeApiClient(CoreV1Api);
    kube = new Kube(kubeconfig);
    looks = new Looks(kubeconfig);
    namespace = await kube.namespace('kdebug-testbed', 'restricted');
  });
  afterAll(() => kube?.cleanUp());

  const loadLog = (name: string): Promise<string> =>
    core.readNamespacedPodLog({ namespace, name, container: 'load', timestamps: true });

  /** Starts the pod and waits until its state holds; undefined without its image. */
  async function podIn(state: State): Promise<string | undefined> {
    const { metadata, spec } = podOf(state);
    const name = metadata?.name ?? '';
    const pod = await kube.pod(namespace, name, spec ?? { containers: [] }, (each) => isUp(each) || lacksImage(each));
    if (lacksImage(pod)) return undefined;
    await expect.poll(() => loadLog(name), { timeout: 120_000, interval: 500 }).toMatch(/ holds$/m);
    return name;
  }

  async function lookAt(state: State, image: ImageName, name: string): Promise<Look> {
    const began = Date.now();
    const { diagnosis } = await looks.report(namespace, name, {
      image: `${PREFIX}${image}:1`,
      env: { KDEBUG_TARGET: 'app' },
      securityContext: AS_TARGET,
    });
    const read = readOf(diagnosis, image, name);
    const limits = podOf(state).spec?.containers[0]?.resources?.limits ?? {};
    const { milliseconds = 0, cpuMilliseconds = 0, memoryBytes = 0 } = diagnosis.cost ?? {};
    const latency = latencyRatio(await loadLog(name), began);
    const cost = {
      cpuShare: cpuMilliseconds / Math.max(1, milliseconds) / coresOf(limits.cpu),
      memoryShare: memoryBytes / bytesOf(limits.memory),
      ...(latency !== undefined && { latency }),
    };
    return { state, image, judgement: judge(state, image, read), read, cost };
  }

  async function looksAt(state: State): Promise<readonly Look[]> {
    const name = await podIn(state);
    if (name === undefined) {
      console.log(
        `skipped: no image localhost/bed-${state.program}:1 (sh images/testbed/layout.sh LOADER ${state.program})`,
      );
      return [];
    }
    const seen: Look[] = [];
    for (const image of Object.keys(state.looks) as ImageName[]) {
      const look = await lookAt(state, image, name);
      if (look.judgement !== 'true and useful' || isAsked) console.log(wordsOf(look));
      seen.push(look);
    }
    await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 });
    return seen;
  }

  it('is told the truth about by the images, in the first two lines', async () => {
    const left = [...states];
    const seen: Look[] = [];
    const broken: string[] = [];
    const worker = async () => {
      for (let state = left.shift(); state !== undefined; state = left.shift())
        seen.push(
          ...(await looksAt(state).catch((error) => {
            broken.push(`${state?.program} ${state?.name}: ${String(error).slice(0, 500)}`);
            return [];
          })),
        );
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const count = (judgement: Judgement) => seen.filter((look) => look.judgement === judgement).length;
    const good = count('true and useful');
    console.log(
      [
        ...broken.map((line) => `did not run: ${line}`),
        costWords(seen),
        `looks ${seen.length}, true and useful ${good}, misleading ${count('misleading')}, false alarms ${count('false alarm')}`,
      ].join('\n'),
    );
    expect(broken).toEqual([]);
    const wrong = seen.filter(({ judgement }) => judgement === 'misleading' || judgement === 'false alarm');
    expect(wrong.map(wordsOf)).toEqual([]);
    expect(good / Math.max(1, seen.length)).toBeGreaterThanOrEqual(seen.length === 0 ? 0 : GOAL);
  });
});

function wordsOf({ state, image, judgement, read }: Look): string {
  const what = state.what ?? 'healthy';
  return [
    `${judgement}: ${image} at ${state.program} ${state.name} (${what})`,
    ...read.lines.map((line, at) => `    ${at === 0 ? `[${read.tone}] ` : ''}${line}`),
  ].join('\n');
}

const middle = (values: readonly number[]): number | undefined =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** `during a look of net: 1% of the pod's CPU, 15% of its memory, 1.1 times the latency (the middle of 17 looks)`. */
function costWords(seen: readonly Look[]): string {
  const images = [...new Set(seen.map(({ image }) => image))];
  const lines = images.map((image) => {
    const own = seen.filter((look) => look.image === image).map(({ cost }) => cost);
    const of = (key: keyof Cost) => middle(own.flatMap((cost) => cost[key] ?? [])) ?? Number.NaN;
    const percent = (share: number) => `${Math.round(share * 100)}%`;
    return `during a look of ${image}: ${percent(of('cpuShare'))} of the pod’s CPU, ${percent(of('memoryShare'))} of its memory, ${of('latency').toFixed(1)} times the latency (the middle of ${own.length} looks)`;
  });
  return lines.join('\n');
}

/** Lines as `2026-11-25T02:55:36.123456789Z ok 2.1`, of the ten seconds before a moment and since. */
function latencyRatio(log: string, began: number): number | undefined {
  const answers = [...log.matchAll(/^(\S+) ok ([\d.]+)$/gm)].map(
    ([, at = '', ms]) => [Date.parse(at), Number(ms)] as const,
  );
  const before = middle(answers.filter(([at]) => at < began && at > began - 10_000).map(([, ms]) => ms));
  const during = middle(answers.filter(([at]) => at >= began).map(([, ms]) => ms));
  return before === undefined || during === undefined || before === 0 ? undefined : during / before;
}

const coresOf = (cpu = '1'): number => (cpu.endsWith('m') ? Number(cpu.slice(0, -1)) / 1000 : Number(cpu));
const bytesOf = (memory = '1Gi'): number =>
  Number.parseInt(memory, 10) * (memory.endsWith('Gi') ? 1024 ** 3 : 1024 ** 2);
