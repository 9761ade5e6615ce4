import type { Alert, AlertNotification, Labels } from '../../src/core/alert/notification.ts';
import { asChannelId } from '../../src/core/ids.ts';
import type { AlertSource, Policy } from '../../src/core/policy/policy.ts';
import { aPolicy, START_MS } from './builders.ts';

export const anAlertSource = (parts: Partial<AlertSource> = {}): AlertSource => ({
  name: 'shop',
  format: 'alertmanager',
  secretEnv: 'ALERTS_SECRET',
  channel: asChannelId('C0SHOP'),
  match: {},
  cooldownMs: 3_600_000,
  perGroup: 2,
  asks: false,
  ...parts,
});

/** A policy with one source, `shop`, that may look at pods with the default image. */
export function anAlertPolicy(source: Partial<AlertSource> = {}, parts: Partial<Policy> = {}): Policy {
  const policy = aPolicy();
  const [[alias, image] = ['', undefined]] = Object.entries(policy.images);
  return {
    ...policy,
    ...(image ? { images: { ...policy.images, [alias]: { ...image, class: 'observe', diagnostic: true } } } : {}),
    defaultImage: alias,
    alerts: { shop: anAlertSource(source) },
    ...parts,
  };
}

/** An alert about `web-1` in `shop` that began a minute before the clock of every test. */
export function anAlert({ labels = {}, ...parts }: Partial<Alert> = {}): Alert {
  const all: Labels = {
    alertname: 'KubePodCrashLooping',
    severity: 'critical',
    namespace: 'shop',
    pod: 'web-1',
    ...labels,
  };
  return {
    isFiring: true,
    labels: all,
    annotations: { summary: 'Pod is crash looping.' },
    startsAtMs: START_MS - 60_000,
    fingerprint: JSON.stringify(all),
    links: {},
    ...parts,
  };
}

export const aNotification = (
  alerts: readonly Alert[] = [anAlert()],
  parts: Partial<AlertNotification> = {},
): AlertNotification => ({
  groupKey: '{}:{alertname="KubePodCrashLooping"}',
  alerts,
  truncated: 0,
  ...parts,
});
