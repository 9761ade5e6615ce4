/** Series in the notation of `promtool test rules`, one sample a minute: what each must and must not make an alert of. */
export interface AlertCase {
  readonly fires: {
    readonly series: Series;
    /** Minutes after the first sample. */
    readonly at: number;
    /** Besides `severity`. */
    readonly labels?: Readonly<Record<string, string>>;
    readonly summary: string;
  };
  /** Near to it, and all is well. */
  readonly quiet: { readonly series: Series; readonly at: number };
}

export type Series = Readonly<Record<string, string>>;

/** Since yesterday: the test begins at 0. */
const OLD = -86_400;

const IN_KDEBUG = { namespace: 'kdebug' };
const FIRST = 'namespace="kdebug",pod="kdebug-1"';
const SECOND = 'namespace="kdebug",pod="kdebug-2"';

const calls = (api: string, result: string, values: string): Series => ({
  [`kdebug_api_call_seconds_count{${FIRST},api="${api}",method="some",result="${result}"}`]: values,
});

const ends = (metric: string, counts: Readonly<Record<string, string>>): Series =>
  Object.fromEntries(
    Object.entries(counts).map(([ending, values]) => [`${metric}{${FIRST},${ending}}`, values] as const),
  );

/** Of 50 commands a minute all are acknowledged within three seconds, and so many within one. */
const acknowledged = (withinOne: number): Series => ({
  [`kdebug_acknowledge_seconds_bucket{${FIRST},le="1"}`]: `0+${withinOne}x30`,
  [`kdebug_acknowledge_seconds_bucket{${FIRST},le="3"}`]: '0+50x30',
  [`kdebug_acknowledge_seconds_bucket{${FIRST},le="+Inf"}`]: '0+50x30',
});

const build = (pod: string, version: string, store = 'redis'): Series => ({
  [`kdebug_build_info{${pod},version="${version}",revision="r",node="24",mode="http",store="${store}"}`]: '1x120',
});

/** Of a second installation: the chart's `name` is its own. */
const rollout = (status: string): string =>
  `kube_deployment_status_condition{namespace="kdebug",deployment="kdebug-staging",condition="Progressing",status="${status}"}`;

const replicas = (wanted: number, available: number): Series => ({
  'kube_deployment_spec_replicas{namespace="kdebug",deployment="kdebug-staging"}': `${wanted}x20`,
  'kube_deployment_status_replicas_available{namespace="kdebug",deployment="kdebug-staging"}': `${available}x20`,
});

const outOfMemory = (pod: string): Series => ({
  [`kube_pod_container_status_last_terminated_reason{${pod},reason="OOMKilled"}`]: '1x60',
});

/** A second installation. */
const OTHER = 'kdebug_build_info{namespace="other",pod="kdebug-9"}';

