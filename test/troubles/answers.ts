import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { createClusters } from '../../src/adapters/kubernetes/index.ts';
import type { Pod } from '../../src/core/container/pod.ts';
import type { ClusterFacts, WorkloadFacts } from '../../src/core/diagnosis/facts/facts.ts';
import type { Verdict } from '../../src/core/diagnosis/facts/verdict.ts';
import { firstAnswer } from '../../src/core/diagnosis/first-answer.ts';
import { firstWorkloadAnswer } from '../../src/core/diagnosis/workload/workload-answer.ts';
import { asChannelId } from '../../src/core/ids.ts';
import { podsOfTarget, type QuestionTarget } from '../../src/core/lookup/workload-sources.ts';
import type { WorkloadKind } from '../../src/core/request/command.ts';
import { targetContainerOf } from '../../src/core/request/target.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { FlowDeps } from '../../src/flow/context/deps.ts';
import { readPodFacts } from '../../src/flow/first-answer/pod-facts.ts';
import { readWorkloadFacts } from '../../src/flow/first-answer/workload-facts.ts';
import type { Cluster } from '../../src/flow/ports/cluster.ts';
import { diagnose } from '../../src/flow/run/collect.ts';
import { defined } from '../../src/lib/object.ts';
import { World } from '../flow/support/world.ts';
import { anOrigin, aPlan, aPolicy, aRule, aRun, aTermination } from '../support/builders.ts';
import { patientClock } from '../support/patient-clock.ts';
import type { Answered } from './judge.ts';
import { folderOf, podNamed, type Recording, type Trouble, troubleNames } from './trouble.ts';

const CLUSTER = 'prod';
const READER = { subject: { origin: anOrigin() }, cluster: CLUSTER };
const WORKLOAD = /^(deployment|statefulset|daemonset|replicaset|job|cronjob)\/(.+)$/;

export interface FromRecording extends Answered {
  readonly verdict: Verdict;
  /** Requests for anything but the pods, which are those of the open watch. */
  readonly calls: readonly string[];
}

export interface RecordedLook {
  readonly folder: string;
  readonly namespace: string;
  readonly podName: string;
  readonly logEnd: string;
}

/** Answers troubles from their recordings as kdebug does: its own adapter, reader of facts and rules, on a local cluster. */
export class RecordedTroubles {
  readonly #cluster: LocalCluster;
  readonly #folder = mkdtempSync(join(tmpdir(), 'kdebug-troubles-'));
  readonly #clusters: ReturnType<typeof createClusters>;
  readonly #deps: FlowDeps;

  static async open(): Promise<RecordedTroubles> {
    return new RecordedTroubles(await startLocalCluster({ kubeletDelayMs: 0 }));
  }

  constructor(cluster: LocalCluster) {
    this.#cluster = cluster;
    const kubeconfigPath = join(this.#folder, 'kubeconfig');
    writeFileSync(kubeconfigPath, cluster.kubeconfig, { mode: 0o600 });
    const rules = [aRule({ namespaces: [...troubleNames(), 'healthy-*'], targetLog: 'errors' })];
    const policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { name: '#shop-oncall', rules } } });
    const deps = new World({ policy }).deps();
    const clusters = { [CLUSTER]: { inCluster: false, default: true } };
    this.#clusters = createClusters({
      clusters: () => clusters,
      kubeconfigPath,
      log: deps.log,
      clock: patientClock,
      version: 'test',
    });
    this.#deps = { ...deps, clusters: this.#clusters, clock: patientClock };
  }

  async close(): Promise<void> {
    await this.#clusters.close();
    await this.#cluster.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The recording's moment is now. */
  async answer(trouble: Trouble, recording: Recording): Promise<FromRecording> {
    const namespace = trouble.name;
    this.#cluster.loadRecorded(`${folderOf(trouble.name)}recorded`, namespace);
    const verdict = await this.#verdict(trouble, { recording, namespace });
    const calls = this.#cluster.requests
      .find({ namespace })
      .filter(({ resource, subresource }) => resource !== 'pods' || subresource !== '')
      .map(({ verb, resource, subresource }) => `${verb} ${resource} ${subresource}`);
    return { ...answeredBy(verdict), verdict, calls };
  }

  /**
   * The run of a question about a pod in a recorded folder: with its first answer, and as it ends after a look that
   * left this log.
   */
  async look({
    folder,
    namespace,
    podName,
    logEnd,
  }: RecordedLook): Promise<{ readonly first: Run; readonly ended: Run }> {
    this.#cluster.loadRecorded(folder, namespace);
    const cluster = this.#clusters.get(CLUSTER);
    const pod = await cluster.pod(namespace, podName);
    const answered = firstAnswer(await this.#pod(cluster, pod));
    const { uid } = pod.metadata;
    const plan = aPlan({ cluster: CLUSTER, namespace, podName, podUid: uid, targetContainerName: 'app' });
    const first = aRun({ state: 'running', plan, verdict: answered, launchedAtMs: this.#deps.clock.now() });
    const outcome = { kind: 'succeeded' } as const;
    const output = { logEnd, terminationMessage: '', termination: aTermination(), outcome };
    const verdict = await diagnose(first, output, this.#deps);
    return { first, ended: { ...first, state: 'finished', outcome, ...defined({ verdict }) } };
  }

  async #verdict({ ask = '', askPod }: Trouble, { recording, namespace }: { recording: Recording; namespace: string }) {
    const cluster = this.#clusters.get(CLUSTER);
    const asked = workloadAsked(ask);
    if (asked) return firstWorkloadAnswer(await this.#workload(cluster, namespace, asked));
    const name = askPod === undefined ? ask : podNamed(recording, askPod);
    return firstAnswer(await this.#pod(cluster, await cluster.pod(namespace, name ?? '')));
  }

  #pod(cluster: Cluster, pod: Pod): Promise<ClusterFacts> {
    const target = targetContainerOf(pod, undefined);
    const targetContainerName = target.kind === 'container' ? target.container.name : undefined;
    return readPodFacts(pod, { cluster, targetContainerName, reader: READER }, this.#deps);
  }

  async #workload(cluster: Cluster, namespace: string, target: QuestionTarget): Promise<WorkloadFacts> {
    const pods = podsOfTarget(await cluster.pods(namespace, []), target);
    return readWorkloadFacts({ target, namespace, pods, reader: READER }, this.#deps);
  }
}

/** The workload that is asked about, if it is one. */
export function workloadAsked(ask: string | undefined): Extract<QuestionTarget, { kind: 'workload' }> | undefined {
  const [, workload, name = ''] = WORKLOAD.exec(ask ?? '') ?? [];
  return isWorkloadKind(workload) ? { kind: 'workload', workload, name } : undefined;
}

const isWorkloadKind = (kind: string | undefined): kind is WorkloadKind => kind !== undefined;

/** The lines in the order in which the card has them: the headline, then each finding with its next step. */
function answeredBy({ line = '', findings, fine, unseen = [], healthy }: Verdict): Answered {
  const found = findings.map(({ text, next }) => `${text} · ${next}`);
  const lines = [line, ...found, ...(fine === undefined ? [] : [fine]), ...unseen];
  return { head: lines.slice(0, 2), lines, isWell: healthy === true };
}
