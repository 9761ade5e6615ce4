import { describe, expect, it } from 'vitest';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Origin } from '../../../src/core/request/origin.ts';
import type { Message } from '../../../src/core/say/message/message.ts';
import { PIECE_LINES } from '../../../src/flow/context/turns.ts';
import { anOrigin, aPolicy, aRule, aTermination, START_MS } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { textOf } from '../../support/plain-message.ts';
import { World } from '../support/world.ts';

const RUNNING = { running: { startedAt: '2026-11-21T07:30:01Z' } };
const numbered = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');

async function running(world: World, log: string): Promise<void> {
  await world.say('web-1 --image=debian');
  world.cluster.report(RUNNING);
  await settle();
  world.cluster.log = log;
}

async function ended(world: World, log: string): Promise<void> {
  await running(world, log);
  world.cluster.report({ terminated: aTermination() });
  await settle();
}

let asked = 0;
async function answer(world: World, words: string, origin: Partial<Origin> = {}): Promise<Message | undefined> {
  asked += 1;
  return world.say(words, anOrigin({ dedupeKey: `logs ${asked}`, ...origin }));
}
const shown = async (world: World, words: string, origin: Partial<Origin> = {}): Promise<string> =>
  textOf(await answer(world, words, origin));

describe('logs of a run in progress', () => {
  it('gives what it wrote so far, its last lines', async () => {
    const world = new World();
    await running(world, numbered(100));
    const text = await shown(world, 'logs aaaaaaaaaa');
    expect(text).toContain('The last 40 of 100 lines so far');
    expect(text).toContain('line 61\nline 62');
    expect(text).not.toContain('line 60\n');
    expect(text).toContain('line 100');
  });

  it('says when there is no line yet', async () => {
    const world = new World();
    await running(world, '');
    expect(await shown(world, 'logs aaaaaaaaaa')).toContain('No output so far');
  });

  it('says that there is no log yet before it starts', async () => {
    const world = new World();
    await world.say('web-1 --image=debian');
    expect(await shown(world, 'logs aaaaaaaaaa')).toContain('There is no log yet');
  });

  it('redacts what it reads, also a key that began long before the lines that are shown', async () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEowIBAAKCAQEA7x\n'.repeat(50)}-----END RSA PRIVATE KEY-----\n`;
    const world = new World();
    await running(world, `${key}password=hunter2-hunter2\nafter\n`);
    const text = await shown(world, 'logs aaaaaaaaaa --tail=20');
    expect(text).toContain('after');
    expect(text).not.toContain('MIIE');
    expect(text).not.toContain('hunter2');
  });

  it('takes turns of the log filter with the runs of the same person', async () => {
    const world = new World();
    /** Who was given a piece in each turn of the event loop. */
    const turns: string[][] = [];
    const readers = ['run', 'lookup'];
    let start = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    let left = 2;
    const nextTurn = (): void => {
      turns.push([]);
      if (left > 0) setImmediate(nextTurn);
    };
    world.cluster.collectLog = async (_, sink) => {
      const reader = readers.shift() ?? 'another';
      if (readers.length === 0) start();
      await started;
      for (let count = 0; count < 20; count++) {
        await sink.write(Buffer.from('x\n'.repeat(PIECE_LINES)));
        turns.at(-1)?.push(reader);
      }
      left -= 1;
      return world.cluster.completeness;
    };
    await running(world, '');
    nextTurn();

    await answer(world, 'logs aaaaaaaaaa');

    const taken = turns.filter((turn) => turn.length > 0);
    // The first piece of each comes before there is a turn to wait for.
    expect(taken.slice(1).filter((turn) => turn.length > 1)).toEqual([]);
    expect(taken.flat().filter((reader) => reader === 'run')).toHaveLength(20);
    expect(taken.flat().filter((reader) => reader === 'lookup')).toHaveLength(20);
  });

  it('finds no redacted word, so a search cannot guess a secret', async () => {
    const world = new World();
    await running(world, 'password=hunter2-hunter2\n');
    expect(await shown(world, 'logs aaaaaaaaaa --grep=hunter2')).toContain('None of 1 line contains “hunter2”');
  });
});

