import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../play/slack/index.ts';
import { tellStories } from '../e2e/stories.ts';
import { granted, usedSince } from './support/audit-log.ts';
import { Installation, type Way } from './support/installation.ts';
import { type Deed, tellMidRun } from './support/mid-run.ts';
import { INGRESS_PORT, SLACK_PORT } from './support/pod-network.ts';

const kubeconfig = readFileSync(process.env.KUBECONFIG ?? '', 'utf8');
const NAMES = ['socket', 'http', 'several', 'impersonate'] as const;
/** What may be refused: a right that is offered, and that results can do without. */
const OPTIONAL = ['nodes get'];
const DEEDS: Record<Way['name'], readonly Deed[]> = {
  socket: ['kill -9', 'a rollout', 'another policy', 'a wrong policy', 'an API server that is away'],
  http: ['a rollout'],
  several: [
    'kill -9',
    'a rollout',
    'new tokens in the Secret',
    'Redis that does not answer',
    'an API server that is away',
  ],
  impersonate: ['new tokens in the Secret'],
};
const EMPTY = 'version: 1\nclusters: { test: {} }\nimages: {}\nchannels: {}\n';

describe.each(NAMES)('installed by kustomize: %s', (name) => {
  const way: Way = { tool: 'kustomize', name };
  const sinceMs = Date.now();
  let slack: LocalSlack;
  let installation: Installation;

  beforeAll(async () => {
    slack = await startLocalSlack({ port: SLACK_PORT });
    if (way.name === 'http') slack.requestUrl = `http://127.0.0.1:${INGRESS_PORT}/slack/events`;
    installation = await Installation.install(way, slack, EMPTY);
  });

  afterAll(async () => {
    await slack?.stop();
  });

  tellStories(
    () =>
      Promise.resolve({
        kubeconfig,
        context: 'test',
        transport: way.name === 'http' ? 'http' : 'socket',
        longLogs: [40_000, 200_000],
        start: async ({ policy }) => {
          await installation.setPolicy(policy);
          return { slack, stop: () => Promise.resolve() };
        },
      }),
    () => Promise.resolve(),
    // What a kubelet says late it says to every bot alike: test/cluster has those.
    false,
  );

  tellMidRun(kubeconfig, () => ({ installation, slack }), DEEDS[name]);

  it('needs what it was given, and was given what it needs', async () => {
    const { verbs, refused } = usedSince(sinceMs);
    const rights = [...(await granted())].sort();
    const lacking = OPTIONAL.filter((right) => !rights.includes(right));
    expect([...refused].filter((right) => !lacking.includes(right))).toEqual([]);
    expect([...verbs].filter((right) => !lacking.includes(right)).sort()).toEqual(rights);
  });

  it('leaves nothing behind', async () => {
    expect(await installation.uninstall()).toEqual([]);
  });
});
