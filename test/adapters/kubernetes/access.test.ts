import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Access } from '../../../src/adapters/kubernetes/access.ts';
import { ApiClient } from '../../../src/adapters/kubernetes/api/api-client.ts';
import { Connection } from '../../../src/adapters/kubernetes/api/connection.ts';
import type { AccessRequest, ActingAs } from '../../../src/flow/ports/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { ALL_RIGHTS, type AllowRule, ReviewServer } from './support/review-server.ts';

const ROY: ActingAs = { user: 'slack:U0ROY', groups: ['kdebug:C0SHOP', 'a,b'], slackUser: 'U0ROY' };
const JO: ActingAs = { user: 'slack:U0JO', groups: [], slackUser: 'U0JO' };
const FOR_ROY: AllowRule = { user: ROY.user, rights: ALL_RIGHTS };

const server = new ReviewServer();
let clock: FakeClock;
let connection: Connection;
let access: Access;

beforeAll(() => server.start());

beforeEach(() => {
  Object.assign(server, { rules: [], reviews: [], fault: undefined, forbids: () => undefined });
  clock = new FakeClock();
  const { kubeconfigPath } = server;
  connection = new Connection({ cluster: { inCluster: false, default: true }, kubeconfigPath }, clock);
  access = new Access(new ApiClient(connection, '0', clock), clock);
});

afterEach(() => connection.close());

afterAll(() => server.stop());

const ask = (who: Pick<AccessRequest, 'actingAs' | 'subject'> = {}, podName = 'web-1') =>
  access.of({ namespace: 'shop', podName, ...who });

describe('access to a pod', () => {
  it('is asked as the person, under the headers of the person, about all pods of the namespace', async () => {
    server.rules = [FOR_ROY];
    expect(await ask({ actingAs: ROY })).toEqual({ kind: 'allowed' });
    const asked = {
      path: 'selfsubjectaccessreviews',
      user: 'slack:U0ROY',
      slackUser: 'U0ROY',
      namespace: 'shop',
      name: '',
    };
    const groups = ['kdebug:C0SHOP', 'a,b', 'system:authenticated'];
    expect(server.reviews.toSorted((a, b) => ALL_RIGHTS.indexOf(a.right) - ALL_RIGHTS.indexOf(b.right))).toEqual(
      ALL_RIGHTS.map((right) => ({ ...asked, groups, right })),
    );
  });

  it('comes from a group of the person as well', async () => {
    server.rules = [{ group: 'a,b', rights: ALL_RIGHTS }];
    expect(await ask({ actingAs: ROY })).toEqual({ kind: 'allowed' });
  });

  it('is asked about a subject by the bot itself, with what every authenticated user has', async () => {
    server.rules = [{ group: 'shop-team', rights: ALL_RIGHTS }];
    expect(await ask({ subject: { user: 'roy', groups: ['shop-team'] } })).toEqual({ kind: 'allowed' });
    expect(server.reviews).toHaveLength(3);
    for (const review of server.reviews) {
      const groups = ['shop-team', 'system:authenticated'];
      expect(review).toMatchObject({ path: 'subjectaccessreviews', user: 'roy', groups, slackUser: '' });
    }
    expect(await ask({ subject: { user: 'roy', groups: [] } })).toMatchObject({ kind: 'denied' });
  });

  it('is asked about the bot when nobody is named', async () => {
    server.rules = [{ user: 'bot', rights: ALL_RIGHTS }];
    expect(await ask()).toEqual({ kind: 'allowed' });
    expect(new Set(server.reviews.map(({ path, user }) => `${path} ${user}`))).toEqual(
      new Set(['selfsubjectaccessreviews bot']),
    );
  });

  it.each([[ALL_RIGHTS], ...ALL_RIGHTS.map((right) => [[right]])])('says what lacks: %j', async (missing) => {
    server.rules = [{ user: ROY.user, rights: ALL_RIGHTS.filter((right) => !missing.includes(right)) }];
    expect(await ask({ actingAs: ROY })).toEqual({ kind: 'denied', reason: '', missing });
  });

  it('is another one in another namespace', async () => {
    server.rules = [FOR_ROY];
    await ask({ actingAs: ROY });
    expect(await access.of({ namespace: 'vault', podName: 'web-1', actingAs: ROY })).toMatchObject({ kind: 'denied' });
  });

  it('may be for one pod by name, and only what lacks is asked so', async () => {
    server.rules = [
      { user: ROY.user, rights: ['get pods', 'get pods/log'] },
      { user: ROY.user, rights: ['patch pods/ephemeralcontainers'], names: ['web-1'] },
    ];
    expect(await ask({ actingAs: ROY }, 'web-1')).toEqual({ kind: 'allowed' });
    expect(await ask({ actingAs: ROY }, 'web-2')).toMatchObject({ missing: ['patch pods/ephemeralcontainers'] });
    expect(server.reviews.filter(({ name }) => name !== '')).toHaveLength(2);
  });
});

