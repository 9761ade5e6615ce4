/** What a Prometheus alerts on. Each has a section of its name in docs/runbooks.md; a test holds the two equal. */
export interface Alert {
  readonly name: string;
  /** Who is woken: `critical` now, `warning` in working hours, `info` nobody. */
  readonly severity: 'critical' | 'warning' | 'info';
  readonly expr: string;
  /** How long `expr` must hold; without it, once is enough. */
  readonly for?: string;
  /** One line with what is wrong; Prometheus fills in the labels. */
  readonly summary: string;
  /** What that means for people. */
  readonly description: string;
}

/** Where the runbooks are to be read. REPLACEME is whoever holds the repository; the release puts it in. */
const RUNBOOKS = 'https://github.com/REPLACEME/kdebug/blob/main/docs/runbooks.md';

/** As GitHub names a heading. */
export const runbookOf = (alert: string): string => `${RUNBOOKS}#${alert.toLowerCase()}`;

/** Only of the pods that are kdebug: other processes have metrics of these names too. */
const ofKdebug = (expr: string): string => `${expr} and on (namespace, pod) kdebug_build_info`;

/**
 * The part of an API's calls with such a result, while there are at least a few calls. A rate falls only slowly after the end: so not
 * while the last calls went well, or the alert would begin when all is over.
 */
const failingCalls = (api: string, result: string): string => {
  const rate = (labels: string, range: string): string =>
    `sum by (namespace) (rate(kdebug_api_call_seconds_count{api="${api}"${labels}}[${range}]))`;
  // A result that never came has no series: then none failed.
  const share = (range: string): string =>
    `(${rate(`, result${result}`, range)} or 0 * ${rate('', range)}) / ${rate('', range)}`;
  return `${share('5m')} > 0.1 and ${rate('', '5m')} > 0.01 unless ${share('90s')} <= 0.1`;
};

/** One of a hundred waits longer. */
const slowest = (range: string): string =>
  `histogram_quantile(0.99, sum by (namespace, le) (rate(kdebug_acknowledge_seconds_bucket[${range}])))`;

/** More than one a minute, and it goes on. */
const againAndAgain = (labels: string, series: string): string => {
  const within = (range: string): string => `sum by (${labels}) (increase(${series}[${range}]))`;
  return `${within('10m')} > 13 and ${within('3m')} > 0`;
};

const SECONDS = { m: 60, h: 3_600 } as const;

/**
 * How many were counted within the range. Of a process that is younger than the range, all that it counted: `increase` knows nothing of
 * what came before the first sample.
 */
const counted = (series: string, range: `${number}${keyof typeof SECONDS}`, labels = 'namespace'): string => {
  const seconds = Number.parseInt(range, 10) * SECONDS[range.endsWith('h') ? 'h' : 'm'];
  const young = `on (namespace, pod) (time() - process_start_time_seconds < ${seconds})`;
  return `sum by (${labels}) ((${series} and ${young}) or increase(${series}[${range}]))`;
};

const ON_POD = 'namespace, pod';

/**
 * What the pods refused that accepted nothing: the clock of one node may be wrong, and another replica accepts its part. Only of the pods
 * that are there: a new secret comes with new ones.
 */
const refusedByPods = (refused: string, accepted: string, range: Parameters<typeof counted>[1]): string =>
  `sum by (namespace) (${counted(refused, range, ON_POD)} unless ${counted(accepted, range, ON_POD)} > 0 and on (${ON_POD}) ${refused})`;

/** The part of the finished runs, or approvals, that ended so; at least three of them. */
const shareOfEnds = (metric: string, ending: string, range: Parameters<typeof counted>[1]): string => {
  const ended = counted(`${metric}{${ending}}`, range);
  return `${ended} / ${counted(metric, range)} > 0.5 and ${ended} >= 3`;
};

/** Of kube-state-metrics, where it is. The chart names the Deployment by its value `name`. */
const DEPLOYMENT = 'deployment=~"(.+-)?kdebug(-.+)?"';

