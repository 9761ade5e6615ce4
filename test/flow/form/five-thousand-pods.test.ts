import { afterAll, beforeAll, expect, it } from 'vitest';
import { KubernetesCluster } from '../../../src/adapters/kubernetes/cluster.ts';
import { systemClock } from '../../../src/adapters/system/index.ts';
import { LookupLimiter } from '../../../src/flow/context/accept.ts';
import { searchOptions } from '../../../src/flow/form/search.ts';
import { rawPod, ScriptedApiServer } from '../../adapters/kubernetes/support/scripted-api-server.ts';
import { World } from '../support/world.ts';

const PODS = 5_000;
const PAGE = 500;
const silent = () => {};

const server = new ScriptedApiServer();
let cluster: KubernetesCluster;
beforeAll(async () => {
  await server.start();
  const pods = Array.from({ length: PODS }, (_, index) => rawPod(`shop-web-7d9f8b6c5-${index}`));
  server.always(/^GET \/api\/v1\/namespaces\/shop\/pods$/, ({ query }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (query.watch !== undefined) return response.flushHeaders();
    const from = Number(query.continue ?? 0);
    const next = from + PAGE < PODS ? { continue: String(from + PAGE) } : {};
    response.end(JSON.stringify({ metadata: { resourceVersion: '1', ...next }, items: pods.slice(from, from + PAGE) }));
  });
  const source = { cluster: { inCluster: false, default: true }, kubeconfigPath: server.kubeconfig() };
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  cluster = new KubernetesCluster({ name: 'prod', source, version: '0', log, clock: systemClock });
});
afterAll(async () => {
  await cluster.close();
  await server.stop();
  expect(server.unexpected).toEqual([]);
});

it('are listed once, and searched from memory: as many options as tell that there are others', async () => {
  const deps = { ...new World().deps(), clusters: { get: () => cluster }, clock: systemClock };
  const actor = { teamId: 'T0TEAM', userId: 'U0ROY', channelId: 'C0SHOP', receivedAtMs: 0 };
  await cluster.pods('shop', []);
  const searches = ['', 's', 'shop', 'web 49', '7d9f8b6c5-4999', 'nothing-like-it'];
  for (const typed of searches) {
    const found = await searchOptions(
      { ...actor, field: 'pod', typed, value: '{"namespace":"shop"}' },
      { deps, searches: new LookupLimiter(deps, 20) },
    );
    expect(found.length).toBeLessThanOrEqual(102);
    expect(found.length).toBeGreaterThan(0);
  }
  // Ten pages of one list: no search sends a request.
  expect(server.requests.filter(({ query }) => query.watch === undefined)).toHaveLength(PODS / PAGE);
});