describe('logs with a wish', () => {
  it('--tail gives the last lines of a finished run, read again from the cluster', async () => {
    const world = new World();
    await ended(world, numbered(500));
    const text = await shown(world, 'logs aaaaaaaaaa --tail=3');
    expect(text).toContain('The last 3 of 500 lines');
    expect(text).toContain('line 498\nline 499\nline 500');
    expect(text).not.toContain('so far');
    expect(text).not.toContain('line 497');
  });

  it('--grep finds a literal in any case', async () => {
    const world = new World();
    await ended(world, `${numbered(200)}ERROR (a+)+$ here\nan error\n`);
    const text = await shown(world, 'logs aaaaaaaaaa --grep=error');
    expect(text).toContain('2 of 202 lines contain “error”');
    expect(text).toContain('ERROR (a+)+$ here\nan error');
    expect(await shown(world, 'logs aaaaaaaaaa --grep="(a+)+$"')).toContain('1 of 202 lines contains');
    expect(await shown(world, 'logs aaaaaaaaaa --grep=.*')).toContain('None of 202 lines contains');
  });

  it('--since gives the lines written since then', async () => {
    const world = new World();
    await running(world, 'old\n');
    world.cluster.newerLog = { atMs: START_MS, text: 'new one\n' };
    expect(await shown(world, 'logs aaaaaaaaaa --since=5m')).toContain('All 1 line of the last 5m so far');
    expect(await shown(world, 'logs aaaaaaaaaa --since=5m')).not.toContain('old');
    await world.clock.advance(60_000);
    expect(await shown(world, 'logs aaaaaaaaaa --since=30s')).toContain('No output in the last 30s so far');
  });

  it('puts many lines into a file by direct message, and shows the last ones', async () => {
    const world = new World();
    await ended(world, numbered(500));
    const text = await shown(world, 'logs aaaaaaaaaa --tail=300');
    expect(text).toContain('300 lines (2.6 KiB) are in a file in your direct messages');
    expect(text).toContain('line 500');
    expect(text).not.toContain('line 400');
    await settle();
    const file = world.thread.files.at(-1);
    expect(file).toMatchObject({ place: { channelId: 'D-U0ROY' }, filename: 'kdebug-aaaaaaaaaa-lines.log' });
    expect(file?.content).toBe(numbered(500).slice(numbered(200).length));
  });

  it('puts the file into the thread of a mention', async () => {
    const world = new World();
    await ended(world, numbered(500));
    const text = await shown(world, 'logs aaaaaaaaaa --tail=300', { source: 'mention', threadTs: '9.9' });
    expect(text).toContain('in this thread');
    await settle();
    expect(world.thread.files.at(-1)?.place).toEqual({ channelId: 'C0SHOP', threadTs: '9.9' });
  });

  it('puts it into a direct message where the policy keeps output out of the channel', async () => {
    const output = { redact: [], retentionMs: 604_800_000, deliverTo: 'requester' } as const;
    const world = new World({ policy: aPolicy({ output }) });
    await ended(world, numbered(500));
    await shown(world, 'logs aaaaaaaaaa --tail=300', { source: 'mention', threadTs: '9.9' });
    await settle();
    expect(world.thread.files.at(-1)?.place).toEqual({ channelId: 'D-U0ROY' });
    expect(await shown(world, 'logs aaaaaaaaaa --tail=1', { requesterId: asUserId('U0EVE') })).toContain(
      'for the requester alone',
    );
  });

  it('says so privately when Slack refuses the file', async () => {
    const world = new World();
    await ended(world, numbered(500));
    world.thread.faults.add('openDirect', 'slack_refused');
    await shown(world, 'logs aaaaaaaaaa --tail=300');
    await settle();
    expect(textOf(world.thread.told.at(-1)?.message)).toContain('slack_refused');
  });
});

