import { expect, it } from 'vitest';
import { checkAlerts } from '../../src/doctor/alert-checks.ts';
import { anAlertSource } from '../support/alerts.ts';

const SHOP = { alerts: { shop: anAlertSource() } };
const check = (policy: Parameters<typeof checkAlerts>[1], alertsPort?: number, secret?: string) =>
  checkAlerts(alertsPort === undefined ? {} : { alertsPort }, policy, (name) =>
    name === 'ALERTS_SECRET' ? secret : undefined,
  ).map(({ state, what, result }) => `${state} ${what}: ${result}`);

it('says nothing of alerts where nobody wants them', () => {
  expect(check({})).toEqual([]);
  expect(check(undefined)).toEqual([]);
});

it('says that the port and the secret are there', () => {
  expect(check(SHOP, 3001, 'x'.repeat(16))).toEqual(['ok ALERTS_PORT: 3001', 'ok shop: ALERTS_SECRET is set']);
});

it('says that nothing listens, and that the secret lacks or is too short', () => {
  expect(check(SHOP)).toEqual([
    'fail ALERTS_PORT: is not set, so nobody can send what the policy wants to know',
    'fail shop: the variable ALERTS_SECRET is not set, so every notification is refused',
  ]);
  expect(check(SHOP, 3001, 'short')[1]).toContain('has less than 16 characters');
});

it('warns of a port that nobody needs', () => {
  expect(check({}, 3001)).toEqual(['warn ALERTS_PORT: 3001 is open, and the policy has no source of alerts']);
});