describe('an answer that is known', () => {
  it('serves every pod of the namespace with three calls, also when all ask at once', async () => {
    server.rules = [FOR_ROY];
    const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => ask({ actingAs: ROY }, `web-${index}`)));
    expect(answers.every(({ kind }) => kind === 'allowed')).toBe(true);
    expect(server.reviews).toHaveLength(3);
  });

  it('is used for less than 30 s when it is a yes', async () => {
    server.rules = [FOR_ROY];
    await ask({ actingAs: ROY });
    server.rules = [];
    await clock.advance(29_999);
    expect(await ask({ actingAs: ROY })).toEqual({ kind: 'allowed' });
    await clock.advance(1);
    expect(await ask({ actingAs: ROY })).toMatchObject({ kind: 'denied' });
  });

  it('is used for less than 5 s when it is a no', async () => {
    await ask({ actingAs: ROY });
    const asked = server.reviews.length;
    server.rules = [FOR_ROY];
    await clock.advance(4_999);
    expect(await ask({ actingAs: ROY })).toMatchObject({ kind: 'denied' });
    expect(server.reviews).toHaveLength(asked);
    await clock.advance(1);
    expect(await ask({ actingAs: ROY })).toEqual({ kind: 'allowed' });
  });

  it('gets no younger by being used', async () => {
    server.rules = [FOR_ROY];
    await ask({ actingAs: ROY });
    await clock.advance(20_000);
    await ask({ actingAs: ROY });
    server.rules = [];
    await clock.advance(10_000);
    expect(await ask({ actingAs: ROY })).toMatchObject({ kind: 'denied' });
  });

  it.each([
    ['another person', { actingAs: JO }],
    ['the same user in other groups', { actingAs: { ...ROY, groups: ['kdebug:C0SHOP'] } }],
    ['the same user for another Slack user', { actingAs: { ...ROY, slackUser: 'U0EVE' } }],
    ['a subject of the same name and groups', { subject: { user: ROY.user, groups: ROY.groups } }],
    ['the bot', {}],
  ])('is never that of %s', async (_, other) => {
    server.rules = [FOR_ROY];
    await ask({ actingAs: ROY });
    server.rules = [];
    expect(await ask(other)).toMatchObject({ kind: 'denied' });
    expect(await ask({ actingAs: ROY })).toEqual({ kind: 'allowed' });
  });

  it('is forgotten when 5,000 others were used since, and no sooner', async () => {
    let calls = 0;
    const yes = () => {
      calls += 1;
      return Promise.resolve({ status: 201, body: { status: { allowed: true } } });
    };
    const bounded = new Access({ send: yes }, clock);
    const use = (index: number) => bounded.of({ namespace: `n${index}`, podName: 'web-1' });
    const callsOf = async (act: () => Promise<unknown>) => {
      const before = calls;
      await act();
      return calls - before;
    };
    for (let index = 0; index < 5_000; index += 1) await use(index);
    expect(await callsOf(() => use(0))).toBe(0);
    await use(5_000);
    expect([await callsOf(() => use(0)), await callsOf(() => use(1))]).toEqual([0, 3]);
  });
});

