import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { expect } from 'vitest';
import { type LocalCluster, startLocalCluster } from '../../play/cluster/index.ts';
import { createSlack } from '../../src/adapters/slack/index.ts';
import { systemClock } from '../../src/adapters/system/index.ts';
import { parsePolicy } from '../../src/config/load-policy.ts';
import { watchPolicy } from '../../src/config/policy-reload.ts';
import { KdebugError } from '../../src/core/errors.ts';
import { asChannelId, asUserId } from '../../src/core/ids.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { hasRedis, RedisServer } from '../adapters/store/redis/redis-server.ts';
import { aStore, Lines } from '../adapters/store/redis/stores.ts';
import { anOrigin, aPolicy } from '../support/builders.ts';
import type { Board } from './support/board.ts';
import { judge } from './support/check.ts';
import { containersIn, HELD, LONG, letEnd, toldOnce, toldPrivately } from './support/in-scene.ts';
import { PortScene } from './support/port-scene.ts';
import { ServerScene } from './support/server-scene.ts';
import { APPROVED, MAIN } from './support/stories.ts';
import { aTlsServer } from './support/tls-server.ts';

/** F53 to F56 of the matrix: the machine of the process, its settings and its names. */
export function environmentFaults(board: Board, cluster: () => LocalCluster): void {
  clocks(board, cluster);
  memory(board);
  settings(board);
  names(board, cluster);
}

const TEN_MINUTES_MS = 600_000;

/** F53: this machine's clock is wrong. */
function clocks(board: Board, cluster: () => LocalCluster): void {
  for (const [which, skewMs] of [
    ['behind', -TEN_MINUTES_MS],
    ['ahead', TEN_MINUTES_MS],
  ] as const) {
    board.fault(
      'F53',
      `a clock that is ten minutes ${which}: what Slack signs is refused, and the cause is named`,
      async () => {
        const scene = await ServerScene.open({ cluster: cluster() });
        try {
          await scene.boot(skewMs);
          const { status, error } = await scene.type(`${scene.pod} ${LONG}`);
          expect({ status, error }).toEqual({ status: 401, error: 'http_client_error' });
          expect(containersIn(scene)).toBe(0);
          expect(scene.logged).toContainEqual(expect.objectContaining({ level: 'error', reason: 'clock_wrong' }));
        } finally {
          await scene.close();
        }
      },
    );

    board.fault(
      'F53',
      `a run that is adopted by a replica ten minutes ${which}: its log is whole, line by line`,
      async () => {
        const scene = await ServerScene.open({ cluster: cluster() });
        try {
          const first = await scene.boot();
          await scene.type(`${scene.pod} ${HELD}`);
          await scene.reach('running');
          await scene.boot(skewMs);
          first.life.dead = true;
          scene.lapse();
          await letEnd(scene);
          await scene.settle();
          await toldOnce(scene, { verdict: which === 'ahead' ? '' : 'Succeeded' });
        } finally {
          await scene.close();
        }
      },
    );
  }

  board.fault('F53', 'a clock that jumps ten minutes while a run goes on: told once, and honestly', async () => {
    for (const atMs of [0, 200, 1_000, 2_400, 3_000]) {
      const scene = new PortScene(MAIN);
      scene.boot();
      await scene.type();
      await scene.clock.advance(atMs);
      scene.clock.jump(TEN_MINUTES_MS);
      await scene.goOn();
      const [anchor, ...more] = scene.thread.posts.filter(({ meta }) => meta.kind === 'anchor');
      expect(more).toEqual([]);
      expect(anchor?.message.summary).toMatch(/Succeeded|No answer|Still running|did not start/);
      expect(scene.cluster.launches).toHaveLength(1);
    }
  });
}

