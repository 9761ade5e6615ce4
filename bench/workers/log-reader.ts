import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createClusters } from '../../src/adapters/kubernetes/index.ts';
import { createLog } from '../../src/adapters/log/index.ts';
import { createSpools } from '../../src/adapters/spool/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { asRunId, asUserId } from '../../src/core/ids.ts';
import { createExcerpt } from '../../src/core/redact/excerpt.ts';
import { createLogFilter } from '../../src/core/redact/log-filter.ts';
import { LogReader } from '../../src/flow/log/logs.ts';
import { Turns } from '../../src/lib/turns.ts';
import type { Served } from './served.ts';

export interface LogReaderConfig {
  readonly kubeconfigPath: string;
  readonly context: string;
  readonly pod: string;
}

/** One reading of a log, as production does it: adapter, filter, excerpt, spool with SHA-256. */
export interface LogReading {
  readonly ms: number;
  readonly bytes: number;
  readonly complete: boolean;
  readonly cpuMs: number;
  /** Resident memory before, and the most that was seen meanwhile. */
  readonly rssBefore: number;
  readonly rssPeak: number;
  readonly loopDelayP99Ms: number;
}

const SAMPLE_MS = 5;
const LIMIT_BYTES = 4 * 1024 ** 3;

/** Reads the ended container `app` of a pod in `default`. */
export async function readLogOnce(config: LogReaderConfig): Promise<Served<LogReading>> {
  const clusters = createClusters({
    clusters: () => ({ bench: { context: config.context, inCluster: false, default: true } }),
    kubeconfigPath: config.kubeconfigPath,
    log: createLog({ level: 'silent' }),
    clock: systemClock,
    version: 'bench',
  });
  const cluster = clusters.get('bench');
  // The connection is up before the clock starts, as kubectl's discovery is cached.
  const { uid } = (await cluster.pod('default', config.pod)).metadata;
  const spool = await createSpools().open({ runId: asRunId('aaaaaaaaaa'), requesterId: asUserId('U0BENCH') });
  const meter = startMeter();
  const reader = new LogReader(
    {
      cluster,
      pod: { namespace: 'default', name: config.pod, uid },
      containerName: 'app',
      terminated: true,
      startedAtMs: Date.now(),
      limitBytes: LIMIT_BYTES,
    },
    {
      filter: createLogFilter({ redact: [] }),
      excerpt: createExcerpt({ headLines: 15, tailLines: 25, maxBytes: 2_500 }),
      spool,
      turns: new Turns(systemClock).of('U0ROY'),
    },
  );
  const { log } = await reader.result;
  const measured = meter();
  await spool.remove();
  await clusters.close();
  return { result: { ...measured, bytes: log.bytes, complete: log.completeness.interruptedBy === undefined } };
}

export function startMeter(): () => Omit<LogReading, 'bytes' | 'complete'> {
  const rssBefore = process.memoryUsage.rss();
  let rssPeak = rssBefore;
  const look = (): void => {
    rssPeak = Math.max(rssPeak, process.memoryUsage.rss());
  };
  const timer = setInterval(look, SAMPLE_MS);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  return () => {
    const ms = performance.now() - startMs;
    const { user, system } = process.cpuUsage(cpu);
    look();
    clearInterval(timer);
    delay.disable();
    return { ms, cpuMs: (user + system) / 1000, rssBefore, rssPeak, loopDelayP99Ms: delay.percentile(99) / 1e6 };
  };
}
