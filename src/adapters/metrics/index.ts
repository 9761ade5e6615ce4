import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { GaugeName, Metrics, Reading } from '../../flow/ports/machine.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Definition, METRICS, type MetricName } from './definitions.ts';

export { type Definition, METRICS } from './definitions.ts';

interface MetricsOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** For `kdebug_build_info`. */
  readonly build?: {
    readonly version: string;
    readonly revision: string;
    readonly node: string;
    readonly mode: 'socket' | 'http';
    readonly store: 'memory' | 'redis';
  };
  /** Also measures the process (memory, CPU, event loop). Default: yes. */
  readonly ofProcess?: boolean;
}

/** All metrics as Prometheus' text. */
interface Exposition {
  readonly contentType: string;
  /** Asks every reader of `observe` first. */
  text(): Promise<string>;
}

/** Interval of the event-loop lag samples: the default of 10 ms is most of an idle process's work. */
const LOOP_LAG_EVERY_MS = 25;
/** A label of more values starts without any. */
const MAX_ZEROS = 20;
/** Gauges whose names end like a counter's, which Prometheus' linter refuses; each is the sum of another one. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** The metrics of kdebug and its process, in a registry of their own. */
export function createMetrics(options: MetricsOptions): Metrics & Exposition {
  const series = new Series(options);
  const seconds = (name: MetricName, ms: number, labels = {}): void => series.observe(name, ms / 1_000, labels);
  const { clock, build } = options;
  if (build) series.set('build_info', 1, { ...build });
  return {
    command(result, durationMs) {
      series.count('commands_total', { result });
      seconds('acknowledge_seconds', durationMs);
    },
    decided: (decision, reason) => series.count('decisions_total', { decision, reason }),
    launched: (durationMs) => seconds('launch_seconds', durationMs),
    runFinished: (outcome, durationMs) => seconds('run_seconds', durationMs, { outcome }),
    batchFinished: (outcome) => series.count('batches_total', { outcome }),
    approvalEnded: (verdict, waitedMs) => seconds('approval_wait_seconds', waitedMs, { verdict }),
    apiCall: (api, method, result, durationMs) => seconds('api_call_seconds', durationMs, { api, method, result }),
    requestRefused: (reason) => series.count('requests_refused_total', { reason }),
    alertsReceived(source, result, durationMs) {
      series.count('alert_notifications_total', { source, result });
      seconds('alert_notification_seconds', durationMs);
    },
    rateLimited: (method) => series.count('slack_rate_limited_total', { method }),
    watchRestarted: (reason) => series.count('watch_restarts_total', { reason }),
    logRead({ gaps, redactions }) {
      series.count('log_gaps_total', {}, gaps);
      series.count('redactions_total', {}, redactions);
    },
    adopted: (from) => series.count('adoptions_total', { from }),
    spoolFailed: (reason) => series.count('spool_failures_total', { reason }),
    leaseLost: () => series.count('leases_lost_total', {}),
    deliveryLost: () => series.count('deliveries_lost_total', {}),
    auditFailed: () => series.count('audit_failures_total', {}),
    tokenAccepted: (isAccepted) => series.set('slack_token_accepted', isAccepted ? 1 : 0),
    policyReloaded(result, hash) {
      series.count('policy_reloads_total', { result });
      series.set('policy_file_ok', result === 'refused' ? 0 : 1);
      if (!series.only('policy_info', { hash })) return;
      series.set('policy_loaded_timestamp_seconds', clock.now() / 1_000);
    },
    checked: (check, isOk) => series.set('check_ok', isOk ? 1 : 0, { check }),
    observe: (gauge, read) => series.read(gauge, read),
    contentType: series.contentType,
    text: () => series.text(),
  };
}

type Labels = Readonly<Record<string, string>>;
type Read = () => Reading | Promise<Reading>;

/** Every metric of the table by its name, with bounded labels. */
class Series {
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #gauges = new Map<MetricName, Gauge>();
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly #bounds = new Map<MetricName, BoundedLabels>();
  readonly #readers = new Map<GaugeName, Read[]>();
  readonly #only = new Map<MetricName, string>();

