import { z } from 'zod';
import type { AlertNotification, Labels } from '../../../core/alert/notification.ts';
import type { AlertSource } from '../../../core/policy/policy.ts';
import { defined } from '../../../lib/object.ts';

/** More in one notification are refused: whoever receives them cannot read them. */
const MAX_ALERTS = 500;
const MAX_LABELS = 100;
const MAX_KEY_LENGTH = 200;
/** In characters. The rest of a longer label or annotation is not read. */
const MAX_VALUE_LENGTH = 2_000;

const texts = z
  .record(z.string(), z.string())
  .catch({})
  .transform(
    (given): Labels =>
      Object.fromEntries(
        Object.entries(given)
          .slice(0, MAX_LABELS)
          .map(([name, value]) => [name.slice(0, MAX_KEY_LENGTH), value.slice(0, MAX_VALUE_LENGTH)]),
      ),
  );

/** RFC 3339; the year 1 is Go's way to say that there is none yet. */
const rfc3339 = z
  .string()
  .transform((text) => Date.parse(text))
  .refine((atMs) => !Number.isNaN(atMs));

const address = z
  .string()
  .optional()
  .catch(undefined)
  .transform((url) => (url !== undefined && /^https?:\/\//.test(url) ? url : undefined));

const Alert = z.object({
  status: z.enum(['firing', 'resolved']),
  labels: texts,
  annotations: texts,
  startsAt: rfc3339,
  endsAt: rfc3339.optional().catch(undefined),
  generatorURL: address,
  fingerprint: z.string().min(1).max(MAX_KEY_LENGTH),
  silenceURL: address,
  dashboardURL: address,
  panelURL: address,
});

const versionOf: Readonly<Record<AlertSource['format'], string>> = { alertmanager: '4', grafana: '1' };

const Notification = z.object({
  version: z.string(),
  groupKey: z.string().min(1),
  truncatedAlerts: z.int().min(0).catch(0),
  alerts: z.array(z.unknown()),
});

export type ReadBody =
  | { readonly kind: 'ok'; readonly notification: AlertNotification }
  | { readonly kind: 'invalid' | 'too-many'; readonly detail: string };

/**
 * Reads a notification of Alertmanager (version 4) or Grafana (version 1). Foreign text: what is too long is cut, what is no text is left out, and
 * what has another shape is refused whole.
 */
export function readBody(body: string, format: AlertSource['format']): ReadBody {
  const parsed = Notification.safeParse(jsonOf(body));
  if (!parsed.success) return { kind: 'invalid', detail: 'it is no notification' };
  const { version, groupKey, truncatedAlerts, alerts } = parsed.data;
  if (version !== versionOf[format])
    return { kind: 'invalid', detail: `version "${version.slice(0, 20)}" instead of "${versionOf[format]}"` };
  if (alerts.length > MAX_ALERTS) return { kind: 'too-many', detail: `${alerts.length} alerts` };
  const read = z.array(Alert).safeParse(alerts);
  if (!read.success) return { kind: 'invalid', detail: `alerts.${read.error.issues[0]?.path.join('.') ?? ''}` };
  const notification = { groupKey, truncated: truncatedAlerts, alerts: read.data.map(alertOf) };
  return { kind: 'ok', notification };
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function alertOf(alert: z.output<typeof Alert>): AlertNotification['alerts'][number] {
  const { status, labels, annotations, startsAt, endsAt, fingerprint } = alert;
  const hasEnded = status === 'resolved' && endsAt !== undefined && endsAt > 0;
  return {
    isFiring: status === 'firing',
    labels,
    annotations,
    startsAtMs: startsAt,
    fingerprint,
    links: defined({
      runbook: annotations.runbook_url,
      dashboard: alert.panelURL ?? alert.dashboardURL ?? annotations.dashboard_url,
      silence: alert.silenceURL,
      source: alert.generatorURL,
    }),
    ...defined({ endsAtMs: hasEnded ? endsAt : undefined }),
  };
}
