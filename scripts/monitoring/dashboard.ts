/** One curve or number; `legend` in Grafana's form, `{{label}}`. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  readonly description?: string;
  /** `stat`: one number now. `lines`: over time. `table`: the labels of what there is now. */
  readonly kind: 'stat' | 'lines' | 'table';
  /** Grafana's name of it. */
  readonly unit?: 's' | 'bytes' | 'percentunit' | 'opm' | 'short';
  /** Words instead of 0 and 1; 0 is bad. */
  readonly words?: readonly [string, string];
  /** From here on the number is red. */
  readonly badFrom?: number;
  readonly queries: readonly Query[];
}

export interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

const OURS = 'namespace=~"$namespace"';
const RANGE = '$__rate_interval';

/** A metric of the namespace that the reader chose. */
const metric = (name: string, labels = ''): string => `${name}{${OURS}${labels === '' ? '' : `,${labels}`}}`;
const kdebug = (name: string, labels = ''): string => metric(`kdebug_${name}`, labels);
/** A metric of the process: other programs have it too. */
const ofProcess = (name: string): string => `${metric(name)} and on (namespace, pod) ${kdebug('build_info')}`;

/** How many a minute. */
const perMinute = (name: string, by = '', labels = ''): string =>
  `sum${by === '' ? '' : ` by (${by})`} (rate(${kdebug(name, labels)}[${RANGE}])) * 60`;

/** How long it takes for so many of a hundred. Between them a quiet minute has no value. */
const within = (percent: number, name: string, by = '', labels = ''): string =>
  `histogram_quantile(${percent / 100}, sum by (${by === '' ? 'le' : `le, ${by}`}) (rate(${kdebug(`${name}_bucket`, labels)}[${RANGE}])))`;

const medianAndSlow = (name: string, labels = ''): readonly Query[] => [
  { expr: within(50, name, '', labels), legend: 'half of them' },
  { expr: within(95, name, '', labels), legend: '95 of 100' },
];

/** The same three panels for each API. */
const callsOf = (api: string, title: string): readonly Panel[] => [
  {
    title: `${title}: calls`,
    kind: 'lines',
    unit: 'opm',
    queries: [{ expr: perMinute('api_call_seconds_count', 'method', `api="${api}"`), legend: '{{method}}' }],
  },
  {
    title: `${title}: calls that failed`,
    description: 'By the code or the word of the error. A line at 0 without a name: all went well.',
    kind: 'lines',
    unit: 'opm',
    queries: [
      {
        expr: `${perMinute('api_call_seconds_count', 'result', `api="${api}",result!="ok"`)} or vector(0)`,
        legend: '{{result}}',
      },
    ],
  },
  {
    title: `${title}: time of a call`,
    kind: 'lines',
    unit: 's',
    queries: medianAndSlow('api_call_seconds', `api="${api}"`),
  },
];

