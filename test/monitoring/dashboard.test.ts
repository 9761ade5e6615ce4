import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../../play/app/conversation.ts';
import { JONAS, ROY, THURSTON } from '../../play/app/examples.ts';
import { playPolicy } from '../../play/app/policy.ts';
import { playTeam } from '../../play/app/team.ts';
import { type LocalCluster, openShop, startLocalCluster } from '../../play/cluster/index.ts';
import { ALERTS } from '../../scripts/monitoring/alerts.ts';
import { ROWS } from '../../scripts/monitoring/dashboard.ts';
import { hasRedis } from '../adapters/store/redis/redis-server.ts';
import { tool } from '../contract/rendered.ts';
import { type BuiltProgram, buildProgram } from '../support/program/built-program.ts';
import { CHANNEL, ProgramScene } from '../support/program/program-scene.ts';
import { Prometheus, type Scrape } from './prometheus.ts';

const TARGET = { namespace: 'kdebug', pod: 'kdebug-1', container: 'kdebug', job: 'kdebug-metrics', instance: 'one' };
const STEP = 30;

const panels = ROWS.flatMap((row) => row.panels);
const queries = panels.flatMap((panel) => panel.queries.map(({ expr }) => [`${panel.title}: ${expr}`, expr] as const));

const here = hasRedis && tool('promtool') !== undefined && tool('prometheus') !== undefined;

/** The stories of play, told to the built program with Redis and Socket Mode, and what Prometheus makes of its metrics before and after. */
describe.skipIf(!here)('after a few stories', () => {
  let cluster: LocalCluster;
  let program: BuiltProgram;
  let scene: ProgramScene;
  let prometheus: Prometheus;
  let now: number;

  beforeAll(async () => {
    [cluster, program] = await Promise.all([startLocalCluster({ kubeletDelayMs: 0 }), buildProgram()]);
    openShop(cluster);
    scene = await ProgramScene.open({
      program,
      kubeconfig: cluster.kubeconfig,
      policy: playPolicy('local'),
      transport: 'socket',
      slack: { team: playTeam },
      env: { ALERTS_PORT: '0' },
    });
    const bot = await scene.boot();
    const read = async (): Promise<string> => {
      await bot.readiness();
      return (await fetch(`${bot.opsUrl}/metrics`)).text();
    };
    const notify = () => fetch(`${bot.alertsUrl}/alerts/nobody`, { method: 'POST' });
    const before = await read();
    await tellStories(scene);
    await notify();
    const between = await read();
    // Once more: Prometheus sees an increase only of a series that it has seen before.
    await say(scene, 'U0JONAS', JONAS);
    await notify();
    const after = await read();
    now = Math.floor(Date.now() / 1000);
    const scrapes = [before, between, after, after].map(
      (text, index): Scrape => ({ text, atSeconds: now - STEP * (3 - index) }),
    );
    prometheus = await Prometheus.with(scrapes, TARGET);
  });

  afterAll(async () => {
    await prometheus?.stop();
    await scene?.close();
    await cluster?.stop();
    program?.remove();
  });

  it.each(queries)('the dashboard shows something for %s', async (_, expr) => {
    const found = await prometheus.query(filledIn(expr), now);
    expect(found.length).toBeGreaterThan(0);
    expect(found.map(({ value }) => value[1])).not.toEqual(found.map(() => 'NaN'));
  });

  // Those two judge how quick this machine is; alert-cases.ts has them.
  const judgesTheMachine = ({ name }: { name: string }) =>
    name === 'KdebugAcknowledgesSlowly' || name === 'KdebugEventLoopBlocked';

  it.each(ALERTS.filter((alert) => !judgesTheMachine(alert)))('$name is quiet', async ({ expr }) => {
    expect(await prometheus.query(expr, now)).toEqual([]);
  });
});

const filledIn = (expr: string): string =>
  expr.replaceAll('$namespace', '.+').replaceAll('$__rate_interval', `${STEP * 4}s`);

const say = (scene: ProgramScene, user: string, text: string) =>
  ask(scene.slack, { user, channel: CHANNEL, words: text.replace('/kdebug ', '') });

/** A diagnosis, a refusal, two questions, a run that somebody approves, and a batch. */
async function tellStories(scene: ProgramScene): Promise<void> {
  await say(scene, 'U0ROY', ROY);
  await say(scene, 'U0ROY', '/kdebug no-such-pod');
  await say(scene, 'U0ROY', '/kdebug describe pod-1234');
  await say(scene, 'U0ROY', '/kdebug list');
  const attaching = say(scene, 'U0THURSTON', THURSTON);
  const card = await scene.slack.until(() => scene.slack.messages(CHANNEL).find(asksForApproval(scene)));
  await scene.press('U0BOB', 'approve', card.ts);
  await attaching;
  await say(scene, 'U0GINGER', '/kdebug --all -n shop --image=security-audit -- /security-audit.sh');
}

const asksForApproval =
  (scene: ProgramScene) =>
  (message: ReturnType<ProgramScene['posts']>[number]): boolean =>
    /Approve/.test(scene.textOf(message));
