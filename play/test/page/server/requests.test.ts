import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestDetail, RequestLine } from '../../../page/contract.ts';
import { openPage, type PageBed, SHOP } from './open-page.ts';

let page: PageBed;
let dispatcher: Agent;
beforeAll(async () => {
  page = await openPage();
  dispatcher = new Agent({ connect: { ca: page.cluster.caPem } });
  await page.type('/kdebug pod-1234 --image=debian -- echo hello');
  await page.bed.slack.until(() =>
    page.bed.slack.messages(SHOP).some(({ ts }) => page.bed.slack.thread(SHOP, ts).length > 0),
  );
});
afterAll(async () => {
  await dispatcher?.close();
  await page?.stop();
});

const lines = async (): Promise<readonly RequestLine[]> => (await page.snapshot()).requests;
async function detail(what: string): Promise<RequestDetail> {
  const line = (await lines()).find((each) => each.what === what);
  if (!line) throw new Error(`no ${what}`);
  return (await (await page.get(`/requests/${line.id}`)).json()) as RequestDetail;
}

describe('the requests of the bot', () => {
  it('are listed, those to Slack and those to the cluster', async () => {
    const told = (await lines()).map(({ to, what, status }) => `${to} ${what} ${status}`);
    expect(told).toContain('slack chat.postMessage 200');
    expect(told).toContain('kubernetes PATCH pods/ephemeralcontainers shop/pod-1234 200');
    expect(told).toContain('kubernetes WATCH pods shop 200');
    expect(told).toContain('kubernetes GET pods/log shop/pod-1234 200');
  });

  it('can be opened with both bodies', async () => {
    const post = await detail('chat.postMessage');
    expect(post.request).toMatchObject({ arguments: { channel: SHOP, blocks: expect.any(Array) } });
    expect(post.response).toMatchObject({ ok: true, channel: SHOP });
    const patch = await detail('PATCH pods/ephemeralcontainers shop/pod-1234');
    expect(patch.request).toMatchObject({
      method: 'PATCH',
      user: 'admin',
      body: { spec: { ephemeralContainers: [expect.objectContaining({ targetContainerName: 'web' })] } },
    });
    expect(patch.response).toMatchObject({ kind: 'Pod', metadata: { name: 'pod-1234' } });
  });

  it('hold no log and no token', async () => {
    expect(await detail('GET pods/log shop/pod-1234')).not.toHaveProperty('response');
    const { botToken, appToken, signingSecret } = page.bed.slack;
    for (const { id } of await lines()) {
      const text = await (await page.get(`/requests/${id}`)).text();
      for (const secret of [botToken, appToken, signingSecret, page.cluster.adminToken, page.token])
        expect(text).not.toContain(secret);
    }
  });

  it('are told while they run, and again with their answer', async () => {
    const stream = await page.stream();
    await page.type('/kdebug no-such-pod');
    const isGet = (status: number) => (change: { kind: string; request?: RequestLine }) =>
      change.kind === 'request' && change.request?.to === 'kubernetes' && change.request.status === status;
    await stream.until(isGet(0));
    await stream.until(({ kind, ...rest }) => isGet(200)({ kind, ...rest }) || isGet(404)({ kind, ...rest }));
    await stream.close();
  });

  it('are the bot’s alone', async () => {
    // A pod of which the bot knows nothing: it may still be busy with the request of another test.
    await fetchCluster('/api/v1/namespaces/shop/pods/ledger-crash-0');
    await page.get('/logs?namespace=shop&pod=ledger-crash-0&container=ledger').then((answer) => answer.body?.cancel());
    expect((await lines()).filter(({ what }) => what.includes('ledger-crash-0'))).toEqual([]);
  });

  it('are at most 500, of which each keeps at most 64 KiB a body', async () => {
    const kdebug = { 'user-agent': 'kdebug/test', 'content-type': 'application/json' };
    const big = JSON.stringify({ spec: { text: 'x'.repeat(300_000) } });
    await fetchCluster('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
      method: 'POST',
      headers: kdebug,
      body: big,
    });
    const last = (await lines()).at(-1);
    expect((await (await page.get(`/requests/${last?.id}`)).text()).length).toBeLessThan(200_000);
    const first = (await lines())[0];
    for (let count = 0; count < 510; count += 1) await fetchCluster('/api/v1/namespaces/shop', { headers: kdebug });
    const now = await lines();
    expect(now).toHaveLength(500);
    expect(now.map(({ id }) => id)).not.toContain(first?.id);
    expect((await page.get(`/requests/${first?.id}`)).status).toBe(404);
  });
});

interface ClusterRequest {
  readonly method?: 'POST';
  readonly headers?: object;
  readonly body?: string;
}

async function fetchCluster(path: string, options: ClusterRequest = {}): Promise<void> {
  const headers = { authorization: `Bearer ${page.cluster.adminToken}`, ...options.headers };
  const { body } = await request(`${page.cluster.url}${path}`, { method: 'GET', ...options, dispatcher, headers });
  await body.dump();
}
