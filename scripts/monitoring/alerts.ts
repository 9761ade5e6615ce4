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

/** The part of an API's calls with such a result, while there are at least a few calls. */
const shareOfCalls = (api: string, result: string): string => {
  const rate = (labels: string): string =>
    `sum by (namespace) (rate(kdebug_api_call_seconds_count{api="${api}"${labels}}[10m]))`;
  return `${rate(`, result${result}`)} / ${rate('')} > 0.1 and ${rate('')} > 0.01`;
};

/** The part of the finished runs, or approvals, that ended so; at least three of them. */
const shareOfEnds = (metric: string, ending: string, range: string): string => {
  const ended = (labels: string): string => `sum by (namespace) (increase(${metric}${labels}[${range}]))`;
  return `${ended(`{${ending}}`)} / ${ended('')} > 0.5 and ${ended(`{${ending}}`)} >= 3`;
};

/** New ones within the range. A series that begins at 1 counts too: `increase` alone would not see it. */
const anyNew = (series: string, range: string): string =>
  `sum by (namespace) (increase(${series}[${range}]) > 0 or (${series} unless ${series} offset ${range}) > 0)`;

export const ALERTS: readonly Alert[] = [
  {
    name: 'KdebugAbsent',
    severity: 'critical',
    expr: 'absent(kdebug_build_info)',
    for: '5m',
    summary: 'Prometheus sees no kdebug',
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
    name: 'KdebugPolicyRefused',
    severity: 'warning',
    expr: 'min by (namespace) (kdebug_policy_file_ok) == 0',
    for: '5m',
    summary: 'The policy file of kdebug is wrong; the one before is still in force',
    description: 'The change that somebody made has no effect, and the next restart meets the wrong file.',
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
    name: 'KdebugAuditFailing',
    severity: 'critical',
    expr: 'sum by (namespace) (increase(kdebug_audit_failures_total[10m])) > 0',
    summary: 'kdebug cannot write its audit log',
    description: 'What cannot be recorded does not happen: requests are refused.',
  },
  {
    name: 'KdebugAcknowledgesSlowly',
    severity: 'warning',
    expr: 'histogram_quantile(0.99, sum by (namespace, le) (rate(kdebug_acknowledge_seconds_bucket[10m]))) > 1',
    for: '10m',
    summary: 'One of a hundred commands waits {{ $value | humanizeDuration }} for its acknowledgement',
    description: 'Slack waits three seconds; then people see an error although their command may have begun.',
  },
  {
    name: 'KdebugSlackFailing',
    severity: 'warning',
    expr: shareOfCalls(
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
    expr: 'sum by (namespace) (increase(kdebug_slack_rate_limited_total[15m])) > 20',
    for: '15m',
    summary: 'Slack refused {{ $value | humanize }} calls of kdebug within 15 minutes because there were too many',
    description: 'Messages come late; nothing is lost.',
  },
  {
    name: 'KdebugClusterFailing',
    severity: 'warning',
    expr: shareOfCalls('kubernetes', '=~"cluster_(unreachable|failed|busy|unauthenticated)"'),
    for: '10m',
    summary: '{{ $value | humanizePercentage }} of the calls to the Kubernetes API fail',
    description: 'Commands for that cluster are refused, and runs in flight wait for it.',
  },
  {
    name: 'KdebugRedisFailing',
    severity: 'critical',
    expr: shareOfCalls('redis', '!="ok"'),
    for: '5m',
    summary: '{{ $value | humanizePercentage }} of the calls to Redis fail',
    description: 'kdebug refuses new commands. Runs in flight go on; their results are told when Redis is back.',
  },
  {
    name: 'KdebugRunsBreak',
    severity: 'warning',
    expr: anyNew('kdebug_run_seconds_count{outcome="internal"}', '30m'),
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
    expr: 'sum by (namespace) (increase(kdebug_deliveries_lost_total[30m])) > 0',
    summary: 'Slack refused a result of kdebug for good',
    description: 'A run ended and nobody was told. The log names it.',
  },
  {
    name: 'KdebugLogGaps',
    severity: 'info',
    expr: 'sum by (namespace) (increase(kdebug_log_gaps_total[1h])) > 0',
    summary: 'Logs that kdebug read have gaps',
    description:
      'The result says so at the place. The container wrote faster than its node keeps, or the node was away.',
  },
  {
    name: 'KdebugWatchesRestart',
    severity: 'warning',
    expr: 'sum by (namespace, reason) (increase(kdebug_watch_restarts_total{reason!="expired"}[15m])) > 20',
    for: '15m',
    summary: 'kdebug began {{ $value | humanize }} watches again within 15 minutes: {{ $labels.reason }}',
    description: 'Cards follow their pods late. Each new beginning lists the pods again, which loads the API server.',
  },
  {
    name: 'KdebugLeasesLost',
    severity: 'warning',
    expr: 'sum by (namespace) (increase(kdebug_leases_lost_total[15m])) > 3',
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
    // 448 of the 512 MiB that the manifests allow.
    expr: ofKdebug('process_resident_memory_bytes > 469762048'),
    for: '15m',
    summary: '{{ $labels.pod }} uses {{ $value | humanize1024 }}B of memory',
    description: 'Near the limit of the manifests (512Mi), where the kernel ends it.',
  },
];