/** F54: memory has an end. */
function memory(board: Board): void {
  board.fault(
    'F54',
    'more runs than a replica may hold are refused politely; when it dies of its memory, others end them all',
    async () => {
      const limits = { runsPerUserPerMinute: 1e6, runsPerChannel: 1e6, runsPerCluster: 1e6, runsPerUser: 1e6 };
      const policy: Policy = { ...MAIN.policy, limits: { ...MAIN.policy.limits, ...limits } };
      const scene = new PortScene({ ...MAIN, policy });
      const { cluster } = scene;
      cluster.pod = () => new Promise(() => {});
      const first = scene.boot();
      const ask = async (from: number, count: number) => {
        const answers = Array.from({ length: count }, (_, index) =>
          first.pipeline.inbox.command(
            // A tenth of the replica is one person's.
            anOrigin({ dedupeKey: `command-${from + index}`, requesterId: asUserId(`U0ROY${(from + index) % 20}`) }),
            'web-1 --image=autodiagnose',
          ),
        );
        await scene.clock.advance(100);
        return (await Promise.all(answers)).filter(({ kind }) => kind === 'message');
      };
      expect(await ask(0, MAX_RUNS)).toEqual([]);
      const refused = await ask(MAX_RUNS, 5);
      expect(refused).toHaveLength(5);
      expect(JSON.stringify(refused[0])).toContain('too_busy');
      expect(first.pipeline.refusalFor(asUserId('U0ROY'))).toBe('too_busy');
      first.life.dead = true;
      cluster.pod = () => Promise.reject(new KdebugError('pod_not_found'));
      const others = [scene.boot(), scene.boot()];
      for (let waited = 0; waited < 60 && scene.thread.told.length < MAX_RUNS; waited += 1)
        await scene.clock.advance(1_000);
      await scene.clock.advance(10_000);
      expect(others.map(({ pipeline }) => pipeline.active)).toEqual([0, 0]);
      const ended = scene.thread.told.map(({ message }) => /run ([a-z]{10})/.exec(JSON.stringify(message))?.[1]);
      expect(ended).toHaveLength(MAX_RUNS);
      expect(new Set(ended).size).toBe(MAX_RUNS);
    },
  );
}

/** The most that one replica holds at a time. */
const MAX_RUNS = 2_000;

const NO_RULES: Partial<Policy> = { channels: { [asChannelId('C0SHOP')]: { rules: [] } } };

/** F55: the policy changes under runs. */
function settings(board: Board): void {
  board.fault(
    'F55',
    'a policy file that breaks, and one that goes away: the old one stays in force, and it is said',
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'kdebug-policy-'));
      const path = join(directory, 'policy.yaml');
      writeFileSync(path, GOOD);
      const log = new Lines();
      const scene = new PortScene(MAIN);
      const initial = parsePolicy(GOOD, path);
      if (initial.kind === 'invalid') throw new Error(initial.problems.join());
      const after = (ms: number, wake: () => void) => scene.clock.after(ms, wake);
      const watch = watchPolicy(path, { initial, log, after });
      try {
        Object.defineProperty(scene, 'policy', { get: () => watch.current() });
        scene.boot();
        for (const spoil of [() => writeFileSync(path, 'version: 1\nchannels: ['), () => rmSync(path)]) {
          spoil();
          await scene.clock.advance(2_000);
          expect(watch.current()).toBe(initial.policy);
        }
        expect(log.messages).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('keeping the old one')));
        await scene.type();
        await scene.goOn();
        expect((await judge(scene, MAIN)).broken).toEqual([]);
      } finally {
        watch.close();
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );

  board.fault('F55', 'the rule goes while a run goes on: what is launched is told to its end', async () => {
    const scene = new PortScene(MAIN);
    scene.boot();
    await scene.type();
    await scene.reach('running');
    scene.policy = aPolicy(NO_RULES);
    await scene.goOn();
    expect((await judge(scene, MAIN)).broken).toEqual([]);
  });

  board.fault('F55', 'the rule goes before the launch: nothing is launched, and the person is told', async () => {
    const scene = new PortScene(MAIN, [{ replica: 0, effect: 'store.save:approved#1', when: 'after' }]);
    scene.boot();
    await scene.type();
    scene.policy = aPolicy(NO_RULES);
    await scene.goOn();
    expect((await scene.run())?.state).toBe('denied');
    expect(scene.cluster.launches).toHaveLength(0);
    expect(scene.thread.told).toHaveLength(1);
  });

  for (const [what, changed] of [
    ['the rule is gone', NO_RULES],
    ['the approvers are others', { ...APPROVED.policy, approvers: {} }],
    ['the image means another', { ...APPROVED.policy, images: anotherImage() }],
  ] as const)
    board.fault('F55', `${what} while a card waits: the click does not count`, async () => {
      const scene = new PortScene({ ...APPROVED, click: undefined });
      scene.boot();
      await scene.type();
      await scene.reach('pending-approval');
      await scene.clock.advance(1_000);
      scene.policy = aPolicy(changed);
      const answer = await scene.click('U0BOB', 'approve');
      expect(answer?.kind).toBe('message');
      expect((await scene.run())?.state).toBe('pending-approval');
      expect(scene.cluster.launches).toHaveLength(0);
      scene.policy = APPROVED.policy;
      await scene.click('U0BOB', 'approve');
      await scene.goOn();
      expect((await judge(scene, APPROVED)).broken).toEqual([]);
    });
}

function anotherImage(): Policy['images'] {
  const { autodiagnose, ...others } = APPROVED.policy.images;
  if (!autodiagnose) throw new Error('no such image');
  return { ...others, autodiagnose: { ...autodiagnose, reference: 'registry.example.com/autodiagnose:2' } };
}

