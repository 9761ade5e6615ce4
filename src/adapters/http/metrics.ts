import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Metrics } from '../../flow/ports/machine.ts';

/** What `/metrics` answers with. */
export interface Exposition {
  readonly contentType: string;
  text(): Promise<string>;
}

/** Bounds in seconds: the acknowledgement has 3 s (Slack), the p99 target is 50 ms. */
const ACKNOWLEDGE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.5, 1, 3];
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
/** A quick run takes a second or two, the longest that a policy allows by default half an hour. */
const RUN_SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 1800, 3600];

/** Between two looks at the event loop's lag: the default of 10 ms is most of what an idle process does. */
const LOOP_LAG_EVERY_MS = 25;

/** The counters and histograms of kdebug and of its process, in a registry of their own. */
export function createMetrics(): Metrics & Exposition {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LAG_EVERY_MS });
  const registers = [registry];
  const commands = new Counter({
    name: 'kdebug_commands_total',
    help: 'Deliveries from Slack, by how they were answered.',
    labelNames: ['result'],
    registers,
  });
  const acknowledge = new Histogram({
    name: 'kdebug_acknowledge_seconds',
    help: 'From receiving a delivery to its acknowledgement.',
    buckets: ACKNOWLEDGE_SECONDS,
    registers,
  });
  const runs = new Histogram({
    name: 'kdebug_run_seconds',
    help: 'From receiving a request to its final state, by outcome.',
    labelNames: ['outcome'],
    buckets: RUN_SECONDS,
    registers,
  });
  const calls = new Histogram({
    name: 'kdebug_api_call_seconds',
    help: 'Calls to the cluster and to Slack, by method and result.',
    labelNames: ['api', 'method', 'result'],
    buckets: CALL_SECONDS,
    registers,
  });
  return {
    command(result, durationMs) {
      commands.inc({ result });
      acknowledge.observe(durationMs / 1000);
    },
    runFinished: (outcome, durationMs) => runs.observe({ outcome }, durationMs / 1000),
    apiCall: (api, method, result, durationMs) => calls.observe({ api, method, result }, durationMs / 1000),
    contentType: registry.contentType,
    text: () => registry.metrics(),
  };
}
