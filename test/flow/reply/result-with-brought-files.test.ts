import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import type { FileKind } from '../../../src/core/container/file-kinds.ts';
import { KdebugError } from '../../../src/core/errors.ts';
import { asChannelId, asUserId } from '../../../src/core/ids.ts';
import type { Policy, Rule } from '../../../src/core/policy/policy.ts';
import { REPORT_BEGIN, REPORT_END } from '../../../src/core/report-marks.ts';
import { sleep } from '../../../src/lib/clock.ts';
import { anOrigin, aPolicy, approvalTerms, aRule, aTermination } from '../../support/builders.ts';
import { settle } from '../../support/fake-clock.ts';
import { framed } from '../../support/framed.ts';
import { textOf } from '../../support/plain-message.ts';
import { BatchWorld } from '../batch/batch-world.ts';
import { World } from '../support/world.ts';

const FILES: readonly FileKind[] = ['text', 'profile', 'capture'];

function policyOf(rule: Partial<Rule> = { secretFiles: 'allowed' }, over: Partial<Policy> = {}): Policy {
  const policy = aPolicy({ approvers: { sre: { users: [asUserId('U0BOB')] } } });
  const autodiagnose = { ...policy.images.autodiagnose!, files: FILES };
  const rules = [aRule({ batch: { maxPods: 9, maxParallelism: 3 }, ...rule })];
  return {
    ...policy,
    images: { ...policy.images, autodiagnose },
    channels: { [asChannelId('C0SHOP')]: { rules } },
    ...over,
  };
}

const THREADS = framed('threads.txt', 'main waits for lock\n');
const CPU = framed('cpu.svg', '<svg/>\n');
const CAPTURE = framed('capture.pcap', 'GET / HTTP/1.1');
/** Its only line is missing. */
const CUT = framed('cut.txt', 'abc').replace(/^000001.*\n/m, '');

async function runThatWrote(log: string, world = new World({ policy: policyOf() }), words = 'web-1'): Promise<World> {
  world.cluster.log = log;
  await world.say(words);
  world.cluster.report({ terminated: aTermination() });
  await settle();
  await world.clock.advance(120_000);
  return world;
}

const posts = ({ thread }: Pick<World, 'thread'>) =>
  thread.posts.filter(({ meta }) => meta.kind === 'result').map(({ place, files }) => [place.channelId, files]);
const resultText = ({ thread }: Pick<World, 'thread'>) =>
  textOf(thread.posts.find(({ meta, place }) => meta.kind === 'result' && place.channelId === 'C0SHOP')?.message);

describe('the flame graph', () => {
  const picture = framed('cpu.png', 'PNG');
  const altTextOf = async (report: string) => (await runThatWrote(`${report}${picture}`)).thread.files[0]?.altText;
  const reportOf = (...functions: readonly string[]) => {
    const texts = functions.map((name) => `${name} itself takes 57 % of the CPU time`);
    const findings = texts.map((text) => ({ code: 'hot_function', section: 'profile', value: 57, text, next: '' }));
    const report = { kdebug: 1, tool: { name: 'profile' }, verdict: 'busy', findings, sections: [] };
    return `${REPORT_BEGIN}\n${JSON.stringify(report)}\n${REPORT_END}\n`;
  };

  it('says in words what it is', async () => {
    expect(await altTextOf('nothing known\n')).toBe('Flame graph of CPU time');
    expect(await altTextOf(reportOf('search', 'password=hunter2hunter2'))).toMatch(
      /^Flame graph of CPU time: search itself takes 57 % of the CPU time; (?!.*hunter2)/,
    );
  });

  it('in at most 1,000 characters', async () => {
    const names = ['a', 'b', 'c'].map((letter) => letter.repeat(400));
    expect((await altTextOf(reportOf(...names)))?.length).toBeLessThanOrEqual(1_000);
  });
});

