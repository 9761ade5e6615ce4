import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { explainAlert } from '../../src/cli/explain-alert.ts';
import { lintPolicy } from '../../src/cli/lint-policy.ts';

const directory = mkdtempSync(join(tmpdir(), 'kdebug-explain-alert-'));
afterAll(() => rmSync(directory, { recursive: true }));

const policy = (rule = '', source = '') => `version: 1
clusters: { prod: { inCluster: true, default: true } }
identity: { mode: serviceAccount }
images:
  autodiagnose: { image: "images.shop.internal/autodiagnose@sha256:${'a'.repeat(64)}", class: observe, diagnostic: true }
defaultImage: autodiagnose
approvers: { sre: { users: [U0A1B2C3D4] } }
channels:
  C0SHOP:
    rules: [{ id: look, clusters: [prod], namespaces: [shop], classes: [observe], profiles: [restricted]${rule} }]
alerts:
  am: { source: alertmanager, secretEnv: AM_SECRET, channel: C0SHOP, match: { severity: [critical] }${source} }
`;
const APPROVAL = ', approval: { from: [sre] }';

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

function run(text: string, alert: string, source = 'am') {
  const lines: string[] = [];
  const words = ['--alert', alert, '--source', source, '--policy', file('policy.yaml', text)];
  return { code: explainAlert(words, (line) => lines.push(line)), text: lines.join('\n') };
}

const labels = (more: object = {}) =>
  file(
    'labels.json',
    JSON.stringify({ alertname: 'A', severity: 'critical', namespace: 'shop', pod: 'web-1', ...more }),
  );

describe('explain --alert', () => {
  it('names what is looked at, of a notification as Alertmanager sends it', () => {
    const sample = readFileSync('test/fixtures/webhooks/alertmanager.json', 'utf8');
    expect(run(policy(), file('sent.json', sample))).toEqual({
      code: 0,
      text: 'KubePodCrashLooping: a card in C0SHOP, and a look at shop/web-1 of cluster prod by rule look',
    });
  });

  it.each([
    ['an alert that match does not name', policy(), { severity: 'warning' }, 'does not name it'],
    ['another cluster', policy(), { cluster: 'eu-2' }, 'alert_cluster_unknown'],
    ['a namespace without a rule', policy(), { namespace: 'pay' }, 'namespace_not_allowed'],
    ['a rule with an approval', policy(APPROVAL), {}, 'alert_needs_approval'],
    ['a pod of an exporter', policy(), { pod: 'kube-state-metrics-0' }, 'alert_of_exporter'],
  ])('says why %s starts nothing', (_, text, more, said) => {
    const explained = run(text, labels(more));
    expect(explained.code).toBe(1);
    expect(explained.text).toContain(said);
  });

  it('looks where the source may ask for the approval', () => {
    expect(run(policy(APPROVAL, ', ask: true'), labels()).code).toBe(0);
  });

  it('says what is wrong with its arguments', () => {
    expect(run(policy(), labels(), 'other').text).toBe('alerts: has no source other; it has: am');
    expect(run(policy(), file('text.json', 'no JSON')).text).toContain('is no notification of alerts');
    expect(explainAlert(['--alert'], () => {})).toBe(2);
  });
});

describe('lint-policy', () => {
  const notes = (text: string) => {
    const lines: string[] = [];
    lintPolicy([file('policy.yaml', text)], (line) => lines.push(line));
    return lines.join('\n');
  };

  it('says which source looks at nothing', () => {
    expect(notes(policy())).not.toContain('alerts.am');
    expect(notes(policy(APPROVAL))).toContain('wants an approval, so nothing is looked at without ask: true');
    expect(notes(policy().replace('classes: [observe]', 'classes: [intrusive]'))).toContain(
      'alerts.am: no rule of C0SHOP has the class observe',
    );
  });

  it('says who may decide alone on what they had asked for, unless two must', () => {
    expect(notes(policy(APPROVAL, ', ask: true'))).toContain('one approver who can also send alerts decides alone');
    expect(notes(policy(APPROVAL.replace('from:', 'count: 2, from:'), ', ask: true'))).not.toContain('alerts.am');
  });

  it.each([
    ['an unknown channel', 'channel: C0SHOP, match', 'channel: C0OTHER, match', 'is no channel of channels'],
    ['a variable that is no secret', 'AM_SECRET', 'PATH', 'this one is no secret'],
    ['one that Kubernetes sets', 'AM_SECRET', 'SHOP_SERVICE_HOST', 'this one is no secret'],
    ['a variable of kdebug’s own', 'AM_SECRET', 'SLACK_BOT_TOKEN', 'must be a variable of its own'],
    ['an image that is not for alerts', 'diagnostic: true', 'diagnostic: false', 'needs an image of class observe'],
    ['an unknown cluster', 'match: {', 'clusters: { eu: other }, match: {', 'is no cluster of clusters'],
    ['output for the requester', 'alerts:', 'output: { deliverTo: requester }\nalerts:', 'nobody requests'],
    ['a name that is no path', '  am: {', '  A/m: {', 'is not a valid key'],
  ])('refuses %s', (_, from, to, said) => {
    expect(notes(policy().replace(from, to))).toContain(said);
  });
});
