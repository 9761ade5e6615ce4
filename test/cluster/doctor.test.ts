import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalSlack, startLocalSlack } from '../../play/slack/index.ts';
import { doctor } from '../../src/compose-doctor.ts';
import { policyOf } from '../doctor/bed.ts';
import { Kube } from '../e2e/kube.ts';

const path = process.env.KUBECONFIG ?? '';
if (path === '') console.warn('skipped: KUBECONFIG names no cluster');

describe.skipIf(path === '')('on a real cluster, the doctor', () => {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-doctor-'));
  const policyPath = join(directory, 'policy.yaml');
  let kube: Kube;
  let slack: LocalSlack;
  let namespace: string;

  beforeAll(async () => {
    slack = await startLocalSlack();
    kube = new Kube(readFileSync(path, 'utf8'));
    namespace = await kube.namespace('kdebug-doctor', 'restricted');
    const config = new KubeConfig();
    config.loadFromFile(path);
    const context = JSON.stringify(config.getCurrentContext());
    writeFileSync(
      policyPath,
      policyOf({ namespaces: `[${namespace}, kdebug-nowhere]` }).replace('context: bed', `context: ${context}`),
    );
  });
  afterAll(async () => {
    await Promise.all([slack?.stop(), kube?.cleanUp()]);
    rmSync(directory, { recursive: true, force: true });
  });

  it('finds version, subresource, account, rights and Pod Security, and a namespace that is not there', async () => {
    const lines: string[] = [];
    const exitCode = await doctor({
      words: [],
      out: (line) => void lines.push(line),
      tool: (name) => name,
      variables: {
        SLACK_BOT_TOKEN: slack.botToken,
        SLACK_APP_TOKEN: slack.appToken,
        SLACK_API_URL: slack.apiUrl,
        KDEBUG_POLICY: policyPath,
        KUBECONFIG: path,
        OPS_PORT: '0',
      },
    });
    const report = lines.join('\n');
    expect(report).toMatch(/^ok {4}cluster main {2}API server: \S+ runs v1\.\d+/m);
    expect(report).toMatch(/^ok {4}cluster main {2}ephemeral containers: /m);
    expect(report).toMatch(/^ok {4}cluster main {2}account: acts as \S/m);
    expect(report).toContain(`ok    cluster main  rights in ${namespace}: all 7`);
    expect(report).toContain(`ok    cluster main  Pod Security of ${namespace}: restricted; refuses baseline, general`);
    expect(report).toMatch(/^FAIL {2}cluster main {2}namespace kdebug-nowhere: does not exist/m);
    expect(exitCode).toBe(1);
  });
});
