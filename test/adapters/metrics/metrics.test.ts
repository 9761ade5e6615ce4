import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { METRICS } from '../../../src/adapters/metrics/definitions.ts';
import { createMetrics } from '../../../src/adapters/metrics/index.ts';
import { OUTCOME_GROUP } from '../../../src/core/outcome.ts';
import { inFullOr } from '../../support/sample.ts';

/** Installed by `.ci/tools`; without it the one test that needs it is skipped. */
const PROMTOOL = join(process.env.KDEBUG_TOOLS ?? join(homedir(), '.cache/kdebug-tools'), 'promtool');

const NOW_MS = 1_700_000_000_000;

function measured(over: Partial<Parameters<typeof createMetrics>[0]> = {}) {
  const metrics = createMetrics({ clock: { now: () => NOW_MS }, ofProcess: false, ...over });
  const lines = async (name: string) => (await metrics.text()).split('\n').filter((line) => line.startsWith(name));
  return { metrics, lines };
}

describe('the metrics', () => {
  it('count commands and how long their answers took, in seconds', async () => {
    const { metrics, lines } = measured();
    metrics.command('accepted', 12);
    metrics.command('channel_unknown', 4);
    expect(await lines('kdebug_commands_total{')).toEqual([
      'kdebug_commands_total{result="accepted"} 1',
      'kdebug_commands_total{result="channel_unknown"} 1',
    ]);
    expect(await lines('kdebug_acknowledge_seconds_bucket{le="0.005"}')).toEqual([
      'kdebug_acknowledge_seconds_bucket{le="0.005"} 1',
    ]);
  });

  it('count decisions with their reason', async () => {
    const { metrics, lines } = measured();
    metrics.decided('deny', 'image_not_allowed');
    metrics.decided('allow', 'none');
    expect(await lines('kdebug_decisions_total{')).toEqual([
      'kdebug_decisions_total{decision="deny",reason="image_not_allowed"} 1',
      'kdebug_decisions_total{decision="allow",reason="none"} 1',
    ]);
  });

  it('measure runs, launches, batches and approvals', async () => {
    const { metrics, lines } = measured();
    metrics.runFinished('oom-killed', 1_500);
    metrics.launched(700);
    metrics.batchFinished('ttl');
    metrics.approvalEnded('rejected', 61_000);
    expect(await lines('kdebug_run_seconds_sum{outcome="oom-killed"}')).toEqual([
      'kdebug_run_seconds_sum{outcome="oom-killed"} 1.5',
    ]);
    expect(await lines('kdebug_launch_seconds_sum')).toEqual(['kdebug_launch_seconds_sum 0.7']);
    expect(await lines('kdebug_batches_total{outcome="ttl"}')).toEqual(['kdebug_batches_total{outcome="ttl"} 1']);
    expect(await lines('kdebug_approval_wait_seconds_sum{verdict="rejected"}')).toEqual([
      'kdebug_approval_wait_seconds_sum{verdict="rejected"} 61',
    ]);
  });

  it('time calls by interface, method and result', async () => {
    const { metrics, lines } = measured();
    metrics.apiCall('slack', 'chat.postMessage', 'channel_not_found', 30);
    metrics.rateLimited('chat.update');
    expect(await lines('kdebug_api_call_seconds_sum')).toEqual([
      'kdebug_api_call_seconds_sum{api="slack",method="chat.postMessage",result="channel_not_found"} 0.03',
    ]);
    expect(await lines('kdebug_slack_rate_limited_total{')).toEqual([
      'kdebug_slack_rate_limited_total{method="chat.update"} 1',
    ]);
  });

  it('count what went wrong on the way', async () => {
    const { metrics, lines } = measured();
    metrics.watchRestarted('expired');
    metrics.logRead({ gaps: 2, redactions: 5 });
    metrics.adopted('cluster');
    metrics.leaseLost();
    metrics.deliveryLost();
    metrics.auditFailed();
    const counted = (await lines('kdebug_')).filter((line) => / [1-9]\d*$/.test(line));
    expect(counted).toEqual([
      'kdebug_watch_restarts_total{reason="expired"} 1',
      'kdebug_log_gaps_total 2',
      'kdebug_redactions_total 5',
      'kdebug_adoptions_total{from="cluster"} 1',
      'kdebug_leases_lost_total 1',
      'kdebug_audit_failures_total 1',
      'kdebug_deliveries_lost_total 1',
    ]);
  });

  it('name the build that runs', async () => {
    const { lines } = measured({
      build: { version: '0.1.0', revision: 'abc', node: '24.1.0', mode: 'http', store: 'redis' },
    });
    expect(await lines('kdebug_build_info')).toEqual([
      'kdebug_build_info{version="0.1.0",revision="abc",node="24.1.0",mode="http",store="redis"} 1',
    ]);
  });
});

