import type { Series } from './alert-cases.ts';

/** A sample each 30 seconds, as the ServiceMonitor asks for them. */
const STEPS = 2;
/** All is well for so many minutes before, and for so many after. */
const BEFORE = 20;
const AFTER = 45;
/** A rate sees the end a little later. */
const OVER = 2;
const POD = 'namespace="kdebug",pod="kdebug-1"';
const OTHER_POD = 'namespace="kdebug",pod="kdebug-2"';

/** The values of one series when all is well, and while it is not. A counter: how much it grows at each sample. */
interface Part {
  readonly series: string;
  readonly kind: 'gauge' | 'counter';
  readonly well: number | 'stale';
  readonly broken: number | 'stale';
}

/** Something that begins, lasts and ends. */
export interface Outage {
  readonly parts: readonly Part[];
  /** Minutes after the beginning: from here on it fires, until the end. One that ends sooner is never told, not even afterwards. */
  readonly after: number;
}

const gauge = (series: string, well: Part['well'], broken: Part['broken']): Part => ({
  series,
  kind: 'gauge',
  well,
  broken,
});
const counter = (series: string, well: number, broken: number): Part => ({ series, kind: 'counter', well, broken });

const build = (pod: string, labels = ''): string => `kdebug_build_info{${pod}${labels}}`;
const calls = (api: string, result: string, well: number, broken: number): Part =>
  counter(`kdebug_api_call_seconds_count{${POD},api="${api}",method="some",result="${result}"}`, well, broken);

export const OUTAGES: Readonly<Record<string, Outage>> = {
  KdebugAbsent: { parts: [gauge(build(POD), 1, 'stale'), gauge(build('namespace="other",pod="x"'), 1, 1)], after: 6 },
  KdebugNotReady: { parts: [gauge(`kdebug_check_ok{${POD},check="store"}`, 1, 0)], after: 5 },
  KdebugReplicaNotReady: {
    parts: [
      gauge(`kdebug_check_ok{${POD},check="slack"}`, 1, 0),
      gauge(`kdebug_check_ok{${OTHER_POD},check="slack"}`, 1, 1),
    ],
    after: 15,
  },
  KdebugSlackTokenRejected: { parts: [gauge(`kdebug_slack_token_accepted{${POD}}`, 1, 0)], after: 1 },
  // Three a minute, of people who try again, meet the replica whose clock is wrong. The other one accepts its part all the time.
  KdebugRequestsRefused: {
    parts: [
      counter(`kdebug_requests_refused_total{${POD},reason="clock"}`, 0, 1.5),
      counter(`kdebug_acknowledge_seconds_count{${POD}}`, 1.5, 0),
      counter(`kdebug_acknowledge_seconds_count{${OTHER_POD}}`, 1.5, 1.5),
    ],
    after: 12,
  },
  KdebugMemoryNotShared: {
    parts: [gauge(build(POD, ',store="memory"'), 1, 1), gauge(build(OTHER_POD, ',store="memory"'), 'stale', 1)],
    after: 3,
  },
  KdebugPolicyRefused: { parts: [gauge(`kdebug_policy_file_ok{${POD}}`, 1, 0)], after: 5 },
  KdebugPoliciesDiffer: {
    parts: [
      gauge(`kdebug_policy_info{${POD},hash="a"}`, 1, 1),
      gauge(`kdebug_policy_info{${OTHER_POD},hash="b"}`, 'stale', 1),
    ],
    after: 11,
  },
  // An update of twenty minutes is none.
  KdebugVersionsDiffer: {
    parts: [gauge(build(POD, ',version="1"'), 1, 1), gauge(build(OTHER_POD, ',version="2"'), 'stale', 1)],
    after: 60,
  },
  KdebugRolloutStuck: {
    parts: [
      gauge(
        'kube_deployment_status_condition{namespace="kdebug",deployment="kdebug",condition="Progressing",status="false"}',
        0,
        1,
      ),
    ],
    after: 5,
  },
  KdebugReplicaMissing: {
    parts: [
      gauge('kube_deployment_spec_replicas{namespace="kdebug",deployment="kdebug"}', 2, 2),
      gauge('kube_deployment_status_replicas_available{namespace="kdebug",deployment="kdebug"}', 2, 1),
    ],
    after: 15,
  },
  KdebugAcknowledgesSlowly: {
    parts: [
      counter(`kdebug_acknowledge_seconds_bucket{${POD},le="1"}`, 25, 20),
      counter(`kdebug_acknowledge_seconds_bucket{${POD},le="3"}`, 25, 25),
      counter(`kdebug_acknowledge_seconds_bucket{${POD},le="+Inf"}`, 25, 25),
    ],
    after: 12,
  },
  KdebugSlackFailing: { parts: [calls('slack', 'ok', 10, 0), calls('slack', 'network', 0, 10)], after: 12 },
  KdebugSlackRateLimited: {
    parts: [counter(`kdebug_slack_rate_limited_total{${POD},method="chat.update"}`, 0, 5)],
    after: 27,
  },
  KdebugClusterFailing: {
    parts: [calls('kubernetes', 'ok', 5, 0), calls('kubernetes', 'cluster_unreachable', 0, 2)],
    after: 12,
  },
  // The rates of two idle replicas, measured with Redis there and away.
  KdebugRedisFailing: { parts: [calls('redis', 'ok', 118, 0), calls('redis', 'store_unreachable', 0, 80)], after: 9 },
  KdebugQueueGrows: { parts: [gauge(`kdebug_queue_length{${POD},queue="slack"}`, 3, 150)], after: 10 },
  KdebugWatchesRestart: {
    parts: [counter(`kdebug_watch_restarts_total{${POD},reason="silent"}`, 0, 5)],
    after: 27,
  },
  KdebugEventLoopBlocked: {
    parts: [gauge(build(POD), 1, 1), gauge(`nodejs_eventloop_lag_p99_seconds{${POD}}`, 0.03, 0.7)],
    after: 10,
  },
  KdebugMemoryHigh: {
    parts: [gauge(`kdebug_memory_used_bytes{${POD}}`, 100, 240), gauge(`kdebug_memory_limit_bytes{${POD}}`, 256, 256)],
    after: 10,
  },
};

