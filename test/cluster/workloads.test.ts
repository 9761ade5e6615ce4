import { readFileSync } from 'node:fs';
import { AppsV1Api, BatchV1Api, KubeConfig, type V1PodTemplateSpec } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Bed } from '../../play/app/bed.ts';
import { describeMessage } from '../../play/slack/index.ts';
import { Kube } from '../e2e/kube.ts';
import { startPatientBed } from '../support/patient-bed.ts';

const path = process.env.KUBECONFIG;
if (path === undefined) throw new Error('KUBECONFIG names no cluster: set it to the kubeconfig of a test cluster');
const kubeconfig = readFileSync(path, 'utf8');
const CHANNEL = 'C0SHOP';
const BUSYBOX = 'localhost/busybox:1';

const policyFor = (context: string, namespace: string): string => `version: 1
clusters:
  test: { context: "${context}", default: true }
identity: { mode: serviceAccount }
images:
  look: { image: "${BUSYBOX}", class: observe, command: allowed }
channels:
  ${CHANNEL}:
    rules:
      - { id: look, clusters: [test], namespaces: [${namespace}], classes: [observe, intrusive], profiles: [restricted, baseline, general], batch: { maxPods: 20, maxParallelism: 10 } }
limits: { runsPerUserPerMinute: 100, runsPerUser: 100, pendingApprovalsPerUser: 100, ephemeralContainersPerPodAndUser: 100 }
`;

const template = (name: string): V1PodTemplateSpec => ({
  metadata: { labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'app', image: BUSYBOX, imagePullPolicy: 'IfNotPresent', command: ['sleep', '3600'] }],
  },
});

/** The pods of a workload, as the cluster's own controllers make them: through owners, not through labels. */
describe('a batch over the pods of', () => {
  let bed: Bed;
  let kube: Kube;
  let namespace: string;

  beforeAll(async () => {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    kube = new Kube(kubeconfig);
    namespace = await kube.namespace('kdebug-workloads');
    const [apps, jobs] = [config.makeApiClient(AppsV1Api), config.makeApiClient(BatchV1Api)];
    const of = (name: string) => ({ selector: { matchLabels: { app: name } }, template: template(name) });
    const named = (name: string) => ({ metadata: { name } });
    await apps.createNamespacedDeployment({
      namespace,
      body: { ...named('web'), spec: { replicas: 3, ...of('web') } },
    });
    // Its ReplicaSet's name begins with the other's.
    const admin = { ...named('web-admin'), spec: { replicas: 1, ...of('web-admin') } };
    await apps.createNamespacedDeployment({ namespace, body: admin });
    const db = {
      ...named('db'),
      spec: { replicas: 2, serviceName: 'db', podManagementPolicy: 'Parallel', ...of('db') },
    };
    await apps.createNamespacedStatefulSet({ namespace, body: db });
    await apps.createNamespacedDaemonSet({ namespace, body: { ...named('agent'), spec: of('agent') } });
    const work = template('work');
    const once = { ...work, spec: { containers: [], ...work.spec, restartPolicy: 'Never' } };
    await jobs.createNamespacedJob({ namespace, body: { ...named('work'), spec: { template: once } } });
    await kube.running(namespace, 8);
    bed = await startPatientBed({
      kubeconfig,
      policy: policyFor(config.getCurrentContext(), namespace),
      transport: 'socket',
    });
  });

  afterAll(async () => {
    await bed?.stop();
    await kube?.cleanUp();
  });

  async function ask(words: string): Promise<string> {
    const [cards, privately] = [bed.slack.messages(CHANNEL).length, bed.slack.ephemerals('U0GINGER').length];
    await bed.slack.deliver.command({ user: 'U0GINGER', channel: CHANNEL, text: words });
    return bed.slack.until(() => {
      const told = bed.slack.ephemerals('U0GINGER')[privately];
      const card = bed.slack.messages(CHANNEL)[cards];
      const said = told ?? (card && bed.slack.thread(CHANNEL, card.ts).at(0));
      return said && describeMessage(bed.slack.state, said, { times: false }).join('\n');
    }, 60_000);
  }

  it.each([
    ['deployment/web', 3],
    ['deployment/web-admin', 1],
    ['statefulset/db', 2],
    ['daemonset/agent', 1],
    ['job/work', 1],
    ['--all', 8],
    ["-l 'app in (web, db)'", 5],
  ])('%s: %i', async (target, pods) => {
    const result = await ask(`${target} -n ${namespace} --image=look --parallelism=4 -- true`);
    const [on, succeeded] = pods === 1 ? ['1 pod', 'the run'] : [`${pods} pods`, 'all runs'];
    expect(result).toContain(`look on ${on} in ${namespace}: ${succeeded} succeeded`);
  });

  it.each(['deployment/we', 'statefulset/web', 'job/agent'])('%s: none, at once', async (target) => {
    expect(await ask(`${target} -n ${namespace} --image=look -- true`)).toMatch(/no pod matches/i);
  });
});
