import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { startLocalCluster } from './play/cluster/index.ts';
const K = '/run/kdebug-cluster';
const local = await startLocalCluster({ kubeletDelayMs: 0 });
const rv = new Agent({ connect: { ca: readFileSync(`${K}/ca.crt`), cert: readFileSync(`${K}/admin.crt`), key: readFileSync(`${K}/admin.key`) } });
const sides = [
  { url: 'https://127.0.0.1:16443', d: rv, h: {} },
  { url: local.url, d: new Agent({ connect: { ca: local.caPem } }), h: { authorization: `Bearer ${local.adminToken}` } },
];
const norm = (t: string) => {
  let j: any; try { j = JSON.parse(t); } catch { return t; }
  const walk = (v: any): any => Array.isArray(v) ? v.map(walk) : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).filter(([k]) => !['managedFields', 'uid', 'resourceVersion', 'creationTimestamp', 'annotations'].includes(k)).sort(([a],[b]) => a < b ? -1 : 1).map(([k, x]) => [k, walk(x)])) : v;
  if (j.kind === 'Pod' || j.kind==='Namespace') return j.kind;
  return JSON.stringify(walk(j));
};
const R = '/apis/rbac.authorization.k8s.io/v1', A = '/apis/authorization.k8s.io/v1';
const J = { 'content-type': 'application/json' }, SM = { 'content-type': 'application/strategic-merge-patch+json' }, M = { 'content-type': 'application/merge-patch+json' };
const as = (u: string, ...g: string[]) => ({ 'impersonate-user': u, ...(g.length ? { 'impersonate-group': g } : {}) });
const NS = (n: string, l = {}) => ['POST', '/api/v1/namespaces', { metadata: { name: n, labels: l } }, J] as const;
const role = (name: string, rules: any, ns = 'rbd-a') => ['POST', ns ? `${R}/namespaces/${ns}/roles` : `${R}/clusterroles`, { metadata: { name }, rules }, J] as const;
const bind = (name: string, kind: string, ref: string, subjects: any, ns = 'rbd-a') => ['POST', ns ? `${R}/namespaces/${ns}/rolebindings` : `${R}/clusterrolebindings`, { metadata: { name }, roleRef: { kind, name: ref }, subjects }, J] as const;
const U = (name: string) => ({ kind: 'User', name });
const ssar = (ra: any, h: any = {}) => ['POST', `${A}/selfsubjectaccessreviews`, { spec: { resourceAttributes: ra } }, { ...J, ...h }] as const;
const sar = (spec: any, h: any = {}) => ['POST', `${A}/subjectaccessreviews`, { spec }, { ...J, ...h }] as const;
const P = '/api/v1/namespaces/rbd-a/pods';
const E = '/api/v1/namespaces/rbd-b/pods/p/ephemeralcontainers';
const ec = (q: string, ...c: any[]) => ['PATCH', E + q, { spec: { ephemeralContainers: c } }, SM] as const;
const GOODSC = { runAsUser: 65532, runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, seccompProfile: { type: 'RuntimeDefault' } };
const img = 'localhost/busybox-nonroot:1';
const good = { name: 'g1', image: img, imagePullPolicy: 'Never', command: ['true'], securityContext: GOODSC };
const bad = { name: 'bad', image: img, imagePullPolicy: 'Never', command: ['true'], securityContext: { privileged: true } };
const label = (l: any) => ['PATCH', '/api/v1/namespaces/rbd-b', { metadata: { labels: l } }, M] as const;
const L = 'pod-security.kubernetes.io/';
const BIG = { metadata: { name: 'n' }, spec: { hostNetwork: true, hostPID: true, volumes: [{ name: 'v', hostPath: { path: '/' } }, { name: 'w', nfs: { server: 'a', path: '/' } }, { name: 'u', hostPath: { path: '/x' } }, { name: 'ok', emptyDir: {} }], securityContext: { runAsUser: 0, runAsNonRoot: false, seccompProfile: { type: 'Unconfined' } }, containers: [{ name: 'c', image: 'x', ports: [{ containerPort: 80, hostPort: 80 }], securityContext: { privileged: true, capabilities: { add: ['ALL'] }, runAsUser: 0 } }], initContainers: [{ name: 'i', image: 'x', securityContext: { privileged: true, seccompProfile: { type: 'Unconfined' } } }] } };
const steps: (readonly [string, string, any?, any?])[] = [
  NS('rbd-a'), NS('rbd-b'),
  role('looker', [{ apiGroups: [''], resources: ['pods', 'pods/log'], resourceNames: ['x'], verbs: ['get', 'list'] }]),
  bind('lookers', 'Role', 'looker', [U('rb-u'), { kind: 'Group', name: 'rb-g' }, { kind: 'ServiceAccount', name: 'bot', namespace: 'rbd-a' }]),
  bind('dangling', 'ClusterRole', 'rbd-nope', [U('rb-d')]), bind('dangling2', 'Role', 'rbd-nope', [U('rb-d')]),
  role('sub', [{ apiGroups: [''], resources: ['*/ephemeralcontainers'], verbs: ['*'] }]), bind('sub', 'Role', 'sub', [U('rb-s')]),
  role('rbd-view', [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list'] }, { nonResourceURLs: ['/metrics*'], verbs: ['get'] }], ''), bind('rbd-view', 'ClusterRole', 'rbd-view', [U('rb-v'), { kind: 'Group', name: 'rb-vg' }], ''),
  role('ns', [{ apiGroups: [''], resources: ['namespaces'], verbs: ['get'] }]), bind('ns', 'Role', 'ns', [U('rb-ns')]),
  ...['rb-u', 'rb-x', 'rb-d', 'rb-v', 'system:serviceaccount:rbd-a:bot'].flatMap((u) => [['GET', `${P}/x`, undefined, as(u)], ['GET', P, undefined, as(u)], ['GET', `${P}/x/log`, undefined, as(u)], ['GET', `${P}?fieldSelector=metadata.name%3Dx&limit=0`, undefined, as(u)], ['GET', `${P}?fieldSelector=metadata.name%3Dy`, undefined, as(u)]] as any),
  ['GET', '/api/v1/namespaces/rbd-a', undefined, as('rb-ns')], ['GET', '/api/v1/namespaces/rbd-b', undefined, as('rb-ns')], ['GET', '/api/v1/namespaces', undefined, as('rb-ns')],
  ['PATCH', `${P}/x/ephemeralcontainers`, {}, { ...SM, ...as('rb-s') }], ['PATCH', `${P}/x/ephemeralcontainers`, {}, { ...SM, ...as('rb-u') }],
  ['GET', '/api/v1/pods?limit=1', undefined, as('rb-x')], ['GET', `${R}/clusterroles`, undefined, as('rb-x')], ['GET', `${R}/namespaces/rbd-a/roles/looker`, undefined, as('rb-x')],
  ['GET', '/metrics', undefined, as('rb-x')], ['GET', '/nope', undefined, as('rb-x')], ['GET', '/api', undefined, as('system:anonymous')],
  ['GET', P, undefined, { 'impersonate-group': ['g'] }], ['GET', P, undefined, { 'impersonate-extra-x': 'g' }], ['GET', P, undefined, { 'impersonate-uid': 'g' }],
  ['GET', P, undefined, as('rb-x', 'system:masters', 'system:unauthenticated')],
  // impersonation by somebody: nested is impossible, so only via rights of rb-x on the review
  ...['rb-u', 'rb-x', 'rb-d', 'rb-v', 'rb-s', 'system:anonymous'].flatMap((u) => [ssar({ namespace: 'rbd-a', verb: 'get', resource: 'pods', name: 'x' }, as(u)), ssar({ namespace: 'rbd-a', verb: 'patch', resource: 'pods', subresource: 'ephemeralcontainers', name: 'x' }, as(u)), ssar({ verb: 'get', resource: 'pods' }, as(u)), ['POST', `${A}/selfsubjectaccessreviews`, { spec: { nonResourceAttributes: { path: '/metrics/x', verb: 'get' } } }, { ...J, ...as(u) }] as any]),
  ssar({ namespace: 'rbd-a', verb: 'get', resource: 'pods' }), ssar({ namespace: 'rbd-a', verb: '*', resource: '*', group: '*' }, as('rb-v')), ssar({ namespace: 'rbd-a', verb: 'get', resource: 'pods' }, as('rb-v', 'rb-vg', 'rb-g')), ssar({ namespace: 'rbd-a', verb: 'get', resource: 'pods', name: 'x' }, as('q', 'rb-g')), ssar({ namespace: 'rbd-a', verb: 'get', resource: 'pods', name: 'x', version: 'v1' }, as('system:serviceaccount:rbd-a:bot')),
  sar({ user: 'rb-u', resourceAttributes: { namespace: 'rbd-a', verb: 'get', resource: 'pods', name: 'x' } }), sar({ groups: ['rb-g'], resourceAttributes: { namespace: 'rbd-a', verb: 'get', resource: 'pods', name: 'x' } }), sar({ user: 'z', groups: ['rb-g', 'system:masters'], resourceAttributes: { namespace: 'rbd-a', verb: 'get', resource: 'pods' } }),
  sar({ user: 'z', groups: ['a'], extra: { a: ['b'] }, uid: '7', resourceAttributes: { verb: 'get', resource: 'pods' } }),
  sar({ resourceAttributes: { verb: 'get', resource: 'pods' } }), sar({ user: 'u' }), sar({ user: 'u', resourceAttributes: {}, nonResourceAttributes: { path: '/a', verb: 'get' } }), sar({ user: 'u', resourceAttributes: { verb: 'get' } }, as('rb-u')), ssar(undefined),
  ['POST', `${A}/selfsubjectaccessreviews?dryRun=All`, { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } }, J], ['POST', `${A}/selfsubjectaccessreviews?dryRun=x`, {}, J],
  // validation
  role('r1', [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }]), role('r1', []), role('r2', [{ apiGroups: [''], resources: ['pods'] }]), role('r2', [{ verbs: ['get'] }]), role('r2', [{ verbs: ['get'], apiGroups: [''] }]), role('r2', [{ verbs: ['get'], nonResourceURLs: ['/x'] }]), role('r2', [{ nonResourceURLs: ['/x'], resources: ['a'] }]), role('Bad/Name', []), role('..', []), role('a%b', []), role('', []), role('r9', undefined),
  ['POST', `${R}/namespaces/rbd-a/roles`, { metadata: { name: 'r8', namespace: 'other' }, rules: [] }, J], role('r8', [], 'rbd-zz'),
  bind('b1', '', '', undefined), bind('b2', 'Foo', 'r1', [{ kind: 'Foo', name: 'u' }, { kind: 'ServiceAccount', name: 'u' }, { kind: 'User' }]), bind('rbd-b3', 'Role', 'r1', [{ kind: 'ServiceAccount', name: 'u' }], ''), bind('b4', 'Role', 'r1', [U('u'), { kind: 'ServiceAccount', name: 'x', apiGroup: 'foo' }, { kind: 'User', name: 'x', apiGroup: 'foo' }]),
  bind('b5', 'Role', 'r1', [U('u')]), ['POST', `${R}/namespaces/rbd-a/rolebindings`, { metadata: { name: 'b6' }, roleRef: { apiGroup: 'foo', kind: 'Role', name: 'a' } }, J],
  role('rbd-r2', [{ verbs: ['get'], nonResourceURLs: ['/x'], resources: ['pods'], apiGroups: [''] }], ''),
  ['POST', `${R}/namespaces/rbd-a/roles?dryRun=All`, { metadata: { name: 'r3' }, rules: [] }, J], ['GET', `${R}/namespaces/rbd-a/roles/r3`],
  ['POST', `${R}/namespaces/rbd-a/roles?dryRun=Foo`, { metadata: { name: 'r3' } }, J], ['POST', `${R}/namespaces/rbd-a/roles?dryRun=All&dryRun=Foo`, { metadata: { name: 'r3' } }, J], ['POST', `${R}/namespaces/rbd-a/roles?dryRun=`, { metadata: { name: 'r3' } }, J],
  ['POST', `${R}/namespaces/rbd-a/roles?fieldValidation=Strict`, { metadata: { name: 'r3' }, rulez: [] }, J], ['POST', `${R}/namespaces/rbd-a/roles?fieldValidation=Strict`, { metadata: { name: 'r3' }, rules: [{ verbs: ['get'], foo: 1 }] }, J], ['POST', `${R}/namespaces/rbd-a/roles?fieldValidation=Bar`, {}, J],
  ['GET', `${R}/namespaces/rbd-a/roles`], ['GET', `${R}/namespaces/rbd-a/rolebindings`], ['GET', `${R}/namespaces/rbd-b/rolebindings`], ['GET', `${R}/clusterroles/rbd-view`], ['GET', `${R}/clusterroles?fieldSelector=metadata.name%3Drbd-view`],
  ['PATCH', `${R}/namespaces/rbd-a/rolebindings/lookers`, { roleRef: { name: 'q' } }, M], ['PATCH', `${R}/namespaces/rbd-a/rolebindings/lookers`, { metadata: { resourceVersion: '1' }, subjects: [] }, M], ['PATCH', `${R}/namespaces/rbd-a/roles/r1`, { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }] }, SM], ['PUT', `${R}/namespaces/rbd-a/roles/r1`, { metadata: { name: 'r1' }, rules: [] }, J],
  ['DELETE', `${R}/namespaces/rbd-a/roles/r1?dryRun=All`], ['DELETE', `${R}/namespaces/rbd-a/roles/r1`, { dryRun: ['foo'] }, J], ['DELETE', `${R}/namespaces/rbd-a/roles/r1`], ['DELETE', `${R}/namespaces/rbd-a/roles/r1`],
  ['GET', R], ['GET', '/apis/rbac.authorization.k8s.io'],
  // pod security
  ['POST', '/api/v1/namespaces/rbd-b/pods', { metadata: { name: 'p' }, spec: { containers: [{ name: 'p', image: img, imagePullPolicy: 'Never', command: ['sleep', '1000'], securityContext: GOODSC }] } }, J],
  ec('', bad), label({ [`${L}enforce`]: 'restricted' }), ec('?dryRun=All', good), ec('?dryRun=All', bad), ec('?dryRun=All', { name: 'm1', image: 'x', securityContext: { capabilities: { add: ['SYS_PTRACE', 'NET_ADMIN'] } } }), ec('?dryRun=All', { name: 'M_1', image: 'x', securityContext: { privileged: true } }),
  ['PATCH', `${E}?dryRun=All`, { metadata: { labels: { a: 'b' } } }, SM],
  label({ [`${L}enforce`]: 'baseline' }), ec('?dryRun=All', good), ec('?dryRun=All', { name: 'm1', image: 'x', securityContext: { capabilities: { add: ['SYS_PTRACE', 'NET_ADMIN'] } } }),
  label({ [`${L}enforce`]: null, [`${L}warn`]: 'restricted', [`${L}audit`]: 'baseline' }), ec('?dryRun=All', good), ec('?dryRun=All', bad), label({ [`${L}enforce`]: 'baseline' }), ec('?dryRun=All', good),
  ['POST', '/api/v1/namespaces/rbd-b/pods?dryRun=All', BIG, J], label({ [`${L}enforce`]: 'restricted', [`${L}enforce-version`]: 'v1.30', [`${L}warn`]: null }), ['POST', '/api/v1/namespaces/rbd-b/pods?dryRun=All', BIG, J],
  label({ [`${L}enforce`]: 'foo' }), ['GET', '/api/v1/namespaces/rbd-zz'],
  ec('?dryRun=foo', good), ec('?force=true', good), ec('?dryRun=foo&fieldValidation=Bar', good), ec(`?fieldManager=${'a'.repeat(140)}`, good),
  ['PATCH', `${E}?dryRun=foo`, {}, { ...SM, ...as('rb-x') }], ['DELETE', '/api/v1/namespaces/rbd-b/pods/nope?dryRun=foo'], ['DELETE', '/api/v1/namespaces/rbd-b/pods/p', { dryRun: ['x'] }, J], ['DELETE', '/api/v1/namespaces/rbd-b/pods/p', { dryRun: ['All'] }, J], ['GET', '/api/v1/namespaces/rbd-b/pods/p'],
  NS('rbd-b'), ['POST', '/api/v1/namespaces?dryRun=All', { metadata: { name: 'rbd-zz' } }, J], ['GET', '/api/v1/namespaces/rbd-zz'],
];
let differ = 0;
for (const [m, p, b, h] of steps) {
  const got: string[] = [];
  for (const s of sides) {
    const r = await request(s.url + p, { method: m as any, dispatcher: s.d, headers: { ...s.h, ...h }, ...(b === undefined ? {} : { body: JSON.stringify(b) }) });
    const w = r.headers.warning;
    got.push(`${r.statusCode} ${w ? `W:${w} ` : ''}${norm(await r.body.text())}`);
  }
  if (m === 'POST' && p.includes('/rbac')) await new Promise((r) => setTimeout(r, 120));
  if (got[0] !== got[1]) { differ++; console.log(`--- ${m} ${p} ${JSON.stringify(h ?? {})} ${JSON.stringify(b ?? '').slice(0, 150)}\n real  ${got[0]!.slice(0, 900)}\n local ${got[1]!.slice(0, 900)}`); }
}
console.log(`${steps.length} steps, ${differ} differ`);
const del = async (p: string) => { await (await request(sides[0]!.url + p, { method: 'DELETE', dispatcher: rv })).body.text(); };
for (const p of ['/api/v1/namespaces/rbd-a', '/api/v1/namespaces/rbd-b', `${R}/clusterroles/rbd-view`, `${R}/clusterrolebindings/rbd-view`]) await del(p);
await local.stop(); process.exit(0);