/** Else Prometheus would see no increase when the first four runs of a young replica fail between two scrapes. */
describe('the counts of how things end', () => {
  it.each([
    ['run_seconds_count', 'outcome', Object.keys(OUTCOME_GROUP)],
    ['approval_wait_seconds_count', 'verdict', METRICS.approval_wait_seconds.labels.verdict],
    ['batches_total', 'outcome', METRICS.batches_total.labels.outcome],
    ['requests_refused_total', 'reason', ['signature', 'clock', 'form']],
    ['spool_failures_total', 'reason', ['spool_full', 'spool_failed']],
  ])('begin at 0: %s', async (name, label, values) => {
    expect(await measured().lines(`kdebug_${name}`)).toEqual(
      values.map((value) => `kdebug_${name}{${label}="${value}"} 0`),
    );
  });
});

describe('the metrics of the policy', () => {
  it('show the hash in force and since when', async () => {
    const { metrics, lines } = measured();
    metrics.policyReloaded('applied', 'aaa');
    metrics.policyReloaded('applied', 'bbb');
    expect(await lines('kdebug_policy_info')).toEqual(['kdebug_policy_info{hash="bbb"} 1']);
    expect(await lines('kdebug_policy_loaded')).toEqual(['kdebug_policy_loaded_timestamp_seconds 1700000000']);
  });

  it('show a refused file, while the old hash stays', async () => {
    const { metrics, lines } = measured();
    metrics.policyReloaded('applied', 'aaa');
    metrics.policyReloaded('refused', 'aaa');
    expect(await lines('kdebug_policy_file_ok')).toEqual(['kdebug_policy_file_ok 0']);
    expect(await lines('kdebug_policy_info')).toEqual(['kdebug_policy_info{hash="aaa"} 1']);
    expect(await lines('kdebug_policy_reloads_total{result="refused"}')).toEqual([
      'kdebug_policy_reloads_total{result="refused"} 1',
    ]);
    metrics.policyReloaded('unchanged', 'aaa');
    expect(await lines('kdebug_policy_file_ok')).toEqual(['kdebug_policy_file_ok 1']);
  });
});

describe('a gauge', () => {
  it('has no value before anything is known', async () => {
    const { lines } = measured();
    for (const name of ['slack_token_accepted', 'policy_file_ok', 'slack_sockets', 'approvals_pending'])
      expect(await lines(`kdebug_${name}`)).toEqual([]);
  });

  it('adds up its readers, each time anew', async () => {
    const { metrics, lines } = measured();
    let waiting = 3;
    metrics.observe('queue_length', () => ({ slack: waiting }));
    metrics.observe('queue_length', async () => ({ slack: 1, audit: 2 }));
    expect(await lines('kdebug_queue_length{queue="slack"}')).toEqual(['kdebug_queue_length{queue="slack"} 4']);
    waiting = 0;
    expect(await lines('kdebug_queue_length{')).toEqual([
      'kdebug_queue_length{queue="slack"} 1',
      'kdebug_queue_length{queue="kubernetes"} 0',
      'kdebug_queue_length{queue="audit"} 2',
    ]);
  });

  it('has no value when its reader fails or does not know', async () => {
    const { metrics, lines } = measured();
    let reading: () => number | undefined = () => 7;
    metrics.observe('approvals_pending', async () => reading());
    expect(await lines('kdebug_approvals_pending')).toEqual(['kdebug_approvals_pending 7']);
    reading = () => {
      throw new Error('the store is away');
    };
    expect(await lines('kdebug_approvals_pending')).toEqual([]);
    reading = () => undefined;
    expect(await lines('kdebug_approvals_pending')).toEqual([]);
  });

  it('turns with the token and the checks', async () => {
    const { metrics, lines } = measured();
    metrics.tokenAccepted(true);
    metrics.tokenAccepted(false);
    metrics.checked('store', false);
    metrics.checked('store', true);
    expect(await lines('kdebug_slack_token_accepted')).toEqual(['kdebug_slack_token_accepted 0']);
    expect(await lines('kdebug_check_ok')).toEqual(['kdebug_check_ok{check="store"} 1']);
  });
});

