import { REASONS } from '../../core/errors.ts';
import { OUTCOME_GROUP } from '../../core/outcome.ts';

/** The values that a label may have. `open`: the first 100 different words that come, in 500 combinations with others; each has a short, plain form. */
type LabelValues = readonly string[] | 'open';

export interface Definition {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** One sentence, for `# HELP` and docs/metrics.md. */
  readonly help: string;
  readonly labels?: Readonly<Record<string, LabelValues>>;
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
  /** Further advice for an operator: when the metric exists, and how to add it up over replicas. */
  readonly note?: string;
}

/** Slack waits 3 s for an acknowledgement; the target for the slowest in a hundred is 50 ms. */
const ACKNOWLEDGE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.5, 1, 3];
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30];
/** A cached image starts within a second or two; a pull may take minutes. */
const LAUNCH_SECONDS = [0.5, 1, 2, 3, 5, 10, 30, 60, 120, 300];
/** A quick run lasts 1 or 2 s; the default maximum of a policy is half an hour. */
const RUN_SECONDS = [0.5, 1, 2, 5, 10, 30, 60, 300, 900, 1800, 3600];
/** People answer within minutes, or after lunch. */
const WAIT_SECONDS = [10, 30, 60, 300, 900, 1800, 3600, 14400, 86400];

const CODES = Object.keys(REASONS);
const OUTCOMES = Object.keys(OUTCOME_GROUP);

const EVERY_REPLICA = 'Every replica reports all of them, because the store is shared: take the maximum, not the sum.';