export const ALERT_CASES: Readonly<Record<string, AlertCase>> = {
  KdebugAbsent: {
    fires: {
      // For longer than a night.
      series: { [`kdebug_build_info{${FIRST}}`]: '1x1500', [OTHER]: '1x10 stale' },
      at: 1_500,
      labels: { namespace: 'other' },
      summary: 'Prometheus sees no kdebug in the namespace other',
    },
    quiet: { series: build(FIRST, '1'), at: 6 },
  },
  KdebugNotReady: {
    fires: {
      series: {
        [`kdebug_check_ok{${FIRST},check="slack"}`]: '0x10',
        [`kdebug_check_ok{${SECOND},check="slack"}`]: '0x10',
        [`kdebug_check_ok{${FIRST},check="store"}`]: '1x10',
      },
      at: 6,
      labels: { ...IN_KDEBUG, check: 'slack' },
      summary: 'No replica of kdebug passes its readiness check slack',
    },
    quiet: {
      series: {
        [`kdebug_check_ok{${FIRST},check="slack"}`]: '0x10',
        [`kdebug_check_ok{${SECOND},check="slack"}`]: '1x10',
      },
      at: 6,
    },
  },
  KdebugReplicaNotReady: {
    fires: {
      series: {
        [`kdebug_check_ok{${FIRST},check="slack"}`]: '0x20',
        [`kdebug_check_ok{${SECOND},check="slack"}`]: '1x20',
      },
      at: 16,
      labels: { ...IN_KDEBUG, pod: 'kdebug-1', check: 'slack' },
      summary: 'kdebug-1 fails its readiness check slack; others pass it',
    },
    // Then KdebugNotReady says it.
    quiet: { series: { [`kdebug_check_ok{${FIRST},check="slack"}`]: '0x20' }, at: 16 },
  },
  KdebugSlackTokenRejected: {
    fires: {
      series: {
        [`kdebug_slack_token_accepted{${FIRST}}`]: '1x2 0x5',
        [`kdebug_slack_token_accepted{${SECOND}}`]: '1x8',
      },
      at: 6,
      labels: IN_KDEBUG,
      summary: 'Slack rejects the bot token of kdebug',
    },
    quiet: { series: { [`kdebug_slack_token_accepted{${FIRST}}`]: '1x8' }, at: 6 },
  },
  KdebugRequestsRefused: {
    fires: {
      series: {
        // Two of each replica: a wrong secret is wrong for all.
        [`kdebug_requests_refused_total{${FIRST},reason="signature"}`]: '0x5 2x20',
        [`kdebug_requests_refused_total{${SECOND},reason="signature"}`]: '0x5 2x20',
        [`kdebug_acknowledge_seconds_count{${FIRST}}`]: '7x20',
        [`process_start_time_seconds{${FIRST}}`]: `${OLD}x20`,
        [`process_start_time_seconds{${SECOND}}`]: `${OLD}x20`,
      },
      at: 10,
      labels: IN_KDEBUG,
      summary: 'Replicas of kdebug refuse the requests of Slack: 4 within 10 minutes, and they accepted none',
    },
    // Strangers, beside a Slack that gets through; and a pod with the old secret, which is gone.
    quiet: {
      series: {
        [`kdebug_requests_refused_total{${FIRST},reason="signature"}`]: '0+1x20',
        [`kdebug_acknowledge_seconds_count{${FIRST}}`]: '0+1x20',
        [`kdebug_requests_refused_total{${SECOND},reason="signature"}`]: '0+1x13 stale',
      },
      at: 15,
    },
  },
  KdebugMemoryNotShared: {
    fires: {
      series: { ...build(FIRST, '1', 'memory'), ...build(SECOND, '1', 'redis') },
      at: 3,
      labels: IN_KDEBUG,
      summary: '2 replicas of kdebug run, and not all keep their runs in Redis',
    },
    // One replica, which Prometheus asks by two ways.
    quiet: {
      series: { ...build(`${FIRST},job="a"`, '1', 'memory'), ...build(`${FIRST},job="b"`, '1', 'memory') },
      at: 3,
    },
  },
  KdebugPolicyRefused: {
    fires: {
      series: { [`kdebug_policy_file_ok{${FIRST}}`]: '1x2 0x10' },
      at: 9,
      labels: IN_KDEBUG,
      summary: 'The policy file of kdebug is wrong; the one before is still in force',
    },
    // Put right within two minutes.
    quiet: { series: { [`kdebug_policy_file_ok{${FIRST}}`]: '1x2 0x2 1x8' }, at: 9 },
  },
  KdebugPoliciesDiffer: {
    fires: {
      series: {
        [`kdebug_policy_info{${FIRST},hash="a"}`]: '1x20',
        [`kdebug_policy_info{${SECOND},hash="b"}`]: '1x20',
      },
      at: 12,
      labels: IN_KDEBUG,
      summary: 'The replicas of kdebug have 2 different policies',
    },
    quiet: {
      series: {
        [`kdebug_policy_info{${FIRST},hash="a"}`]: '1x20',
        [`kdebug_policy_info{${SECOND},hash="a"}`]: '1x20',
      },
      at: 12,
    },
  },
  KdebugVersionsDiffer: {
    fires: {
      series: { ...build(FIRST, '1'), ...build(SECOND, '2') },
      at: 62,
      labels: IN_KDEBUG,
      summary: '2 versions of kdebug have run beside each other for an hour',
    },
    quiet: { series: { ...build(FIRST, '1'), ...build(SECOND, '1') }, at: 62 },
  },
  KdebugRolloutStuck: {
    fires: {
      series: { [rollout('false')]: '1x10', [rollout('true')]: '0x10' },
      at: 6,
      labels: { ...IN_KDEBUG, deployment: 'kdebug-staging', condition: 'Progressing', status: 'false' },
      summary: 'An update of kdebug-staging does not come to its end',
    },
    quiet: { series: { [rollout('false')]: '0x10', [rollout('true')]: '1x10' }, at: 6 },
  },
  KdebugReplicaMissing: {
    fires: {
      series: { ...replicas(2, 1), [`kdebug_check_ok{${FIRST},check="slack"}`]: '1x20' },
      at: 16,
      labels: { ...IN_KDEBUG, deployment: 'kdebug-staging' },
      summary: 'Of the replicas of kdebug-staging only 1 can work',
    },
    // It runs, and says by itself what it lacks.
    quiet: { series: { ...replicas(2, 1), [`kdebug_check_ok{${SECOND},check="slack"}`]: '0x20' }, at: 16 },
  },
  KdebugAuditFailing: {
    fires: {
      series: { [`kdebug_audit_failures_total{${FIRST}}`]: '0x5 1x5' },
      at: 7,
      labels: IN_KDEBUG,
      summary: 'kdebug cannot write its audit log',
    },
    quiet: { series: { [`kdebug_audit_failures_total{${FIRST}}`]: '4x10' }, at: 7 },
  },
  KdebugAcknowledgesSlowly: {
    fires: {
      series: acknowledged(45),
      at: 25,
      labels: IN_KDEBUG,
      summary: 'One of a hundred commands waits 2.8s for its acknowledgement',
    },
    quiet: { series: acknowledged(50), at: 25 },
  },
  KdebugSlackFailing: {
    fires: {
      series: {
        ...calls('slack', 'ok', '0+30x30'),
        ...calls('slack', 'network', '0+5x30'),
        ...calls('slack', 'http_503', '0+5x30'),
      },
      at: 25,
      labels: IN_KDEBUG,
      summary: '25% of the calls to Slack fail',
    },
    // Answers about a message or a person are no failures of Slack.
    quiet: {
      series: { ...calls('slack', 'ok', '0+30x30'), ...calls('slack', 'message_not_found', '0+10x30') },
      at: 25,
    },
  },
  KdebugSlackRateLimited: {
    fires: {
      series: { [`kdebug_slack_rate_limited_total{${FIRST},method="chat.update"}`]: '0+2x60' },
      at: 40,
      labels: IN_KDEBUG,
      summary: 'Slack refused 20 calls of kdebug within 10 minutes because there were too many',
    },
    quiet: { series: { [`kdebug_slack_rate_limited_total{${FIRST},method="chat.update"}`]: '0+1x60' }, at: 40 },
  },
  KdebugClusterFailing: {
    fires: {
      series: { ...calls('kubernetes', 'ok', '0+10x30'), ...calls('kubernetes', 'cluster_unreachable', '0+10x30') },
      at: 25,
      labels: IN_KDEBUG,
      summary: '50% of the calls to the Kubernetes API fail',
    },
    quiet: {
      series: { ...calls('kubernetes', 'ok', '0+10x30'), ...calls('kubernetes', 'cluster_forbidden', '0+10x30') },
      at: 25,
    },
  },
  KdebugRedisFailing: {
    fires: {
      series: { ...calls('redis', 'ok', '0+80x30'), ...calls('redis', 'store_unreachable', '0+20x30') },
      at: 20,
      labels: IN_KDEBUG,
      summary: '20% of the calls to Redis fail',
    },
    quiet: { series: { ...calls('redis', 'ok', '0+80x30'), ...calls('redis', 'store_unreachable', '0+1x30') }, at: 20 },
  },
  KdebugRunsBreak: {
    fires: {
      series: ends('kdebug_run_seconds_count', { 'outcome="internal"': '0x40 1x10' }),
      at: 45,
      labels: IN_KDEBUG,
      summary: 'Runs ended with an error inside kdebug',
    },
    quiet: { series: ends('kdebug_run_seconds_count', { 'outcome="internal"': '1x60' }), at: 45 },
  },
  KdebugContainersDoNotStart: {
    fires: {
      series: ends('kdebug_run_seconds_count', { 'outcome="start-failed"': '0+1x90', 'outcome="succeeded"': '0x90' }),
      at: 80,
      labels: IN_KDEBUG,
      summary: '100% of the debug containers do not start',
    },
    quiet: {
      series: ends('kdebug_run_seconds_count', { 'outcome="start-failed"': '0+1x90', 'outcome="succeeded"': '0+2x90' }),
      at: 80,
    },
  },
  KdebugQueueGrows: {
    fires: {
      series: { [`kdebug_queue_length{${FIRST},queue="slack"}`]: '150x20' },
      at: 12,
      labels: { ...IN_KDEBUG, queue: 'slack' },
      summary: '150 calls wait in the queue slack of kdebug',
    },
    // A burst.
    quiet: { series: { [`kdebug_queue_length{${FIRST},queue="slack"}`]: '150x5 0x15' }, at: 12 },
  },
  KdebugApprovalsExpire: {
    fires: {
      series: ends('kdebug_approval_wait_seconds_count', {
        'verdict="expired"': '0x10 4x380',
        'verdict="approved"': '0x390',
      }),
      at: 365,
      labels: IN_KDEBUG,
      summary: '100% of the requests expire before anybody decides',
    },
    quiet: {
      series: ends('kdebug_approval_wait_seconds_count', {
        'verdict="expired"': '0x10 1x380',
        'verdict="approved"': '0x390',
      }),
      at: 365,
    },
  },
  KdebugDeliveriesLost: {
    fires: {
      series: { [`kdebug_deliveries_lost_total{${FIRST}}`]: '0x5 1x5' },
      at: 8,
      labels: IN_KDEBUG,
      summary: 'Slack refused a result of kdebug for good',
    },
    quiet: { series: { [`kdebug_deliveries_lost_total{${FIRST}}`]: '2x10' }, at: 8 },
  },
  KdebugLogGaps: {
    fires: {
      series: { [`kdebug_log_gaps_total{${FIRST}}`]: '0x5 3x5' },
      at: 8,
      labels: IN_KDEBUG,
      summary: 'Logs that kdebug read have gaps',
    },
    quiet: { series: { [`kdebug_log_gaps_total{${FIRST}}`]: '3x10' }, at: 8 },
  },
  KdebugSpoolFull: {
    fires: {
      series: { [`kdebug_spool_failures_total{${FIRST},reason="spool_full"}`]: '0x5 3x5' },
      at: 8,
      labels: IN_KDEBUG,
      summary: 'The disk of kdebug could not take 3 logs whole',
    },
    quiet: { series: { [`kdebug_spool_failures_total{${FIRST},reason="spool_full"}`]: '3x10' }, at: 8 },
  },
  KdebugAlertsRefused: {
    fires: {
      series: {
        [`kdebug_alert_notifications_total{${FIRST},source="shop",result="alert_unauthorized"}`]: '0x5 4x10',
        [`kdebug_alert_notifications_total{${FIRST},source="shop",result="accepted"}`]: '0+9x20',
      },
      at: 8,
      labels: { ...IN_KDEBUG, source: 'shop', result: 'alert_unauthorized' },
      summary: 'kdebug refused 4 notifications of alerts from shop: alert_unauthorized',
    },
    quiet: {
      series: {
        [`kdebug_alert_notifications_total{${FIRST},source="shop",result="accepted"}`]: '0+9x20',
        [`kdebug_alert_notifications_total{${FIRST},source="unknown",result="alert_source_unknown"}`]: '0+9x20',
      },
      at: 8,
    },
  },
  KdebugWatchesRestart: {
    fires: {
      series: { [`kdebug_watch_restarts_total{${FIRST},reason="silent"}`]: '0+2x60' },
      at: 40,
      labels: { ...IN_KDEBUG, reason: 'silent' },
      summary: 'kdebug began 20 watches again within 10 minutes: silent',
    },
    // A watch that expires begins again: nothing is wrong.
    quiet: { series: { [`kdebug_watch_restarts_total{${FIRST},reason="expired"}`]: '0+2x60' }, at: 40 },
  },
  KdebugLeasesLost: {
    fires: {
      series: { [`kdebug_leases_lost_total{${FIRST}}`]: '0+1x30' },
      at: 20,
      labels: IN_KDEBUG,
      summary: 'Replicas of kdebug lost 15 runs to each other within 15 minutes',
    },
    quiet: { series: { [`kdebug_leases_lost_total{${FIRST}}`]: '0x10 1x20' }, at: 20 },
  },
  KdebugRestarts: {
    fires: {
      series: { ...build(FIRST, '1'), [`process_start_time_seconds{${FIRST}}`]: '100x5 200x5 300x5 400x20' },
      at: 20,
      labels: { ...IN_KDEBUG, pod: 'kdebug-1' },
      summary: 'kdebug-1 has started 3 times again within 30 minutes',
    },
    // Another program.
    quiet: {
      series: {
        ...build(FIRST, '1'),
        'process_start_time_seconds{namespace="shop",pod="web-1"}': '100x5 200x5 300x5 400x20',
      },
      at: 20,
    },
  },
  KdebugEventLoopBlocked: {
    fires: {
      series: { ...build(FIRST, '1'), [`nodejs_eventloop_lag_p99_seconds{${FIRST}}`]: '0.75x20' },
      at: 12,
      labels: { ...IN_KDEBUG, pod: 'kdebug-1' },
      summary: 'The event loop of kdebug-1 is late by 750ms',
    },
    quiet: { series: { ...build(FIRST, '1'), [`nodejs_eventloop_lag_p99_seconds{${FIRST}}`]: '0.03x20' }, at: 12 },
  },
  KdebugMemoryHigh: {
    fires: {
      series: { [`kdebug_memory_used_bytes{${FIRST}}`]: '240x20', [`kdebug_memory_limit_bytes{${FIRST}}`]: '256x20' },
      at: 12,
      labels: { ...IN_KDEBUG, pod: 'kdebug-1' },
      summary: 'kdebug-1 uses 93.75% of its memory',
    },
    quiet: {
      series: { [`kdebug_memory_used_bytes{${FIRST}}`]: '240x20', [`kdebug_memory_limit_bytes{${FIRST}}`]: '512x20' },
      at: 12,
    },
  },
  KdebugOutOfMemory: {
    fires: {
      series: { ...build(FIRST, '1'), ...outOfMemory(FIRST), [`process_start_time_seconds{${FIRST}}`]: '0x60' },
      at: 5,
      labels: { ...IN_KDEBUG, pod: 'kdebug-1', reason: 'OOMKilled' },
      summary: 'The kernel ended kdebug-1 because it was out of memory',
    },
    // Another program; and one end of kdebug that is long ago.
    quiet: {
      series: {
        ...build(FIRST, '1'),
        ...outOfMemory('namespace="shop",pod="web-1"'),
        ...outOfMemory(FIRST),
        [`process_start_time_seconds{${FIRST}}`]: `${OLD}x60`,
      },
      at: 5,
    },
  },
};