/** The samples of an outage of so many minutes, and whether the alert fires, by the minute. */
export function courseOf({ parts, after }: Outage, minutes: number) {
  const end = BEFORE + minutes;
  const series: Record<string, string> = {};
  for (const part of parts) series[part.series] = valuesOf(part, minutes);
  const quiet = [BEFORE - 1, ...range(end + OVER, end + AFTER)];
  const isTold = minutes > after;
  return {
    series: series satisfies Series,
    fires: isTold ? [BEFORE + after, end - 1] : [],
    quiet: isTold ? quiet : range(BEFORE - 1, end + AFTER),
  };
}

const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from }, (_, index) => from + index);

function valuesOf({ kind, well, broken }: Part, minutes: number): string {
  const phases = [
    { value: well, samples: BEFORE * STEPS },
    { value: broken, samples: minutes * STEPS },
    { value: well, samples: AFTER * STEPS },
  ];
  let total = 0;
  const step = (value: Part['well']): Part['well'] => {
    if (kind === 'gauge' || value === 'stale') return value;
    total += value;
    return total;
  };
  return phases.flatMap(({ value, samples }) => Array.from({ length: samples }, () => step(value))).join(' ');
}

/** Something that is counted, `times` at once. */
export interface Event {
  readonly series: string;
  readonly times: number;
  /** Minutes for which it is told. */
  readonly told: number;
  readonly beside?: Series;
}

const ends = (metric: string, ending: string): string => `${metric}{${POD},${ending}}`;

export const EVENTS: Readonly<Record<string, Event>> = {
  KdebugRequestsRefused: { series: `kdebug_requests_refused_total{${POD},reason="clock"}`, times: 4, told: 10 },
  KdebugAuditFailing: { series: `kdebug_audit_failures_total{${POD}}`, times: 1, told: 10 },
  KdebugRunsBreak: { series: ends('kdebug_run_seconds_count', 'outcome="internal"'), times: 1, told: 30 },
  KdebugContainersDoNotStart: {
    series: ends('kdebug_run_seconds_count', 'outcome="start-failed"'),
    times: 4,
    told: 60,
  },
  KdebugApprovalsExpire: {
    series: ends('kdebug_approval_wait_seconds_count', 'verdict="expired"'),
    times: 4,
    told: 360,
  },
  KdebugDeliveriesLost: { series: `kdebug_deliveries_lost_total{${POD}}`, times: 1, told: 30 },
  KdebugLogGaps: { series: `kdebug_log_gaps_total{${POD}}`, times: 1, told: 60 },
  KdebugSpoolFull: { series: ends('kdebug_spool_failures_total', 'reason="spool_full"'), times: 1, told: 30 },
  KdebugAlertsRefused: {
    series: `kdebug_alert_notifications_total{${POD},source="shop",result="alert_unauthorized"}`,
    times: 3,
    told: 15,
  },
  KdebugLeasesLost: { series: `kdebug_leases_lost_total{${POD}}`, times: 6, told: 15 },
};

const start = `process_start_time_seconds{${POD}}`;
const YESTERDAY = -86_400;

/** The courses of an event: when it must be told, and when nothing is new. */
export function coursesOf({ series, times, told }: Event) {
  const long = (told + 30) * STEPS;
  const [before, away] = [BEFORE * STEPS, 10 * STEPS];
  return {
    'between two samples of a replica that runs for long': {
      series: { [start]: `${YESTERDAY}x${before + long}`, [series]: `0x${before} ${times}x${long}` },
      fires: [BEFORE + 1, BEFORE + told - 2],
      quiet: [BEFORE - 1, BEFORE + told + 2],
    },
    'before the first sample of a young replica': {
      series: { [start]: `_x${before} ${BEFORE * 60}x${long}`, [series]: `_x${before} ${times}x${long}` },
      fires: [BEFORE + 2, BEFORE + told - 2],
      quiet: [BEFORE - 1, BEFORE + told + 2],
    },
    'before Prometheus began, long ago': {
      series: { [start]: `${YESTERDAY}x${long}`, [series]: `${times}x${long}` },
      fires: [],
      quiet: [1, 5, told + 2],
    },
    'long before Prometheus was away for a while': {
      series: {
        [start]: `${YESTERDAY}x${before} _x${away} ${YESTERDAY}x${long}`,
        [series]: `${times}x${before} _x${away} ${times}x${long}`,
      },
      fires: [],
      quiet: [1, BEFORE + 11, BEFORE + 15, BEFORE + told - 5, BEFORE + told + 2, BEFORE + told + 8],
    },
  };
}