/** All metrics of kdebug; each name gets the prefix `kdebug_`. */
export const METRICS = {
  build_info: {
    type: 'gauge',
    help: 'Always 1; the labels say what runs here.',
    labels: { version: 'open', revision: 'open', node: 'open', mode: ['socket', 'http'], store: ['memory', 'redis'] },
  },
  commands_total: {
    type: 'counter',
    help: 'Deliveries from Slack, by how they were answered.',
    labels: { result: ['accepted', 'answered', ...CODES] },
  },
  requests_refused_total: {
    type: 'counter',
    help: 'Requests to the Slack endpoint that were answered with 401, by what is wrong with them.',
    labels: { reason: ['signature', 'clock', 'form'] },
    note: 'HTTP only. `signature`: made with another signing secret. `clock`: more than five minutes from our time. `form`: without Slack’s headers. Anybody who finds the address can cause each of them.',
  },
  alert_notifications_total: {
    type: 'counter',
    help: 'Notifications of sources of alerts, by what became of them.',
    labels: { source: 'open', result: ['accepted', 'repeated', 'ignored', 'method_not_allowed', ...CODES] },
    note: 'Only with `ALERTS_PORT`. `source` is a name under `alerts` of the policy, or `unknown`.',
  },
  alert_notification_seconds: {
    type: 'histogram',
    help: 'From receiving a notification of alerts to its answer.',
    buckets: ACKNOWLEDGE_SECONDS,
  },
  acknowledge_seconds: {
    type: 'histogram',
    help: 'From receiving a delivery to its acknowledgement.',
    buckets: ACKNOWLEDGE_SECONDS,
  },
  decisions_total: {
    type: 'counter',
    help: 'Decisions on requests, with the code of a refusal.',
    labels: { decision: ['allow', 'needs-approval', 'deny'], reason: ['none', 'grant', ...CODES] },
    note: 'A request that is checked again before its launch, and refused then, counts again.',
  },
  launch_seconds: {
    type: 'histogram',
    help: 'From the request, or its approval, until its container was seen running or ended.',
    buckets: LAUNCH_SECONDS,
    note: 'Single runs only: the pods of a batch also wait for each other.',
  },
  run_seconds: {
    type: 'histogram',
    help: 'From the request to the final state without the wait for an approval, by outcome.',
    labels: { outcome: OUTCOMES },
    buckets: RUN_SECONDS,
    note: 'A run counts once, by the replica that saved its end, whoever began it. The pods of a batch count one by one, each from its launch.',
  },
  runs_in_flight: {
    type: 'gauge',
    help: 'Runs that this replica works on, by state.',
    labels: { state: ['received', 'approved', 'launching', 'starting', 'running', 'collecting'] },
    note: 'A run that waits for an approval is in no replica: see `kdebug_approvals_pending`.',
  },
  batches_total: {
    type: 'counter',
    help: 'Batches that ended, by outcome.',
    labels: { outcome: ['complete', 'cancelled', 'ttl', 'start-failures', 'record-lost'] },
  },
  batches_in_flight: { type: 'gauge', help: 'Batches that this replica works on.' },
  approvals_pending: { type: 'gauge', help: 'Requests that wait for an approval now.', note: EVERY_REPLICA },
  approvals_oldest_seconds: {
    type: 'gauge',
    help: 'Age of the oldest request that waits for an approval; 0 when none waits.',
    note: EVERY_REPLICA,
  },
  approval_wait_seconds: {
    type: 'histogram',
    help: 'From asking for an approval to its end, by verdict.',
    labels: { verdict: ['approved', 'rejected', 'expired', 'cancelled', 'withdrawn'] },
    buckets: WAIT_SECONDS,
    note: '`withdrawn`: kdebug itself ended it, because nobody could have seen the card.',
  },
  queue_length: {
    type: 'gauge',
    help: 'Calls and records that wait for their turn in this replica.',
    labels: { queue: ['slack', 'kubernetes', 'audit'] },
  },
  api_call_seconds: {
    type: 'histogram',
    help: 'Calls to the cluster, to Slack and to Redis, by method and result.',
    labels: { api: ['kubernetes', 'slack', 'redis'], method: 'open', result: 'open' },
    buckets: CALL_SECONDS,
    note: 'Results: `ok`; a reason code of docs/errors.md (Kubernetes, Redis); Slack’s own word for an error, `rate_limited`, `network`, `http_…` or `not_json`. Without the time in a queue.',
  },
  slack_rate_limited_total: {
    type: 'counter',
    help: 'Calls that Slack refused because there were too many (429).',
    labels: { method: 'open' },
  },
  slack_sockets: {
    type: 'gauge',
    help: 'Open Socket Mode connections; two when all is well.',
    note: 'Socket Mode only.',
  },
  slack_token_accepted: {
    type: 'gauge',
    help: '1 while Slack accepts the bot token, 0 since it rejected it.',
  },
  check_ok: {
    type: 'gauge',
    help: '1 when the readiness check passed the last time, else 0.',
    labels: { check: 'open' },
    note: 'The checks of `/readyz`; a request to `/readyz`, such as the kubelet’s, runs them.',
  },
  watch_restarts_total: {
    type: 'counter',
    help: 'Pod watches that began again with a list, by reason.',
    labels: { reason: ['expired', 'silent', 'garbled', ...CODES] },
  },
  log_gaps_total: { type: 'counter', help: 'Places in logs where lines may be missing.' },
  redactions_total: { type: 'counter', help: 'Secrets that were hidden in logs.' },
  spool_failures_total: {
    type: 'counter',
    help: 'Logs that could not be written whole to the disk buffer, so that their files end early.',
    labels: { reason: ['spool_full', 'spool_failed'] },
  },
  adoptions_total: {
    type: 'counter',
    help: 'Runs taken over from a dead replica (store), or found in the cluster after the store had lost them (cluster).',
    labels: { from: ['store', 'cluster'] },
  },
  ended_runs_to_search: {
    type: 'gauge',
    help: 'Runs that ended while no kdebug watched, and whose results it still searches for in Slack.',
    note: 'At most 20 a minute, for all replicas together. With Redis each replica counts those that it found: take the maximum.',
  },
  leases_lost_total: { type: 'counter', help: 'Runs that another replica took over while this one worked on them.' },
  policy_info: {
    type: 'gauge',
    help: 'Always 1; the label is the SHA-256 of the policy in force.',
    labels: { hash: 'open' },
  },
  policy_loaded_timestamp_seconds: { type: 'gauge', help: 'When the policy in force was loaded, in Unix time.' },
  policy_reloads_total: {
    type: 'counter',
    help: 'New texts of the policy file, by what came of them.',
    labels: { result: ['applied', 'unchanged', 'refused'] },
  },
  policy_file_ok: { type: 'gauge', help: '1 when the policy file is the policy in force, 0 when it was refused.' },
  audit_failures_total: { type: 'counter', help: 'Records that could not be written to the audit log.' },
  memory_used_bytes: {
    type: 'gauge',
    help: 'Memory of the container that the kernel cannot take back: its cgroup without the inactive files.',
    note: 'Outside a cgroup (version 2) the resident memory of the process.',
  },
  memory_limit_bytes: {
    type: 'gauge',
    help: 'Where the kernel ends the container; without a limit, the memory of the machine.',
  },
  deliveries_lost_total: {
    type: 'counter',
    help: 'Results, and cards of alerts, that nobody got: Slack refused them for good, or another company reads the channel of their alert.',
  },
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof METRICS;