const GOOD = `version: 1
clusters: { prod: { context: prod, default: true } }
identity: { mode: serviceAccount }
images: { autodiagnose: { image: "registry.example.com/autodiagnose:1", class: observe, timeout: 2m, diagnostic: true } }
channels:
  C0SHOP:
    rules: [{ id: look, clusters: [prod], namespaces: [shop], classes: [observe], profiles: [restricted, baseline, general] }]
`;

/** F56: names that lead nowhere, certificates that have ended. */
function names(board: Board, cluster: () => LocalCluster): void {
  const asked = async (kubeconfig: string, then: (scene: ServerScene) => Promise<void>): Promise<void> => {
    const scene = await ServerScene.open({ cluster: cluster(), kubeconfig });
    try {
      await scene.boot();
      await scene.type(`${scene.pod} ${LONG}`);
      await then(scene);
    } finally {
      await scene.close();
    }
  };
  const givenUp = (cause: string) => async (scene: ServerScene) => {
    await scene.skipUntil(async () => toldPrivately(scene) !== '');
    expect(toldPrivately(scene)).toContain('the cluster does not answer');
    expect(containersIn(scene)).toBe(0);
    expect(scene.details.join()).toContain(cause);
  };

  board.fault(
    'F56',
    "the cluster's name leads nowhere: tried again, then refused in private, and the cause is named",
    () =>
      asked(
        cluster().kubeconfig.replace(/https:\/\/[^"]+/, 'https://no-such-cluster.invalid:6443'),
        givenUp('ENOTFOUND'),
      ),
  );

  board.fault('F56', "the cluster's certificate has ended: refused in private, and the cause is named", async () => {
    const server = await aTlsServer(expired);
    try {
      await asked(server.kubeconfig, givenUp('CERT_HAS_EXPIRED'));
    } finally {
      await server.close();
    }
  });

  board.fault('F56', 'the cluster gets another authority: runs go on as soon as the credentials name it', async () => {
    const [old, renewed] = [
      await startLocalCluster({ kubeletDelayMs: 0 }),
      await startLocalCluster({ kubeletDelayMs: 0 }),
    ];
    const scene = await ServerScene.open({ cluster: renewed, kubeconfig: kubeconfigOfOther(renewed, old) });
    try {
      await scene.boot();
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipUntil(async () => scene.details.some((detail) => /CERT|SIGNATURE|UNABLE/.test(detail)));
      scene.renewKubeconfig(renewed.kubeconfig);
      await scene.skipUntil(async () => toldPrivately(scene) !== '');
      await scene.clock.skip(60_000);
      await scene.type(`${scene.pod} ${LONG}`);
      await scene.skipUntil(async () => scene.posts('result').length > 0);
      await toldOnce(scene);
    } finally {
      await scene.close();
      await Promise.all([old.stop(), renewed.stop()]);
    }
  });

  board.fault('F56', "Slack's name leads nowhere: the start says so, and why", async () => {
    const log = new Lines();
    const slack = createSlack({
      botToken: 'xoxb-1',
      apiUrl: 'https://no-such-slack.invalid/api/',
      transport: { kind: 'http', signingSecret: 'secret', port: 0 },
      log,
      clock: systemClock,
    });
    const never = () => Promise.reject(new Error('nobody calls'));
    const inbox = {
      ...{ command: never, action: never, submit: never, alert: never, shortcut: never, search: never, change: never },
      ...{ invited: never, home: never, globalShortcut: never, refused: never },
    };
    await expect(slack.start(inbox)).rejects.toMatchObject({ code: 'slack_unreachable' });
    await slack.stop();
  });

  board.fault('F56', "Redis' certificate has ended: the start says so", async () => {
    if (!hasRedis) return;
    const { cert, private: key } = await expired();
    const directory = mkdtempSync(join(tmpdir(), 'kdebug-tls-'));
    const [certFile, keyFile] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
    const args = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile];
    const redis = await RedisServer.start(args, true);
    try {
      await expect(aStore(`rediss://localhost:${redis.tlsPort}`, { caFile: certFile })).rejects.toMatchObject({
        code: 'store_misconfigured',
        detail: 'CERT_HAS_EXPIRED',
      });
    } finally {
      await redis.stop();
      rmSync(directory, { recursive: true });
    }
  });
}

/** A certificate for this machine that ended yesterday. */
const expired = () =>
  generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 172_800_000),
    notAfterDate: new Date(Date.now() - 86_400_000),
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });

/** The address of the one cluster with the authority of the other. */
function kubeconfigOfOther(address: LocalCluster, authority: LocalCluster): string {
  const ca = (pem: string): string => Buffer.from(pem).toString('base64');
  return address.kubeconfig.replace(ca(address.caPem), ca(authority.caPem));
}
