import { describe, expect, it } from 'vitest';
import { cleanAuditEvent } from '../../src/core/audit/record.ts';
import { SAMPLES, type Sample } from '../core/redact/secret-corpus.ts';
import { aPolicy, aTermination } from '../support/builders.ts';
import { settle } from '../support/fake-clock.ts';
import { sampleOf } from '../support/sample.ts';
import { World } from './support/world.ts';

/** Each secret of the corpus, and one that only the policy's own pattern knows, on every way out of a run. */
const CUSTOM: Sample = { name: 'the policy’s own', kind: 'custom', secret: 'CUST-123456', log: 'id CUST-123456 ok' };
/** Each is found in log-filter.test.ts; here each way out must pass the filter. */
const ALL: readonly Sample[] = [...sampleOf('secrets on every way out', SAMPLES, 12), CUSTOM];

const policy = aPolicy({ output: { redact: ['CUST-\\d{6}'], retentionMs: 604_800_000, deliverTo: 'thread' } });

/** Whatever anybody or anything outside can read of it: messages, files, private answers, the store, the audit log. */
async function everythingOf(world: World): Promise<string> {
  const { posts, told, files } = world.thread;
  const { containerName: _, ...run } = await world.run();
  const { plan: _plan, request: _request, ...kept } = run;
  return JSON.stringify([posts, told, files, kept, world.audit.entries]);
}

/** As it stands in JSON, where line breaks are written out. */
const written = (secret: string): string => JSON.stringify(secret).slice(1, -1);

type Way = readonly [string, (world: World, log: string) => Promise<void>];

const end = async (world: World, message: string, log = ''): Promise<void> => {
  world.cluster.log = log;
  world.cluster.report({ terminated: aTermination({ exitCode: 3, reason: 'Error', message }) });
  await settle();
};

const FROM_THE_CLUSTER: readonly Way[] = [
  [
    'the log, its excerpt and its file',
    async (world, log) => {
      await world.say('web-1');
      await end(world, '', `before\n${log}\nafter\n`);
    },
  ],
  [
    'the termination message, beside a log that holds it, too',
    async (world, log) => {
      await world.say('web-1');
      await end(world, log, `before\n${log}\n`);
    },
  ],
  [
    'the termination message alone',
    async (world, log) => {
      await world.say('web-1');
      await end(world, log);
    },
  ],
  [
    'a report in the termination message',
    async (world, log) => {
      await world.say('web-1');
      const finding = { code: 'memory_high', value: 1, text: log.slice(0, 400) };
      await end(
        world,
        JSON.stringify({ kdebug: 1, verdict: log.slice(0, 400), sections: [{ name: 'memory', findings: [finding] }] }),
      );
    },
  ],
  [
    'the words of a container that waits',
    async (world, log) => {
      await world.say('web-1');
      world.cluster.report({ waiting: { reason: 'ErrImagePull', message: log } });
      await settle();
    },
  ],
  [
    'the words of a container that does not start',
    async (world, log) => {
      await world.say('web-1');
      world.cluster.report({ waiting: { reason: 'ImagePullBackOff', message: log } });
      await settle();
    },
  ],
  [
    'an event',
    async (world, log) => {
      world.cluster.podEvents = [{ reason: 'Failed', message: log, type: 'Warning', atMs: world.clock.now() }];
      await world.say('web-1');
      await world.clock.advance(6_000);
    },
  ],
  [
    'a refusal of the API server',
    async (world, log) => {
      world.cluster.refusal = { kind: 'refused', by: 'webhook', message: log };
      await world.say('web-1');
      await settle();
    },
  ],
  [
    'a dry run that is refused',
    async (world, log) => {
      world.cluster.refusal = { kind: 'refused', by: 'webhook', message: log };
      await world.say('web-1 --dry-run');
      await settle();
    },
  ],
  [
    'a cluster that says no to a person',
    async (world, log) => {
      world.policy = { ...policy, identity: { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } };
      world.cluster.allowed = { kind: 'denied', reason: log, missing: ['patch pods/ephemeralcontainers'] };
      await world.say('web-1');
      await settle();
    },
  ],
];

describe.each(FROM_THE_CLUSTER)('what comes out of %s', (_name, go) => {
  it.each(ALL)('does not hold: $name', async ({ log, secret }) => {
    const world = new World({ policy });
    await go(world, log);

    expect(await everythingOf(world)).not.toContain(written(secret));
  });
});

/** A word of a command: as it is passed to `sh -c`. */
const typed = ALL.filter(({ log }) => !/[\n'"“”‘’]/.test(log));

describe('what is typed', () => {
  const free = aPolicy({
    output: policy.output,
    images: { autodiagnose: { ...policy.images.autodiagnose!, command: 'allowed' } },
  });

  it.each(typed)('is not shown as a command: $name', async ({ log, secret }) => {
    const world = new World({ policy: free });
    await world.say(`web-1 -- sh -c '${log}'`);
    await end(world, '');
    const run = await world.run();

    expect(await everythingOf(world)).not.toContain(written(secret));
    expect(run.plan?.command.join(' ') ?? log).toContain(log);
    expect(run.commandLine).toContain('sh -c');
  });

  it.each(['-- env', '--dry-run -- env'])('is not shown as a variable: %s', async (rest) => {
    const world = new World({ policy: free });
    await world.say(`web-1 --env=DB_PASSWORD='typed by roy' --env=NOTE=harmless ${rest}`);
    await end(world, '');

    expect(await everythingOf(world)).not.toContain('typed by');
    expect((await world.run()).commandLine).toContain('DB_PASSWORD=[redacted:secret]');
    expect((await world.run()).commandLine).toContain('NOTE=harmless');
  });
});

it.each(SAMPLES)('an audit record does not hold: $name', ({ log, secret }) => {
  const happening = { step: 'x', atMs: 0, runId: 'r', channelId: 'c', actorId: 'a', facts: { words: log } };

  expect(JSON.stringify(cleanAuditEvent(happening, []))).not.toContain(written(secret));
});