describe('what a run brought back', () => {
  it('comes with its result, in one message, and the result names it', async () => {
    const world = await runThatWrote(`blocked\n${THREADS}${CPU}`);
    const id = world.runId;
    expect(posts(world)).toEqual([['C0SHOP', [`kdebug-${id}.threads.txt`, `kdebug-${id}.cpu.svg`]]]);
    expect(world.thread.files.map(({ content }) => content)).toEqual(['main waits for lock\n', '<svg/>\n']);
    expect(resultText(world)).toContain('2 files: threads.txt (20 B), cpu.svg (7 B).');
    expect(resultText(world)).not.toContain('KDEBUG FILE');
    expect((await world.run()).delivery).toMatchObject({ closed: true });
  });

  it('goes to the requester alone where it may hold secrets, and the result says who has it', async () => {
    const world = await runThatWrote(`${THREADS}${CAPTURE}`);
    expect(posts(world)).toEqual([
      ['C0SHOP', [`kdebug-${world.runId}.threads.txt`]],
      ['D-U0ROY', [`kdebug-${world.runId}.capture.pcap`]],
    ]);
    expect(resultText(world)).toContain('gets capture.pcap (14 B, not redacted), by direct message');
    expect((await world.run()).delivery).toMatchObject({
      closed: true,
      files: { [`kdebug-${world.runId}.capture.pcap`]: 'F2' },
    });
    expect(world.audit.entries.find(({ step }) => step === 'outcome')?.facts.files).toContain('capture.pcap:');
  });

  it('is all in the direct message where the requester alone reads results', async () => {
    const policy = policyOf(undefined, { output: { ...aPolicy().output, deliverTo: 'requester' } });
    const world = await runThatWrote(`${THREADS}${CAPTURE}`, new World({ policy }));
    expect(posts(world)).toEqual([
      ['D-U0ROY', []],
      ['D-U0ROY', [`kdebug-${world.runId}.threads.txt`, `kdebug-${world.runId}.capture.pcap`]],
    ]);
  });

  it('waits for an approval where it may hold secrets', async () => {
    const world = new World({ policy: policyOf({ approval: approvalTerms() }) });
    await world.say('web-1');
    expect((await world.run()).state).toBe('pending-approval');
    expect(textOf(world.thread.posts[0]?.message)).toContain(
      'may bring back a packet capture, which may hold secrets, for',
    );
    const refused = new World({ policy: policyOf({}) });
    await refused.say('web-1');
    expect((await refused.run()).refusal?.code).toBe('secret_files_need_approval');
  });

  it('is never posted in part: the result says what is missing, and why', async () => {
    const world = await runThatWrote(`${CUT}${THREADS}`);
    expect(posts(world)).toEqual([['C0SHOP', [`kdebug-${world.runId}.threads.txt`]]]);
    expect(resultText(world)).toContain('Not posted: cut.txt (some of it did not arrive).');
  });

  it('goes without the file that Slack refuses, and the result says so', async () => {
    const world = new World({ policy: policyOf() });
    world.thread.refusedFiles.add(`kdebug-${world.runId}.cpu.svg`);
    await runThatWrote(`${THREADS}${CPU}`, world);
    expect(posts(world)).toEqual([['C0SHOP', [`kdebug-${world.runId}.threads.txt`]]]);
    expect(resultText(world)).toContain('Not posted: cpu.svg (Slack refused it)');
    expect((await world.run()).delivery).toMatchObject({ closed: true });
  });

  it('for the requester alone that Slack refuses: the result in the channel says it afterwards', async () => {
    const world = new World({ policy: policyOf() });
    world.thread.refusedFiles.add(`kdebug-${world.runId}.capture.pcap`);
    await runThatWrote(`${THREADS}${CAPTURE}`, world);
    expect(posts(world)).toHaveLength(1);
    expect(resultText(world)).toContain('Not posted: capture.pcap (Slack refused it)');
    expect(resultText(world)).not.toContain('by direct message');
    expect((await world.run()).delivery).toMatchObject({ closed: true });
  });

  it.each(['before', 'after'] as const)('is there once when an answer got lost %s it was shown', async (when) => {
    const world = new World({ policy: policyOf() });
    world.thread.faults.add('share', 'slack_unanswered', when);
    await runThatWrote(`${THREADS}${CPU}${CAPTURE}`, world);
    expect(posts(world).map(([channel]) => channel)).toEqual(['C0SHOP', 'D-U0ROY']);
    expect(world.thread.files).toHaveLength(3);
  });

  it('of an image that may bring nothing back is not posted; of one that people command it stays plain text', async () => {
    const world = await runThatWrote(THREADS, new World());
    expect(posts(world)).toEqual([['C0SHOP', []]]);
    expect(resultText(world)).toContain('Not posted: threads.txt (the policy does not allow files of this kind).');
    const free = await runThatWrote(THREADS, new World(), 'web-1 --image=debian -- cat threads');
    expect(posts(free)).toEqual([['C0SHOP', []]]);
    expect(resultText(free)).toContain('BEGIN KDEBUG FILE');
  });

  it('is shown to a person who asks for the run', async () => {
    const world = await runThatWrote(`${THREADS}${CAPTURE}`);
    for (const verb of ['show', 'logs']) {
      const words = textOf(await world.say(`${verb} ${world.runId}`, anOrigin({ dedupeKey: verb })));
      expect(words).toContain('1 file: threads.txt (20 B)');
      expect(words).toContain('capture.pcap');
    }
  });

  it('never becomes text, whatever the policy says of the image by the time somebody reads the log', async () => {
    const world = await runThatWrote(`words\n${THREADS}${CAPTURE}`);
    const { images } = world.policy;
    world.policy = {
      ...world.policy,
      images: { ...images, autodiagnose: { ...images.autodiagnose!, reference: 'x:2' } },
    };
    const words = textOf(
      await world.say(`logs ${world.runId} --tail=20`, anOrigin({ dedupeKey: 'logs', requesterId: asUserId('U0EVE') })),
    );
    expect(words).toContain('words');
    expect(words).not.toContain('000001');
  });

  it('is not in the message of a container that was killed while it wrote', async () => {
    const world = new World({ policy: policyOf() });
    const [begin = '', line = ''] = CAPTURE.split('\n');
    world.cluster.log = `${begin}\n${line}\n`;
    await world.say('web-1');
    world.cluster.report({ terminated: aTermination({ exitCode: 137, message: `Killed.\n${begin}\n${line}` }) });
    await settle();
    await world.clock.advance(120_000);
    expect(resultText(world)).toContain('Not posted: capture.pcap (some of it did not arrive)');
    expect(resultText(world)).toContain('Exit code 137');
    expect(resultText(world)).not.toContain('000001');
  });

  it('goes to no channel that others read, although the result is there and the card is not', async () => {
    const world = new World({ policy: policyOf() });
    const { thread } = world;
    const post = thread.post.bind(thread);
    let isClosed = true;
    thread.post = async (at, ...rest) => {
      if (!isClosed || at.channelId !== 'C0SHOP') return post(at, ...rest);
      // Once the container is launched: before, such a run is refused.
      await sleep(world.clock, 10);
      throw new KdebugError(at.threadTs === undefined ? 'slack_channel_closed' : 'slack_message_gone');
    };
    world.cluster.log = CAPTURE;
    await world.say('web-1', anOrigin({ source: 'mention', threadTs: '5.0' }));
    await world.clock.advance(100);
    isClosed = false;
    thread.openDirect = async () => {
      throw new KdebugError('slack_unreachable');
    };
    world.cluster.report({ terminated: aTermination() });
    await settle();
    await world.clock.advance(10_000);
    expect(posts(world)).toEqual([['C0SHOP', []]]);
    world.policy = { ...world.policy, output: { ...world.policy.output, deliverTo: 'requester' } };
    thread.openDirect = async () => ({ channelId: 'D-U0ROY' });
    await world.clock.advance(600_000);
    expect(posts(world).at(-1)).toEqual(['D-U0ROY', [`kdebug-${world.runId}.capture.pcap`]]);
  });

  it('is waited for as long as any, however long the files before it took', async () => {
    const world = new World({ policy: policyOf() });
    const { thread, clock } = world;
    const share = thread.share.bind(thread);
    let calls = 0;
    thread.share = async (...all) => {
      calls += 1;
      if (calls === 1) await sleep(clock, 70_000);
      if (calls === 2) throw new KdebugError('slack_unanswered');
      return share(...all);
    };
    await runThatWrote(`${THREADS}${CAPTURE}`, world);
    await clock.advance(120_000);
    expect(posts(world).map(([channel]) => channel)).toEqual(['C0SHOP', 'D-U0ROY']);
  });

  it('comes again, beside the log, with a late end', async () => {
    const policy = policyOf();
    const world = new World({ policy });
    world.cluster.log = '';
    await world.say('web-1 --timeout=1s');
    world.cluster.report({ running: { startedAt: new Date(world.clock.now()).toISOString() } });
    await settle();
    await world.clock.advance(5_000);
    expect((await world.run()).outcome?.kind).toBe('timed-out');
    world.cluster.log = THREADS;
    world.cluster.report({ terminated: aTermination() });
    await settle();
    await world.clock.advance(60_000);
    expect(posts(world)).toEqual([
      ['C0SHOP', []],
      ['C0SHOP', [`kdebug-${world.runId}-late.threads.txt`]],
    ]);
  });
});