describe('what is no answer', () => {
  it.each([
    [500, 'cluster_failed'],
    [503, 'cluster_busy'],
    [404, 'cluster_failed'],
    ['reset', 'cluster_unreachable'],
  ] as const)('throws for %s as %s, and is asked again', async (fault, code) => {
    server.rules = [FOR_ROY];
    server.fault = fault;
    await expect(ask({ actingAs: ROY })).rejects.toMatchObject({ code });
    expect(await ask({ actingAs: ROY })).toEqual({ kind: 'allowed' });
  });

  it('throws to everyone who waits for it', async () => {
    server.fault = 500;
    const failed = { status: 'rejected', reason: { code: 'cluster_failed' } };
    expect(await Promise.allSettled([ask(), ask(), ask()])).toMatchObject([failed, failed, failed]);
  });

  it.each([{ status: {} }, { status: { allowed: 'true' } }, {}, undefined])('throws for the body %j', async (body) => {
    const odd = new Access({ send: () => Promise.resolve({ status: 201, body }) }, clock);
    await expect(odd.of({ namespace: 'shop', podName: 'web-1' })).rejects.toMatchObject({ code: 'cluster_failed' });
  });

  it.each([
    [
      { kind: 'users', name: 'slack:U0ROY' },
      '{apiGroups: [""], resources: [users], resourceNames: ["slack:U0ROY"], verbs: [impersonate]}',
    ],
    [
      { kind: 'groups', name: 'a,b' },
      '{apiGroups: [""], resources: [groups], resourceNames: ["a,b"], verbs: [impersonate]}',
    ],
    [
      { group: 'authentication.k8s.io', kind: 'userextras', name: 'U0ROY' },
      '{apiGroups: [authentication.k8s.io], resources: [userextras/slack-user], resourceNames: ["U0ROY"], verbs: [impersonate]}',
    ],
  ])('names the rule that kdebug lacks when it may not become the person: %j', async (details, rule) => {
    server.rules = [FOR_ROY];
    server.forbids = () => details;
    await expect(ask({ actingAs: ROY })).rejects.toMatchObject({
      code: 'cluster_forbidden',
      detail: expect.stringContaining(`kdebug's own account needs this rule in a ClusterRole: ${rule}`),
    });
  });

  it.each([
    [{ subject: { user: 'roy', groups: [] } }, "kdebug's own account"],
    [{ actingAs: ROY }, 'slack:U0ROY'],
  ])('names the rule that lacks when a review is forbidden', async (who, whose) => {
    server.forbids = ({ path }) => ({ group: 'authorization.k8s.io', kind: path });
    const kind = 'subject' in who ? 'subjectaccessreviews' : 'selfsubjectaccessreviews';
    const rule = `{apiGroups: [authorization.k8s.io], resources: [${kind}], verbs: [create]}`;
    await expect(ask(who)).rejects.toMatchObject({
      code: 'cluster_forbidden',
      detail: expect.stringContaining(`${whose} needs this rule in a ClusterRole: ${rule}`),
    });
  });

  it.each([
    { actingAs: { ...ROY, user: 'system:admin' } },
    { actingAs: { ...ROY, groups: ['system:masters'] } },
    { subject: { user: 'system:kube-scheduler', groups: [] } },
    { subject: { user: 'roy', groups: ['System:Masters'] } },
  ])('is never asked about what is Kubernetes’ own: %j', async (who) => {
    await expect(ask(who)).rejects.toMatchObject({ code: 'identity_reserved' });
    expect(server.reviews).toEqual([]);
  });

  it.each([
    ['Shop', 'web-1'],
    ['shop', '../secrets'],
  ])('is never asked about what is no name: %s/%s', async (namespace, podName) => {
    await expect(access.of({ namespace, podName })).rejects.toMatchObject({ code: 'invalid_name' });
    expect(server.reviews).toEqual([]);
  });
});
