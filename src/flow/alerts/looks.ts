import { ALERTS_A_MINUTE, alertKey, OPEN_MS } from '../../core/alert/card.ts';
import { matchesLabels } from '../../core/alert/match.ts';
import type { Alert, AlertNotification } from '../../core/alert/notification.ts';
import { type Aimed, type AlertTarget, aimOfAlert, workloadKeyOf } from '../../core/alert/target.ts';
import { type ChannelId, userOfAlerts } from '../../core/ids.ts';
import { resolveCluster } from '../../core/planning/resolve.ts';
import type { AlertSource, Policy } from '../../core/policy/policy.ts';
import type { Quota } from '../ports/store.ts';

/** An alert that came later than this tells what was, for example after an outage of its source: it is shown, and nothing is looked at. */
const MAX_AGE_MS = 15 * 60_000;

/** Of a channel. */
const MAX_OPEN_CARDS = 10_000;

/** The pod that kdebug itself runs in. */
export interface OwnPod {
  readonly namespace: string;
  readonly name: string;
}

export interface Judged {
  readonly alert: Alert;
  readonly aimed: Aimed;
}

interface JudgedBy {
  readonly source: AlertSource;
  readonly nowMs: number;
  readonly ownPod: OwnPod | undefined;
}

/** The alerts of a notification that the policy wants to know of. */
export const wantedOf = (notification: AlertNotification, source: AlertSource): AlertNotification => ({
  ...notification,
  alerts: notification.alerts.filter(({ labels }) => matchesLabels(labels, source)),
});

/** The target of each alert, or the reason why nothing may look at it. Of several alerts about one target, only the first. */
export function judge(alerts: readonly Alert[], by: JudgedBy): readonly Judged[] {
  const byTarget = new Map<string, Judged>();
  for (const alert of alerts) {
    const aimed = aimOf(alert, by);
    const key = aimed.kind === 'target' ? JSON.stringify(aimed.target) : alertKey(alert);
    if (!byTarget.has(key)) byTarget.set(key, { alert, aimed });
  }
  return [...byTarget.values()];
}

function aimOf({ labels, startsAtMs }: Alert, { source, nowMs, ownPod }: JudgedBy): Aimed {
  const aimed = aimOfAlert(labels, source);
  if (aimed.kind === 'none') return aimed;
  const subject = `${aimed.target.namespace}/${aimed.target.name}`;
  if (ownPod && isOurs(aimed.target, ownPod)) return { kind: 'none', code: 'alert_of_kdebug', subject };
  if (nowMs - startsAtMs > MAX_AGE_MS) return { kind: 'none', code: 'alert_too_old', subject };
  return aimed;
}

/** A pod of the same name in another cluster is not worth a look that could take kdebug itself down. */
const isOurs = (target: AlertTarget, ownPod: OwnPod): boolean =>
  workloadKeyOf({ namespace: target.namespace, name: target.name }) === workloadKeyOf(ownPod);

/** Of all cards and looks of a channel that nobody asked for, whatever becomes of them. */
export const paceOf = (channelId: ChannelId): Quota => ({
  key: `alerts:${channelId}`,
  ...{ code: 'alert_limit', per: 'window', windowMs: 60_000, max: ALERTS_A_MINUTE },
});

/** Cards that still take alerts of their group, which no store drops. Sent again, an alert has its card when an older one is closed. */
export const openCardsOf = (channelId: ChannelId): Quota => ({
  key: `cards:${channelId}`,
  ...{ code: 'too_busy', per: 'window', windowMs: OPEN_MS, max: MAX_OPEN_CARDS },
});

/** The bounds of a look that nobody asked for. `most`: how many of one workload may begin within the cooldown. */
export function quotasOfLook(
  { alert, target }: { readonly alert: Alert; readonly target: AlertTarget },
  { source, policy, most }: { readonly source: AlertSource; readonly policy: Policy; readonly most: number },
): readonly Quota[] {
  const { limits } = policy;
  const resolved = resolveCluster(target.cluster, policy);
  const cluster = resolved.kind === 'ok' ? resolved.cluster : '';
  return [
    {
      key: `alert:${alert.labels.alertname ?? ''}:${workloadKeyOf({ ...target, cluster })}`,
      ...{ code: 'alert_cooldown', per: 'window', windowMs: source.cooldownMs, max: most },
    },
    paceOf(source.channel),
    { key: `channel:${source.channel}`, code: 'limit_per_channel', per: 'open', max: limits.runsPerChannel },
    { key: `cluster:${cluster}`, code: 'limit_per_cluster', per: 'open', max: limits.runsPerCluster },
    {
      key: `person:${userOfAlerts(source.name)}`,
      ...{ code: 'limit_pending_per_person', per: 'pending', max: limits.pendingApprovalsPerUser },
    },
  ];
}
