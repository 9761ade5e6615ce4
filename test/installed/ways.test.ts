import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../play/slack/index.ts';
import { tellStories } from '../e2e/stories.ts';
import { granted, usedSince } from './support/audit-log.ts';
import { hasHelm } from './support/commands.ts';
import { Installation } from './support/installation.ts';
import { type Deed, tellMidRun } from './support/mid-run.ts';
import { INGRESS_PORT, SLACK_PORT } from './support/pod-network.ts';
import type { Way } from './support/policy.ts';

const kubeconfig = readFileSync(process.env.KUBECONFIG ?? '', 'utf8');
const NAMES = ['socket', 'http', 'several', 'impersonate'] as const;
/** Who tells all stories; the others tell those of one run. Each has what happens in mid-run. */
const TOLD_ALL: readonly Way['name'][] = ['socket'];
/** What may be refused: a right that is offered, and that results can do without. */
const OPTIONAL = [
  'nodes get',
  'persistentvolumeclaims list',
  'storage.k8s.io/storageclasses list',
  'services list',
  'discovery.k8s.io/endpointslices list',
  ...['deployments', 'replicasets', 'statefulsets', 'daemonsets'].map((kind) => `apps/${kind} get`),
  ...['jobs', 'cronjobs'].map((kind) => `batch/${kind} get`),
];
const DEEDS: Record<Way['name'], readonly Deed[]> = {
  socket: ['kill -9', 'a rollout', 'another policy', 'a wrong policy', 'an API server that is away'],
  http: ['a rollout'],
  // New tokens last: a replica on its way out, which has the old ones, may still take a command and refuses it.
  several: ['kill -9', 'a rollout', 'Redis that does not answer', 'new tokens in the Secret'],
  impersonate: ['new tokens in the Secret'],
};
const EMPTY = 'version: 1\nclusters: { test: {} }\nimages: {}\nchannels: {}\n';

describe.each(NAMES)('installed by kustomize: %s', (name) => {
  const way: Way = { tool: 'kustomize', name };
  let sinceMs: number;
  let slack: LocalSlack;
  let installation: Installation;

  beforeAll(async () => {
    sinceMs = Date.now();
    ({ slack, installation } = await open(way));
  });

  afterAll(() => slack?.stop());

  tellStories(
    () =>
      Promise.resolve({
        kubeconfig,
        context: 'test',
        transport: way.name === 'http' ? 'http' : 'socket',
        longLogs: [40_000, 200_000],
        // Slow enough that no file is full before anyone can read it (src/adapters/kubernetes/complete-log/README.md).
        linesPerSecond: 40_000,
        start: async ({ policy }) => {
          await installation.setPolicy(policy);
          return { slack, stop: () => Promise.resolve() };
        },
      }),
    () => Promise.resolve(),
    // What a kubelet says late it says to every bot alike: test/cluster has those.
    false,
    TOLD_ALL.includes(name),
  );

  tellMidRun(
    kubeconfig,
    () => ({ installation, slack }),
    DEEDS[name],
    () => {
      it('needs what it was given, and was given what it needs', async () => {
        expect(await rightsOf(sinceMs)).toEqual({ refused: [], unused: [], ungranted: [] });
      });
    },
  );

  it('leaves nothing behind', async () => {
    expect(await installation.uninstall()).toEqual([]);
  });
});

describe.runIf(hasHelm).each(NAMES)('installed by helm: %s', (name) => {
  const way: Way = { tool: 'helm', name };
  let sinceMs: number;
  let slack: LocalSlack;
  let installation: Installation;

  beforeAll(async () => {
    sinceMs = Date.now();
    ({ slack, installation } = await open(way));
  });

  afterAll(() => slack?.stop());

  tellMidRun(
    kubeconfig,
    () => ({ installation, slack }),
    ['kill -9'],
    () => {
      it('asks for nothing that it was not given', async () => {
        expect(await rightsOf(sinceMs)).toMatchObject({ refused: [], ungranted: [] });
      });
    },
  );

  it('leaves nothing behind', async () => {
    expect(await installation.uninstall()).toEqual([]);
  });
});

async function open(way: Way): Promise<{ readonly slack: LocalSlack; readonly installation: Installation }> {
  const slack = await startLocalSlack({ port: SLACK_PORT });
  if (way.name === 'http') slack.requestUrl = `http://127.0.0.1:${INGRESS_PORT}/slack/events`;
  try {
    return { slack, installation: await Installation.install(way, slack, EMPTY) };
  } catch (error) {
    await slack.stop();
    throw error;
  }
}

/** What the bot's account was refused, was given and did not use, and used without being given it by name. */
async function rightsOf(sinceMs: number) {
  const { verbs, refused } = usedSince(sinceMs);
  const { ours, everybodys } = await granted();
  const isOptional = (right: string): boolean => OPTIONAL.includes(right) && !ours.has(right);
  return {
    refused: [...refused].filter((right) => !isOptional(right)),
    unused: [...ours].filter((right) => !verbs.has(right)),
    ungranted: [...verbs].filter((right) => !ours.has(right) && !everybodys.has(right) && !isOptional(right)),
  };
}
