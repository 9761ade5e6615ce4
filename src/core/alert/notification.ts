/**
 * One notification of a source of alerts: a group of alerts that it tells together, in the words that Alertmanager and Grafana share. Every
 * text in it is foreign: bounded in length, and not redacted yet.
 * @see https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
 */
export interface AlertNotification {
  /** The same for every notification of a group. */
  readonly groupKey: string;
  /** All alerts of the group, also those that have ended since the last notification. */
  readonly alerts: readonly Alert[];
  /** The number of alerts that the source left out. */
  readonly truncated: number;
  /** When it was sent, where a signature proves that. */
  readonly sentAtMs?: number;
}

export type Labels = Readonly<Record<string, string>>;

export interface Alert {
  readonly isFiring: boolean;
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly startsAtMs: number;
  /** Of one that has ended. */
  readonly endsAtMs?: number;
  /** The same for every alert with these labels. */
  readonly fingerprint: string;
  readonly links: AlertLinks;
}

/** Addresses, each `https:` or `http:`. */
export interface AlertLinks {
  readonly runbook?: string;
  readonly dashboard?: string;
  readonly silence?: string;
  /** The rule's own page. */
  readonly source?: string;
}