export const ALERTS: readonly Alert[] = [
  {
    name: 'KdebugAbsent',
    severity: 'critical',
    // Of several installations the one that is gone, for longer than a weekend; and one that was never there.
    expr: 'group by (namespace) (last_over_time(kdebug_build_info[3d])) unless group by (namespace) (kdebug_build_info) or absent_over_time(kdebug_build_info[3d])',
    for: '5m',
    summary: 'Prometheus sees no kdebug{{ with $labels.namespace }} in the namespace {{ . }}{{ end }}',
    description: 'No replica runs, or Prometheus cannot reach its ops port. Commands may get no answer.',
  },
  {
    name: 'KdebugNotReady',
    severity: 'critical',
    expr: 'max by (namespace, check) (kdebug_check_ok) == 0',
    for: '5m',
    summary: 'No replica of kdebug passes its readiness check {{ $labels.check }}',
    description: 'Commands get no answer, or a refusal. Runs in flight go on in the cluster.',
  },
  {
    name: 'KdebugReplicaNotReady',
    severity: 'warning',
    expr: 'kdebug_check_ok == 0 unless on (namespace, check) (max by (namespace, check) (kdebug_check_ok) == 0)',
    for: '15m',
    summary: '{{ $labels.pod }} fails its readiness check {{ $labels.check }}; others pass it',
    description: 'Other replicas do the work. An update waits for this one.',
  },
  {
    name: 'KdebugSlackTokenRejected',
    severity: 'critical',
    expr: 'min by (namespace) (kdebug_slack_token_accepted) == 0',
    for: '1m',
    summary: 'Slack rejects the bot token of kdebug',
    description: 'kdebug launches nothing new and can tell nobody what came of the runs in flight.',
  },
  {
    name: 'KdebugRequestsRefused',
    severity: 'critical',
    expr: `${refusedByPods('kdebug_requests_refused_total{reason=~"signature|clock"}', 'kdebug_acknowledge_seconds_count', '10m')} >= 3`,
    summary:
      'Replicas of kdebug refuse the requests of Slack: {{ $value | humanize }} within 10 minutes, and they accepted none',
    description:
      'The signing secret or the clock of a node is wrong. People see an error of Slack for each command that comes there.',
  },
  {
    name: 'KdebugMemoryNotShared',
    severity: 'critical',
    // Pods, not series: a Prometheus may ask each pod twice.
    expr: 'count by (namespace) (group by (namespace, pod) (kdebug_build_info)) > 1 and on (namespace) kdebug_build_info{store="memory"}',
    for: '2m',
    summary: '{{ $value }} replicas of kdebug run, and not all keep their runs in Redis',
    description: 'Each knows only its own runs: clicks and commands that reach another one fail.',
  },
  {
    name: 'KdebugPolicyRefused',
    severity: 'critical',
    expr: 'min by (namespace) (kdebug_policy_file_ok) == 0',
    for: '5m',
    summary: 'The policy file of kdebug is wrong; the one before is still in force',
    description: 'The change that somebody made has no effect, and with the wrong file the next pod does not start.',
  },
  {
    name: 'KdebugPoliciesDiffer',
    severity: 'warning',
    expr: 'count by (namespace) (count by (namespace, hash) (kdebug_policy_info)) > 1',
    for: '10m',
    summary: 'The replicas of kdebug have {{ $value }} different policies',
    description: 'What people may do depends on which replica gets their command.',
  },
  {
    name: 'KdebugVersionsDiffer',
    severity: 'warning',
    expr: 'count by (namespace) (count by (namespace, version, revision) (kdebug_build_info)) > 1',
    for: '1h',
    summary: '{{ $value }} versions of kdebug have run beside each other for an hour',
    description: 'An update did not come to its end.',
  },
  {
    name: 'KdebugRolloutStuck',
    severity: 'warning',
    // A pod that does not start has no metrics of its own.
    expr: `kube_deployment_status_condition{condition="Progressing", status="false", ${DEPLOYMENT}} == 1`,
    for: '5m',
    summary: 'An update of {{ $labels.deployment }} does not come to its end',
    description: 'The new pod does not start or is never ready. With several replicas the old ones go on.',
  },
  {
    name: 'KdebugReplicaMissing',
    severity: 'warning',
    // A pod that waits, or ends before Prometheus asks it, has no metrics of its own. One that has: see KdebugReplicaNotReady.
    expr: `(max by (namespace, deployment) (kube_deployment_status_replicas_available{${DEPLOYMENT}}) > 0) < max by (namespace, deployment) (kube_deployment_spec_replicas) unless on (namespace) kdebug_check_ok == 0`,
    for: '15m',
    summary: 'Of the replicas of {{ $labels.deployment }} only {{ $value }} can work',
    description: 'The others do the work. If one more goes, commands may get no answer.',
  },
  {
    name: 'KdebugAuditFailing',
    severity: 'critical',
    expr: `${counted('kdebug_audit_failures_total', '10m')} > 0`,
    summary: 'kdebug cannot write its audit log',
    description: 'What cannot be recorded does not happen: requests are refused.',
  },
  {
    name: 'KdebugAcknowledgesSlowly',
    severity: 'warning',
    expr: `${slowest('5m')} > 1 unless ${slowest('90s')} <= 1`,
    for: '10m',
    summary: 'One of a hundred commands waits {{ $value | humanizeDuration }} for its acknowledgement',
    description: 'Slack waits three seconds; then people see an error although their command may have begun.',
  },
  {
    name: 'KdebugSlackFailing',
    severity: 'warning',
    expr: failingCalls(
      'slack',
      '=~"network|not_json|http_[0-9]+|internal_error|fatal_error|service_unavailable|request_timeout"',
    ),
    for: '10m',
    summary: '{{ $value | humanizePercentage }} of the calls to Slack fail',
    description: 'Messages come late. kdebug keeps them and tries again.',
  },
  {
    name: 'KdebugSlackRateLimited',
    severity: 'warning',
    expr: againAndAgain('namespace', 'kdebug_slack_rate_limited_total'),
    for: '25m',
    summary: 'Slack refused {{ $value | humanize }} calls of kdebug within 10 minutes because there were too many',
    description: 'Messages come late; nothing is lost.',
  },
  {
    name: 'KdebugClusterFailing',
    severity: 'warning',
    expr: failingCalls('kubernetes', '=~"cluster_(unreachable|failed|busy|unauthenticated)"'),
    for: '10m',
    summary: '{{ $value | humanizePercentage }} of the calls to the Kubernetes API fail',
    description: 'Commands for that cluster are refused, and runs in flight wait for it.',
  },
  {
    name: 'KdebugRedisFailing',
    severity: 'critical',
    expr: failingCalls('redis', '!="ok"'),
    // An outage of five minutes ends before this does: its end shows a minute late.
    for: '7m',
    summary: '{{ $value | humanizePercentage }} of the calls to Redis fail',
    description: 'kdebug refuses new commands. Runs in flight go on; their results are told when Redis is back.',
  },
  {
    name: 'KdebugRunsBreak',
    severity: 'warning',
    expr: `${counted('kdebug_run_seconds_count{outcome="internal"}', '30m')} > 0`,
    summary: 'Runs ended with an error inside kdebug',
    description: 'This is a defect, or something outside answered in a way that kdebug does not know.',
  },
  {
    name: 'KdebugContainersDoNotStart',
    severity: 'warning',
    expr: shareOfEnds('kdebug_run_seconds_count', 'outcome="start-failed"', '1h'),
    summary: '{{ $value | humanizePercentage }} of the debug containers do not start',
    description: 'The nodes cannot pull an image of the policy, or refuse to run it.',
  },
  {
    name: 'KdebugQueueGrows',
    severity: 'warning',
    expr: 'max by (namespace, queue) (kdebug_queue_length) > 100',
    for: '10m',
    summary: '{{ $value }} calls wait in the queue {{ $labels.queue }} of kdebug',
    description: 'Answers and results come late.',
  },
  {
    name: 'KdebugApprovalsExpire',
    severity: 'info',
    expr: shareOfEnds('kdebug_approval_wait_seconds_count', 'verdict="expired"', '6h'),
    summary: '{{ $value | humanizePercentage }} of the requests expire before anybody decides',
    description: 'Approvers do not see the requests, or there are too few of them.',
  },
  {
    name: 'KdebugDeliveriesLost',
    severity: 'warning',
    expr: `${counted('kdebug_deliveries_lost_total', '30m')} > 0`,
    summary: 'Slack refused a result of kdebug for good',
    description: 'A run ended and nobody was told. The log names it.',
  },
  {
    name: 'KdebugLogGaps',
    severity: 'info',
    expr: `${counted('kdebug_log_gaps_total', '1h')} > 0`,
    summary: 'Logs that kdebug read have gaps',
    description:
      'The result says so at the place. The container wrote faster than its node keeps, or the node was away.',
  },
  {
    name: 'KdebugSpoolFull',
    severity: 'warning',
    expr: `${counted('kdebug_spool_failures_total', '30m')} > 0`,
    summary: 'The disk of kdebug could not take {{ $value | humanize }} logs whole',
    description: 'The files of these runs end early; the end of the log is in the result all the same.',
  },
  {
    name: 'KdebugAlertsRefused',
    severity: 'warning',
    // Whoever finds the port can cause the refusals of unknown sources.
    expr: `${counted('kdebug_alert_notifications_total{source!="unknown",result!~"accepted|repeated|ignored"}', '15m', 'namespace, source, result')} >= 3`,
    summary:
      'kdebug refused {{ $value | humanize }} notifications of alerts from {{ $labels.source }}: {{ $labels.result }}',
    description: 'Alerts of this source have no card and no look, or late ones.',
  },
  {
    name: 'KdebugWatchesRestart',
    severity: 'warning',
    expr: againAndAgain('namespace, reason', 'kdebug_watch_restarts_total{reason!="expired"}'),
    for: '25m',
    summary: 'kdebug began {{ $value | humanize }} watches again within 10 minutes: {{ $labels.reason }}',
    description: 'Cards follow their pods late. Each new beginning lists the pods again, which loads the API server.',
  },
  {
    name: 'KdebugLeasesLost',
    severity: 'warning',
    expr: `${counted('kdebug_leases_lost_total', '15m')} > 3`,
    summary: 'Replicas of kdebug lost {{ $value | humanize }} runs to each other within 15 minutes',
    description: 'A replica is too slow to renew its leases. No run is launched twice, but cards may pause.',
  },
  {
    name: 'KdebugRestarts',
    severity: 'warning',
    expr: ofKdebug('changes(process_start_time_seconds[30m]) > 2'),
    summary: '{{ $labels.pod }} has started {{ $value }} times again within 30 minutes',
    description: 'Its last words before each start are in the log of the container before.',
  },
  {
    name: 'KdebugEventLoopBlocked',
    severity: 'warning',
    expr: ofKdebug('nodejs_eventloop_lag_p99_seconds > 0.5'),
    for: '10m',
    summary: 'The event loop of {{ $labels.pod }} is late by {{ $value | humanizeDuration }}',
    description: 'Everything that this replica does waits for it, acknowledgements too.',
  },
  {
    name: 'KdebugMemoryHigh',
    severity: 'warning',
    expr: 'kdebug_memory_used_bytes / kdebug_memory_limit_bytes > 0.85',
    for: '10m',
    summary: '{{ $labels.pod }} uses {{ $value | humanizePercentage }} of its memory',
    description: 'At its limit the kernel ends it.',
  },
  {
    name: 'KdebugOutOfMemory',
    severity: 'warning',
    // Of kube-state-metrics, where it is: the process that was ended can count nothing.
    expr: ofKdebug(
      'kube_pod_container_status_last_terminated_reason{reason="OOMKilled"} == 1 and on (namespace, pod) (time() - process_start_time_seconds < 3600)',
    ),
    summary: 'The kernel ended {{ $labels.pod }} because it was out of memory',
    description:
      'Another replica, or the next start, goes on with its runs. Without Redis, approvals that waited are lost.',
  },
];