  constructor({ ofProcess = true }: MetricsOptions) {
    for (const [name, definition] of Object.entries(METRICS)) this.#define(name as MetricName, definition);
    if (!ofProcess) return;
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: LOOP_LAG_EVERY_MS });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  count(name: MetricName, labels: Labels, by = 1): void {
    this.#counters.get(name)?.inc(this.#bounded(name, labels), by);
  }

  observe(name: MetricName, value: number, labels: Labels): void {
    this.#histograms.get(name)?.observe(this.#bounded(name, labels), Math.max(0, value));
  }

  set(name: MetricName, value: number, labels: Labels = {}): void {
    this.#gauges.get(name)?.set(this.#bounded(name, labels), value);
  }

  /** Sets a gauge to 1 for these labels and forgets its others. @returns whether that was new */
  only(name: MetricName, labels: Labels): boolean {
    const key = JSON.stringify(labels);
    if (this.#only.get(name) === key) return false;
    this.#only.set(name, key);
    this.#gauges.get(name)?.reset();
    this.#gauges.get(name)?.set({ ...labels }, 1);
    return true;
  }

  read(name: GaugeName, read: Read): void {
    this.#readers.set(name, [...(this.#readers.get(name) ?? []), read]);
  }

  async text(): Promise<string> {
    await Promise.all([...this.#readers].map(([name, readers]) => this.#readNow(name, readers)));
    return this.#registry.metrics();
  }

  async #readNow(name: GaugeName, readers: readonly Read[]): Promise<void> {
    const readings = await Promise.all(
      readers.map(async (read) => read()).map((reading) => reading.catch(() => undefined)),
    );
    this.#clear(name, METRICS[name]);
    for (const reading of readings) this.#add(name, reading);
  }

  #add(name: GaugeName, reading: Reading): void {
    const gauge = this.#gauges.get(name);
    const { labels = {} }: Definition = METRICS[name];
    const [label = ''] = Object.keys(labels);
    if (typeof reading === 'number') gauge?.inc(reading);
    else if (reading !== undefined)
      for (const [value, number] of Object.entries(reading))
        gauge?.inc(this.#bounded(name, { [label]: value }), number);
  }

  /** Nothing is known yet: a gauge without labels has no value then, rather than a 0 that would be a lie. */
  #clear(name: MetricName, definition: Definition): void {
    const gauge = this.#gauges.get(name);
    gauge?.reset();
    if (definition.labels === undefined) gauge?.remove({});
    this.#startAtZero(name, definition);
  }

  #bounded(name: MetricName, labels: Labels): Record<string, string> {
    return this.#bounds.get(name)?.of(labels) ?? {};
  }

  #define(name: MetricName, definition: Definition): void {
    const { type, help, labels = {}, buckets = [] } = definition;
    const config = { name: `kdebug_${name}`, help, labelNames: Object.keys(labels), registers: [this.#registry] };
    if (type === 'counter') this.#counters.set(name, new Counter(config));
    else if (type === 'gauge') this.#gauges.set(name, new Gauge(config));
    else this.#histograms.set(name, new Histogram({ ...config, buckets: [...buckets] }));
    this.#bounds.set(name, new BoundedLabels(definition));
    this.#clear(name, definition);
  }

  /** A counter that Prometheus sees from 0 on shows its first increase; one that appears at 1 does not. */
  #startAtZero(name: MetricName, { type, labels = {} }: Definition): void {
    const [[label, values] = [], ...others] = Object.entries(labels);
    if (
      label === undefined ||
      values === undefined ||
      others.length > 0 ||
      values === 'open' ||
      values.length > MAX_ZEROS
    )
      return;
    for (const value of values) {
      if (type === 'counter') this.#counters.get(name)?.inc({ [label]: value }, 0);
      else if (type === 'gauge') this.#gauges.get(name)?.set({ [label]: value }, 0);
      else this.#histograms.get(name)?.zero({ [label]: value });
    }
  }
}

/** An open label takes this many different words, with each value of the closed labels beside it. */
const MAX_WORDS = 100;
/** And the open labels together this many combinations: each is a series, of a histogram a dozen. */
const MAX_COMBINATIONS = 500;
/** Error words, method names, versions and hashes look like this; a sentence or an address of a person does not. */
const PLAIN_WORD = /^[A-Za-z0-9_.+-]{1,80}$/;
const OTHER = 'other';

/**
 * Keeps the series of one metric few: a value outside the closed list of its label, a strange one, or one too many
 * becomes `other`.
 */
class BoundedLabels {
  readonly #labels: NonNullable<Definition['labels']>;
  readonly #known = new Map<string, Set<string>>();

  constructor({ labels = {} }: Definition) {
    this.#labels = labels;
  }

  of(values: Readonly<Record<string, string>>): Record<string, string> {
    const closed: Record<string, string> = {};
    const open: [string, string][] = [];
    for (const [label, value] of Object.entries(values)) {
      const allowed = this.#labels[label] ?? [];
      if (allowed === 'open') open.push([label, value]);
      else closed[label] = allowed.includes(value) ? value : OTHER;
    }
    // Of one API, say: what a strange Slack answers takes no word from the cluster.
    const beside = Object.values(closed).join(' ');
    const words = open.map(([label, value]): [string, string] => [
      label,
      PLAIN_WORD.test(value) && this.#admits(`${label} ${beside}`, value, MAX_WORDS) ? value : OTHER,
    ]);
    const combination = words.map(([, word]) => word).join(' ');
    const isAdmitted = this.#admits(beside, combination, MAX_COMBINATIONS);
    const admitted = Object.fromEntries(isAdmitted ? words : open.map(([label]) => [label, OTHER]));
    // In the order of the labels.
    return { ...values, ...closed, ...admitted };
  }

  /** This value is one of the first `max` of its kind. */
  #admits(kind: string, value: string, max: number): boolean {
    const known = this.#known.get(kind) ?? new Set();
    this.#known.set(kind, known);
    if (!known.has(value) && known.size < max) known.add(value);
    return known.has(value);
  }
}