describe('what the pods of a batch brought back', () => {
  it('is one archive with a folder a pod, beside its other files', async () => {
    const policy = policyOf();
    const { autodiagnose } = policy.images;
    const images = { ...policy.images, autodiagnose: { ...autodiagnose!, files: ['text', 'profile'] as const } };
    const world = new BatchWorld(2, { policy: { ...policy, images } });
    world.fleet.logOf = () => `${THREADS}${CUT}`;
    await world.say('-l app=web --parallelism=1');
    // The archive is compressed by threads of the machine, which no test's clock moves.
    await expect
      .poll(async () => {
        await world.clock.advance(10_000);
        return posts(world);
      })
      .toHaveLength(2);
    const { id } = await world.run();
    const name = `kdebug-${id}-files.tar.gz`;
    expect(posts(world)[1]).toEqual(['C0SHOP', [`kdebug-batch-${id}.txt`, `kdebug-batch-${id}.csv`, name]]);
    const [text] = world.thread.files;
    expect(text?.content).toContain('1 file | no cut.txt (some of it did not arrive)');
    expect(textOf(world.thread.posts.find(({ meta }) => meta.kind === 'result')?.message)).toContain(
      '2 files missing: the .txt says which, and why.',
    );
    const archive = world.thread.files.find(({ filename }) => filename === name);
    expect(await contentsOf(archive!.raw)).toEqual(
      world.fleet.names.map((pod: string) => [`${pod}/threads.txt`, 'main waits for lock\n']),
    );
  });

  it('may not hold secrets: such a batch is refused', async () => {
    const world = new BatchWorld(2, { policy: policyOf() });
    await world.say('-l app=web --parallelism=1');
    expect((await world.run()).refusal?.code).toBe('secret_files_not_in_batch');
  });
});

async function contentsOf(archive: Buffer): Promise<[string, string][]> {
  const found: [string, string][] = [];
  const entries = extract();
  entries.end(gunzipSync(archive));
  for await (const entry of entries) {
    const pieces: Buffer[] = [];
    for await (const piece of entry) pieces.push(Buffer.from(piece as Uint8Array));
    found.push([entry.header.name, Buffer.concat(pieces).toString()]);
  }
  return found.sort();
}
