import type { LocalCluster } from '../play/cluster/index.ts';

/** What was asked of a server that takes only so much. */
export interface RateLimit {
  since(ms: number): { readonly callsLate: number; readonly rejectedLate: number };
}

/** Lets a local cluster take `qps` requests a second, a tenth of a second's worth at once, and answer 429 to the others. */
export function limitRate(cluster: LocalCluster, qps: number | undefined): RateLimit {
  const calls: { readonly atMs: number; readonly rejected: boolean }[] = [];
  if (qps !== undefined) {
    let tokens = qps / 10;
    let atMs = performance.now();
    const { faults } = cluster;
    const take = faults.take.bind(faults);
    faults.take = (route) => {
      const nowMs = performance.now();
      tokens = Math.min(qps / 10, tokens + ((nowMs - atMs) * qps) / 1_000);
      atMs = nowMs;
      const rejected = tokens < 1;
      calls.push({ atMs, rejected });
      if (rejected) return { kind: 'status', status: 429, retryAfterSeconds: 1 };
      tokens -= 1;
      return take(route);
    };
  }
  return {
    since: (ms) => {
      const late = calls.filter(({ atMs }) => atMs >= ms);
      return { callsLate: late.length, rejectedLate: late.filter(({ rejected }) => rejected).length };
    },
  };
}