describe('a label', () => {
  it('with a closed list takes nothing else', async () => {
    const { metrics, lines } = measured();
    metrics.command('no such code', 1);
    metrics.watchRestarted('somebody@example.com');
    expect(await lines('kdebug_commands_total{')).toEqual(['kdebug_commands_total{result="other"} 1']);
    expect(await lines('kdebug_watch_restarts_total{')).toEqual(['kdebug_watch_restarts_total{reason="other"} 1']);
  });

  it('with an open list takes plain words only, and a hundred of them', async () => {
    const { metrics, lines } = measured();
    metrics.rateLimited('a sentence with "quotes"');
    expect(await lines('kdebug_slack_rate_limited_total{')).toEqual([
      'kdebug_slack_rate_limited_total{method="other"} 1',
    ]);
    for (let index = 0; index < 150; index += 1) metrics.rateLimited(`method${index}`);
    metrics.rateLimited('method7');
    const all = await lines('kdebug_slack_rate_limited_total{');
    expect(all).toHaveLength(101);
    expect(all).toContain('kdebug_slack_rate_limited_total{method="other"} 51');
    expect(all).toContain('kdebug_slack_rate_limited_total{method="method7"} 2');
  });
});

describe('a hostile Slack that answers each method with ever new words', () => {
  const WORDS = inFullOr(10_000, 1_000);
  const METHODS = Array.from({ length: 30 }, (_, number) => `method.${number}`);
  function flooded() {
    const { metrics, lines } = measured();
    for (let word = 0; word < WORDS; word += 1)
      for (const method of METHODS) metrics.apiCall('slack', method, `word_${word % 500}_${word}`, 1);
    return { metrics, lines };
  }

  it('makes 501 series at most', async () => {
    expect((await flooded().lines('kdebug_api_call_seconds_count{')).length).toBeLessThanOrEqual(501);
  });

  it('takes no word from the cluster or from Redis', async () => {
    const { metrics, lines } = flooded();
    metrics.apiCall('kubernetes', 'get_pod', 'cluster_forbidden', 1);
    expect(await lines('kdebug_api_call_seconds_count{api="kubernetes"')).toEqual([
      'kdebug_api_call_seconds_count{api="kubernetes",method="get_pod",result="cluster_forbidden"} 1',
    ]);
  });

  it.each(['__proto__', 'a"} 1\nfake{x="', 'constructor', 'ok\\'])(
    'makes no line of its own by the word %j',
    async (word) => {
      const { metrics, lines } = measured();
      metrics.apiCall('slack', 'auth.test', word, 1);
      expect(await lines('fake')).toEqual([]);
      expect(await lines('kdebug_api_call_seconds_count{')).toHaveLength(1);
    },
  );
});

describe('the exposition', () => {
  it('has every metric of the table, with its help', async () => {
    const text = await measured().metrics.text();
    for (const [name, { help, type }] of Object.entries(METRICS)) {
      expect(text).toContain(`# HELP kdebug_${name} ${help}`);
      expect(text).toContain(`# TYPE kdebug_${name} ${type}`);
    }
  });

  it('of two instances does not mix', async () => {
    const first = measured();
    const second = measured();
    first.metrics.command('accepted', 1);
    expect(await second.lines('kdebug_commands_total{')).toEqual([]);
  });

  it.skipIf(!existsSync(PROMTOOL))(
    'follows Prometheus’ conventions, with the metrics of the process (promtool)',
    async () => {
      const { metrics } = measured({ ofProcess: true });
      metrics.command('accepted', 12);
      metrics.runFinished('succeeded', 1_500);
      metrics.apiCall('redis', 'save', 'ok', 1);
      metrics.policyReloaded('applied', 'aaa');
      const checked = spawnSync(PROMTOOL, ['check', 'metrics'], { input: await metrics.text(), encoding: 'utf8' });
      expect([checked.stdout, checked.stderr, checked.status]).toEqual(['', '', 0]);
    },
  );
});