export const ROWS: readonly Row[] = [
  {
    title: 'Is it well?',
    panels: [
      {
        title: 'Replicas that are ready',
        kind: 'stat',
        unit: 'short',
        queries: [{ expr: `sum(min by (pod) (${kdebug('check_ok')}))`, legend: 'ready' }],
      },
      {
        title: 'Slack token',
        kind: 'stat',
        words: ['rejected', 'accepted'],
        queries: [{ expr: `min(${kdebug('slack_token_accepted')})`, legend: 'token' }],
      },
      {
        title: 'Policy file',
        description: 'Refused: the policy before it is in force.',
        kind: 'stat',
        words: ['refused', 'in force'],
        queries: [{ expr: `min(${kdebug('policy_file_ok')})`, legend: 'file' }],
      },
      {
        title: 'Age of the policy',
        kind: 'stat',
        unit: 's',
        queries: [{ expr: `time() - max(${kdebug('policy_loaded_timestamp_seconds')})`, legend: 'age' }],
      },
      {
        title: 'Audit records lost, 24 h',
        kind: 'stat',
        unit: 'short',
        badFrom: 1,
        queries: [{ expr: `sum(increase(${kdebug('audit_failures_total')}[24h]))`, legend: 'lost' }],
      },
      {
        title: 'Results lost, 24 h',
        kind: 'stat',
        unit: 'short',
        badFrom: 1,
        queries: [{ expr: `sum(increase(${kdebug('deliveries_lost_total')}[24h]))`, legend: 'lost' }],
      },
      {
        title: 'What runs',
        kind: 'table',
        queries: [{ expr: `sum by (pod, version, revision, node, mode, store) (${kdebug('build_info')})`, legend: '' }],
      },
      {
        title: 'Policies in force',
        kind: 'table',
        queries: [{ expr: `sum by (pod, hash) (${kdebug('policy_info')})`, legend: '' }],
      },
      {
        title: 'Readiness checks',
        description: '1: passed.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: `min by (check) (${kdebug('check_ok')})`, legend: '{{check}}' }],
      },
    ],
  },
  {
    title: 'People',
    panels: [
      {
        title: 'Commands, by answer',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: perMinute('commands_total', 'result'), legend: '{{result}}' }],
      },
      {
        title: 'Requests refused (HTTP)',
        description:
          'Answered with 401. `signature` or `clock` beside no command at all: kdebug has the wrong secret or clock.',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: perMinute('requests_refused_total', 'reason'), legend: '{{reason}}' }],
      },
      {
        title: 'Notifications of alerts, by answer',
        description: 'Only with `ALERTS_PORT`. `accepted`, `repeated` and `ignored` are well.',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: perMinute('alert_notifications_total', 'source, result'), legend: '{{source}}: {{result}}' }],
      },
      {
        title: 'Notifications of alerts answered within',
        description: 'Alertmanager and Grafana wait ten seconds or more.',
        kind: 'lines',
        unit: 's',
        badFrom: 10,
        queries: medianAndSlow('alert_notification_seconds'),
      },
      {
        title: 'Acknowledged within',
        description: 'Slack waits three seconds.',
        kind: 'lines',
        unit: 's',
        badFrom: 3,
        queries: medianAndSlow('acknowledge_seconds'),
      },
      {
        title: 'Decisions',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: perMinute('decisions_total', 'decision, reason'), legend: '{{decision}} {{reason}}' }],
      },
    ],
  },
  {
    title: 'Runs',
    panels: [
      {
        title: 'Ended, by outcome',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: perMinute('run_seconds_count', 'outcome'), legend: '{{outcome}}' }],
      },
      {
        title: 'From the request to the container',
        kind: 'lines',
        unit: 's',
        queries: medianAndSlow('launch_seconds'),
      },
      { title: 'From the request to the end', kind: 'lines', unit: 's', queries: medianAndSlow('run_seconds') },
      {
        title: 'In flight',
        kind: 'lines',
        unit: 'short',
        queries: [
          { expr: `sum by (state) (${kdebug('runs_in_flight')})`, legend: '{{state}}' },
          { expr: `sum(${kdebug('batches_in_flight')})`, legend: 'batches' },
        ],
      },
      {
        title: 'Batches that ended',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: perMinute('batches_total', 'outcome'), legend: '{{outcome}}' }],
      },
      {
        title: 'Logs: gaps and hidden secrets',
        kind: 'lines',
        unit: 'opm',
        queries: [
          { expr: perMinute('log_gaps_total'), legend: 'gaps' },
          { expr: perMinute('redactions_total'), legend: 'hidden secrets' },
        ],
      },
      {
        title: 'Logs that the disk could not take whole',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: perMinute('spool_failures_total', 'reason'), legend: '{{reason}}' }],
      },
      {
        title: 'Ended runs to search for in Slack',
        description: 'After a crash or a lost Redis: at most 20 a minute.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: `max(${kdebug('ended_runs_to_search')})`, legend: 'runs' }],
      },
    ],
  },
  {
    title: 'Approvals',
    panels: [
      {
        title: 'Waiting',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: `max(${kdebug('approvals_pending')})`, legend: 'requests' }],
      },
      {
        title: 'The oldest waits',
        kind: 'lines',
        unit: 's',
        queries: [{ expr: `max(${kdebug('approvals_oldest_seconds')})`, legend: 'oldest' }],
      },
      {
        title: 'Decided, by verdict',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: perMinute('approval_wait_seconds_count', 'verdict'), legend: '{{verdict}}' }],
      },
      {
        title: 'From asking to the verdict',
        kind: 'lines',
        unit: 's',
        queries: medianAndSlow('approval_wait_seconds'),
      },
    ],
  },
  {
    title: 'Slack',
    panels: [
      ...callsOf('slack', 'Slack'),
      {
        title: 'Refused as too many',
        description: 'kdebug then waits, and posts less at once. A line at 0 without a name: none.',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: `${perMinute('slack_rate_limited_total', 'method')} or vector(0)`, legend: '{{method}}' }],
      },
      {
        title: 'Socket Mode connections',
        description: 'Two a replica when all is well. None over HTTP.',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: `sum by (pod) (${kdebug('slack_sockets')})`, legend: '{{pod}}' }],
      },
      {
        title: 'Waiting for their turn',
        kind: 'lines',
        unit: 'short',
        queries: [{ expr: `max by (queue) (${kdebug('queue_length')})`, legend: '{{queue}}' }],
      },
    ],
  },
  {
    title: 'Kubernetes',
    panels: [
      ...callsOf('kubernetes', 'Kubernetes'),
      {
        title: 'Watches that began again',
        kind: 'lines',
        unit: 'opm',
        queries: [{ expr: `${perMinute('watch_restarts_total', 'reason')} or vector(0)`, legend: '{{reason}}' }],
      },
    ],
  },
  {
    title: 'Redis, and several replicas',
    panels: [
      ...callsOf('redis', 'Redis'),
      {
        title: 'Runs that changed hands',
        kind: 'lines',
        unit: 'opm',
        queries: [
          { expr: perMinute('adoptions_total', 'from'), legend: 'adopted: {{from}}' },
          { expr: perMinute('leases_lost_total'), legend: 'lost to another replica' },
        ],
      },
    ],
  },
  {
    title: 'Process',
    panels: [
      {
        title: 'CPU',
        kind: 'lines',
        unit: 'percentunit',
        queries: [
          {
            expr: `rate(${metric('process_cpu_seconds_total')}[${RANGE}]) and on (namespace, pod) ${kdebug('build_info')}`,
            legend: '{{pod}}',
          },
        ],
      },
      {
        title: 'Memory',
        description: 'The container, as the kernel counts it, and the process.',
        kind: 'lines',
        unit: 'bytes',
        queries: [
          { expr: kdebug('memory_used_bytes'), legend: '{{pod}}' },
          { expr: ofProcess('process_resident_memory_bytes'), legend: '{{pod}}: process' },
        ],
      },
      {
        title: 'Memory, of the limit',
        description: 'At 1 the kernel ends the container.',
        kind: 'lines',
        unit: 'percentunit',
        badFrom: 0.85,
        queries: [{ expr: `${kdebug('memory_used_bytes')} / ${kdebug('memory_limit_bytes')}`, legend: '{{pod}}' }],
      },
      {
        title: 'Event loop late by',
        kind: 'lines',
        unit: 's',
        badFrom: 0.5,
        queries: [{ expr: ofProcess('nodejs_eventloop_lag_p99_seconds'), legend: '{{pod}}' }],
      },
      {
        title: 'Up for',
        kind: 'lines',
        unit: 's',
        queries: [
          {
            expr: `time() - ${metric('process_start_time_seconds')} and on (namespace, pod) ${kdebug('build_info')}`,
            legend: '{{pod}}',
          },
        ],
      },
    ],
  },
];
