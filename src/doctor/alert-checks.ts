import type { Env } from '../config/env.ts';
import { isUsableSecret, MIN_SECRET_LENGTH } from '../core/alert/secret.ts';
import type { AlertSource, Policy } from '../core/policy/policy.ts';
import { areaOf, type Check } from './check.ts';
import { RESTART } from './setup-checks.ts';

const alerts = areaOf('alerts');

/** The port and the secrets of the sources of alerts; nothing where the policy has none and no port is set. */
export function checkAlerts(
  { alertsPort }: Pick<Env, 'alertsPort'>,
  policy: Pick<Policy, 'alerts'> | undefined,
  secretOf: (variable: string) => string | undefined,
): readonly Check[] {
  const sources = Object.values(policy?.alerts ?? {});
  if (sources.length === 0 && alertsPort === undefined) return [];
  return [portCheck(alertsPort, sources), ...sources.map((source) => secretCheck(source, secretOf(source.secretEnv)))];
}

function portCheck(port: number | undefined, sources: readonly AlertSource[]): Check {
  if (port === undefined)
    return alerts.fail(
      'ALERTS_PORT',
      'is not set, so nobody can send what the policy wants to know',
      'add ../../components/alerts under components: of your kustomization, or alerts.create: true to the chart’s values',
    );
  return sources.length === 0
    ? alerts.warn(
        'ALERTS_PORT',
        `${port} is open, and the policy has no source of alerts`,
        'remove it, or add alerts: to the policy',
      )
    : alerts.ok('ALERTS_PORT', String(port));
}

function secretCheck({ name, secretEnv }: AlertSource, secret = ''): Check {
  const result =
    secret === ''
      ? `the variable ${secretEnv} is not set, so every notification is refused`
      : `${secretEnv} has less than ${MIN_SECRET_LENGTH} characters, so every notification is refused`;
  return isUsableSecret(secret)
    ? alerts.ok(name, `${secretEnv} is set`)
    : alerts.fail(name, result, `add it to the Secret kdebug: openssl rand -hex 24`, RESTART);
}