describe('where the log cannot be read again, the stored lines are searched', () => {
  const stored = async (change: (world: World) => void): Promise<string> => {
    const world = new World();
    await ended(world, numbered(500));
    world.cluster.calls.length = 0;
    change(world);
    const text = await shown(world, 'logs aaaaaaaaaa --grep="line 500" --since=5m');
    expect(text).toContain('1 of 40 lines contains “line 500”');
    expect(text).toContain('460 lines between them could not be searched');
    expect(text).toContain('--since was left out');
    return `${text}\n${world.cluster.calls.join(' ')}`;
  };

  it('because the pod is gone', async () => {
    expect(await stored((world) => world.cluster.setPod(undefined))).toContain('The pod is gone.');
  });

  it('because the cluster does not answer', async () => {
    expect(await stored((world) => world.cluster.faults.add('pod', 'cluster_unreachable'))).toContain(
      'The cluster does not give the log now (cluster_unreachable)',
    );
  });

  it('because the policy no longer lets this channel read there; the cluster is not asked', async () => {
    const text = await stored((world) => {
      world.policy = aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ namespaces: ['other'] })] } } });
    });
    expect(text).toContain('The policy does not allow this channel');
    expect(text).not.toContain('collectLog');
  });

  it('because the reader has no rights in the cluster', async () => {
    const text = await stored((world) => {
      const identity = { mode: 'impersonate', user: 'slack:{userId}', groups: [], users: {} } as const;
      world.policy = aPolicy({ identity });
      world.cluster.allowed = { kind: 'denied', reason: '', missing: ['get pods/log'] };
    });
    expect(text).toContain('slack:U0ROY may not get pods/log in shop');
    expect(text).not.toContain('collectLog');
  });
});

describe('reading again', () => {
  it('is recorded for the reader, with no word of theirs', async () => {
    const world = new World();
    await running(world, 'x\n');
    await shown(world, 'logs aaaaaaaaaa --tail=7 --grep=secret', { requesterId: asUserId('U0EVE') });
    const entry = world.audit.entries.find(({ step }) => step === 'log-read');
    expect(entry).toMatchObject({ runId: 'aaaaaaaaaa', actorId: 'U0EVE', facts: { tail: 7 } });
    expect(JSON.stringify(entry)).not.toContain('secret');
  });

  it('does not happen when it cannot be recorded', async () => {
    const world = new World();
    await running(world, 'a line\n');
    world.audit.faults.add('log-read', 'audit_unavailable');
    const text = await shown(world, 'logs aaaaaaaaaa');
    expect(text).toContain('audit_unavailable');
    expect(text).not.toContain('a line');
  });

  it('that takes long answers at once, and with the lines later', async () => {
    const world = new World();
    await running(world, 'at last\n');
    const { collectLog } = world.cluster;
    world.cluster.collectLog = async (...request) => {
      await new Promise<void>((resolve) => void world.clock.after(5_000, resolve));
      return collectLog.apply(world.cluster, request);
    };
    const first = answer(world, 'logs aaaaaaaaaa');
    await world.clock.advance(1_000);
    expect(textOf(await first)).toContain('Reading the log: it is long');
    await world.clock.advance(5_000);
    expect(textOf(world.thread.told.at(-1)?.message)).toContain('at last');
  });

  it('ends after twenty seconds with what it has, and says so', async () => {
    const world = new World();
    await running(world, 'x\n');
    world.cluster.collectLog = async (request, sink) => {
      await sink.write(Buffer.from('some\n'));
      await new Promise<void>((resolve) => request.signal.addEventListener('abort', () => resolve()));
      return { complete: false, limitReached: false, beginningMayBeMissing: false, gaps: [], interruptedBy: 'aborted' };
    };
    const first = answer(world, 'logs aaaaaaaaaa');
    await world.clock.advance(1_000);
    await first;
    await world.clock.advance(19_000);
    const text = textOf(world.thread.told.at(-1)?.message);
    expect(text).toContain('some');
    expect(text).toContain('not read to its end (aborted)');
  });

  it('is bounded for each person', async () => {
    const world = new World();
    await running(world, 'x\n');
    for (let count = 0; count < 6; count += 1) await shown(world, 'logs aaaaaaaaaa');
    expect(await shown(world, 'logs aaaaaaaaaa')).toContain('limit_per_person');
  });
});
