import { KubernetesCluster } from '/work/main/src/adapters/kubernetes/cluster.ts';
import { asRunId } from '/work/main/src/core/ids.ts';
import { createHash } from 'node:crypto';
const clock = { now: () => Date.now(), after: (ms: number, wake: () => void) => { const t = setTimeout(wake, ms); return () => clearTimeout(t); } };
const log: any = { debug() {}, info: console.log, warn: console.log, error: console.error };
const cluster = new KubernetesCluster({ name: 'c', source: { cluster: { inCluster: false, default: true }, kubeconfigPath: process.env.KUBECONFIG! }, version: '0', log, clock });
console.log(await cluster.check());
const ns = 'kx-open';
const pod = await cluster.pod(ns, 'p');
console.log(pod.metadata.uid, (await cluster.pods(ns, '')).length, await cluster.podSecurity('kx-probe'));
const n = Number(process.argv[2] ?? 1000);
const width = Number(process.argv[3] ?? 90);
const name = 'k' + Date.now().toString(36);
const ref = { namespace: ns, name: 'p', uid: pod.metadata.uid };
const launched = await cluster.launch({ pod: ref, runId: asRunId('aaaaaaaaaa'), container: { name, image: 'localhost/busybox:1', command: ['sh', '-c', `p=$(printf 'x%.0s' $(seq ${width})); s=$(printf ' %s\\nE' $p); exec seq -w -s "${'$'}{s%E}" ${10_000_000 + 1} ${10_000_000 + n}`], env: [{ name: 'KDEBUG_RUN', value: 'aaaaaaaaaa' }], terminationMessagePolicy: 'FallbackToLogsOnError' } } as any);
console.log(launched.kind, (launched as any).message ?? '');
const t0 = Date.now();
let end!: () => void; const ended = new Promise<void>((r) => { end = r; });
let started: any;
const begun = new Promise<void>((resolve) => {
  cluster.watch(ref, (seen) => {
    if (seen.kind !== 'pod') return;
    const s = seen.pod.status.ephemeralContainerStatuses.find((x) => x.name === name);
    if (s?.running && !started) { started = { terminated: false, startedAtMs: Date.parse(s.running.startedAt) }; resolve(); console.log('running after', Date.now() - t0); }
    if (s?.terminated) { console.log('terminated after', Date.now() - t0, s.terminated); started ??= { terminated: true, startedAtMs: Date.parse(s.terminated.startedAt) }; resolve(); end(); }
  });
});
await begun;
let bytes = 0; let left = ''; let expect = 1; let bad = 0; let lines = 0;
const c = await cluster.collectLog({ pod: ref, containerName: name, ...started, limitBytes: 1e12, ended, signal: new AbortController().signal }, { write(chunk) {
  bytes += chunk.length;
  const parts = (left + chunk.toString('latin1')).split('\n'); left = parts.pop()!;
  for (const p of parts) { lines++; const k = Number(p.slice(0, 8)) - 10_000_000; if (k !== expect && bad++ < 5) console.log('expected', expect, 'got', k); expect = k + 1; }
} });
console.log({ bytes, lines, bad, last: expect - 1, left: left.length, ms: Date.now() - t0, rss: process.memoryUsage().rss >> 20, cpu: process.cpuUsage() }, JSON.stringify(c));
await cluster.close();
