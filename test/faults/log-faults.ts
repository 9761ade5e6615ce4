import { expect } from 'vitest';
import type { LocalCluster } from '../../play/cluster/index.ts';
import { mentionsIn } from '../../play/slack/index.ts';
import { view } from '../../src/adapters/slack/views/view.ts';
import { createArchive } from '../../src/adapters/spool/archive.ts';
import { FileSpool, type SpoolFile } from '../../src/adapters/spool/file-spool.ts';
import { createSpools } from '../../src/adapters/spool/index.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import type { Spools } from '../../src/flow/ports/machine.ts';
import { aPolicy, aTermination } from '../support/builders.ts';
import { inFullOr } from '../support/sample.ts';
import type { Board } from './support/board.ts';
import { contentBytes, Flood } from './support/flood.ts';
import { NodeLog, SMALL_FILES } from './support/node-log.ts';
import type { PortScene } from './support/port-scene.ts';

/** A container that may run for half an hour. */
const PATIENT: Policy = (() => {
  const policy = aPolicy();
  const { autodiagnose } = policy.images;
  if (!autodiagnose) throw new Error('no such image');
  return { ...policy, images: { ...policy.images, autodiagnose: { ...autodiagnose, timeoutMs: 1_800_000 } } };
})();

const WHOLE = { complete: true, limitReached: false, beginningMayBeMissing: false, gaps: [] };

/** F42 to F47 of the matrix: what can go wrong between a container's output and the thread. */
export function logFaults(board: Board, _cluster: () => LocalCluster): void {
  for (const [seed, cuts] of [
    [1, 1],
    [2, 2],
    [3, 5],
    [4, 15],
    [5, 50],
  ] as const)
    board.fault('F42', `the stream is cut ${cuts} times, anywhere: every line once and in order`, async () => {
      const log = await NodeLog.running({ seed, policy: PATIENT });
      log.kubelet.stampsRepeat = seed % 2 === 0;
      for (let cut = 0; cut < cuts; cut += 1) {
        log.bytesPerPump = 1 + Math.floor(log.random() * 600);
        await log.live(300 + Math.floor(log.random() * 900), 30);
        while (log.kubelet.openReaders === 0) await log.pass(50);
        if (log.random() < 0.6) log.kubelet.breakAll();
        else log.kubelet.cutAll();
      }
      log.bytesPerPump = 64 * 1_024;
      await log.live(6_000, 20);
      await log.end();
      expect(log.kubelet.requests).toBeGreaterThan(cuts);
      expect(log.shown).toBe(log.truth);
      expect((await log.log())?.completeness).toEqual(WHOLE);
    });

  board.fault('F43', 'a log that is rotated while it is followed is whole', async () => {
    const log = await NodeLog.running({ times: SMALL_FILES });
    for (let file = 0; file < 4; file += 1) {
      await log.live(10_000, 120);
      log.kubelet.rotate();
    }
    await log.live(1_000, 120);
    await log.end();
    expect(log.shown).toBe(log.truth);
    expect((await log.log())?.completeness).toEqual(WHOLE);
  });

  board.fault('F43', 'a log that is rotated twice while nothing comes through has a gap, and says so', async () => {
    const log = await NodeLog.running({ times: SMALL_FILES });
    await log.live(9_000, 120);
    log.kubelet.isStuck = true;
    for (let file = 0; file < 2; file += 1) {
      await log.live(11_000, 120);
      log.kubelet.rotate();
    }
    log.kubelet.isStuck = false;
    await log.live(12_000, 120);
    await log.end();
    expect(log.shown?.length).toBeLessThan(log.truth.length);
    expect((await log.log())?.completeness.complete).toBe(false);
    expect(log.scene.words('result')).toContain('possible gap');
  });

  board.fault('F44', 'the stream ends eight seconds before the status does: the log is whole', async () => {
    const log = await NodeLog.running();
    await log.live(2_000, 50);
    log.kubelet.isRunning = false;
    await log.pass(8_000);
    log.report();
    await log.scene.goOn();
    expect(log.shown).toBe(log.truth);
    expect((await log.log())?.completeness).toEqual(WHOLE);
  });

  board.fault('F44', 'the status ends five seconds before the stream does: the last lines are there', async () => {
    const log = await NodeLog.running();
    await log.live(2_000, 50);
    log.bytesPerPump = 10;
    log.write(40);
    log.kubelet.isRunning = false;
    log.report();
    await log.pass(5_000);
    expect((await log.scene.run())?.state).toBe('collecting');
    log.bytesPerPump = 64 * 1_024;
    await log.scene.goOn();
    expect(log.shown).toBe(log.truth);
    expect((await log.log())?.completeness).toEqual(WHOLE);
  });

  board.fault('F44', 'the stream never ends: a last read ends it within half a minute', async () => {
    const log = await NodeLog.running();
    await log.live(2_000, 50);
    log.kubelet.isDeaf = true;
    log.write(20);
    const endedAtMs = log.scene.clock.now();
    await log.end();
    expect(log.scene.clock.now() - endedAtMs).toBeLessThan(30_000);
    expect(log.shown).toBe(log.truth);
  });

  board.fault('F45', 'whatever bytes a container writes, Slack shows harmless, readable words', async () => {
    const log = await NodeLog.running();
    for (const line of HOSTILE) log.kubelet.write(line);
    for (const bytes of BROKEN) log.kubelet.write(bytes);
    log.kubelet.write('the end');
    await log.end();
    const views = log.scene.thread.posts.map(({ message }) => view(message));
    expect(views).toHaveLength(2);
    const shown = JSON.stringify(views);
    expect(shown.match(FORBIDDEN)).toBeNull();
    expect(log.shown ?? '').not.toMatch(FORBIDDEN);
    for (const { text, blocks } of views) {
      const message = { ...NOBODY, text, blocks: JSON.parse(JSON.stringify(blocks)) };
      const alive = mentionsIn(message).filter(
        ({ kind, where }) => ALIVE.has(kind) && !(kind === 'emoji' && where === OUR_MARK),
      );
      expect(alive.filter(({ kind, text: mentioned }) => kind !== 'user' || !mentioned.includes('U0ROY'))).toEqual([]);
    }
    expect(log.scene.words('result')).toContain('red alert');
    expect(log.scene.words('result')).toContain('the end');
    expect((await log.log())?.completeness).toEqual(WHOLE);
  });

  for (const [what, pieces] of [
    ['one line of many MiB', oneLine],
    ['very many empty lines', emptyLines],
    ['very many lines of one nanosecond, of two streams whose stamps step back', sameMoment],
  ] as const)
    board.fault('F46', `${what}, faster than the disk: a few MiB of memory, and all of it is there`, async () => {
      const { scene, flood } = await flooded(pieces);
      const run = await scene.run();
      expect(run?.outcome?.kind).toBe('succeeded');
      expect(flood.mostInMemory).toBeLessThan(4 * KIB * KIB);
      expect(run?.log?.bytes).toBe(contentOf(pieces()));
      expect(run?.log?.completeness).toMatchObject({ limitReached: false, gaps: [] });
      expect(run?.log?.completeness.interruptedBy).toBeUndefined();
    });

  board.fault('F46', 'more than the policy lets us read is cut there, and said', async () => {
    const { scene, flood } = await flooded(oneLine, 10_000_000);
    expect((await scene.run())?.log?.bytes).toBe(10_000_000);
    expect(flood.sentBytes).toBeLessThan(14_000_000);
    expect(scene.words('result')).toContain('longer than the policy allows');
  });

  for (const [what, spools, code] of [
    ['is full', onDisk({ room: 200 * 1_024, code: 'ENOSPC' }), 'spool_full'],
    ['is full from the start', onDisk({ room: 0, code: 'EDQUOT' }), 'spool_full'],
    ['breaks', onDisk({ room: 200 * 1_024, code: 'EIO' }), 'spool_failed'],
    ['is gone', createSpools({ directory: '/nowhere/at/all' }), 'spool_failed'],
    ['has no more room for us', createSpools({ maxTotalBytes: 200 * 1_024 }), 'spool_full'],
  ] as const)
    board.fault(
      'F47',
      `the disk for logs ${what}: the end of the log is shown, and what is missing is said`,
      async () => {
        const log = await NodeLog.running({ spools });
        await log.live(10_000, 500);
        log.kubelet.write('the last words');
        await log.end();
        const run = await log.scene.run();
        expect(run?.outcome?.kind).toBe('succeeded');
        expect(run?.log?.lines).toBe(5_001);
        expect(run?.log?.completeness).toMatchObject({ complete: false });
        expect(log.scene.words('result')).toContain('the last words');
        expect(log.scene.words('result')).toContain(code);
        expect(log.truth.startsWith(log.shown ?? '')).toBe(true);
      },
    );
}

const KIB = 1_024;
const STAMP = '2026-11-21T07:30:01.';

/** Under one stamp, in pieces: the runtime cuts at 16 KiB, the kubelet puts the parts together again. */
function* oneLine(): Iterable<Buffer> {
  yield Buffer.from(`${STAMP}000000001Z `);
  const piece = Buffer.alloc(64 * KIB, 'x');
  for (let left = inFullOr(48, 12) * 16; left > 0; left -= 1) yield piece;
  yield Buffer.from('\n');
}

function* emptyLines(): Iterable<Buffer> {
  for (let block = 0; block < inFullOr(1_000, 200); block += 1) {
    const stamp = (line: number) => `${STAMP}${String(block * 1_000 + line).padStart(9, '0')}Z \n`;
    yield Buffer.from(Array.from({ length: 1_000 }, (_, line) => stamp(line)).join(''));
  }
}

function* sameMoment(): Iterable<Buffer> {
  for (let block = 0; block < inFullOr(400, 80); block += 1) {
    const line = (index: number) => `${STAMP}00${index % 2 ? '5' : '3'}000000Z ${block} ${index}\n`;
    yield Buffer.from(Array.from({ length: 1_000 }, (_, index) => line(index)).join(''));
  }
}

const contentOf = (pieces: Iterable<Buffer>): number => {
  let bytes = 0;
  for (const piece of pieces) bytes += contentBytes(piece);
  return bytes;
};

/** A run whose log is a flood, told to its end. */
async function flooded(pieces: () => Iterable<Buffer>, maxLogBytes = 1_000_000_000) {
  const policy = { ...PATIENT, limits: { ...PATIENT.limits, maxLogBytes } };
  const made: Flood[] = [];
  const client = (scene: PortScene): Flood => {
    const flood = new Flood(scene.clock, pieces);
    scene.spools = flood.disk(scene.clock);
    made.push(flood);
    return flood;
  };
  const { scene } = await NodeLog.running({ policy, client });
  const [flood] = made;
  if (!flood) throw new Error('nobody read the log');
  while (!flood.isOver) await scene.clock.advance(50);
  scene.cluster.report({ terminated: aTermination() });
  await scene.goOn();
  return { scene, flood };
}

/** Words that mean something to Slack, and characters that hide or turn what stands around them. */
const HOSTILE = [
  '\u001b[31mred\u001b[0m alert',
  '\u001b]8;;https://evil.example/\u001b\\link\u001b]8;;\u001b\\',
  '\u001b]52;c;ZXZpbA==\u0007clipboard',
  'half\rdone\rwhole',
  'nul \u0000 bell \u0007 c1 \u009b31m back\b\b\b',
  'bidi \u202e gnp.exe \u2066 x \u2069 zero\u200bwidth\u200d\ufeff',
  '<!channel> <!here> <@U0BOB> <!subteam^S0SRE> <#C0SHOP> @channel :tada: <https://evil.example|safe>',
  '```\n*bold* _it_ ~no~ `code` > quote',
  '&amp;lt;!channel&amp;gt; mailto:a@b.example',
];

/** No UTF-8: cut off, overlong, a lone surrogate, and none at all. */
const BROKEN = [
  [0xe2, 0x82],
  [0xc0, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xff, 0xfe, 0x80],
  [0xf0, 0x9f],
].map((bytes) => Buffer.from(bytes));

/** What must stand nowhere: controls but tab and newline, what turns the direction, what takes no room. */
const FORBIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/u;

const NOBODY = { channel: 'C0SHOP', ts: '1.0', user: 'U0KDEBUG', files: [], revisions: 0, reactions: [] };
/** The mark of the message's tone, which kdebug itself puts before the first words. */
const OUR_MARK = '/blocks/0/elements/0/elements/0';
const ALIVE: ReadonlySet<string> = new Set(['user', 'usergroup', 'channel', 'broadcast', 'link', 'date', 'emoji']);

/** Spools on a disk that takes so many bytes and then fails. */
function onDisk({ room, code }: { readonly room: number; readonly code: string }): Spools {
  const open = async (): Promise<SpoolFile> => {
    let content = Buffer.alloc(0);
    return {
      write: async (data, offset, length, position) => {
        if (position >= room) throw Object.assign(new Error(code), { code });
        const bytesWritten = Math.min(length, room - position);
        content = Buffer.concat([content.subarray(0, position), data.subarray(offset, offset + bytesWritten)]);
        return { bytesWritten };
      },
      read: async (into, offset, length, position) => ({
        bytesRead: content.copy(into, offset, position, position + length),
      }),
      close: async () => {},
    };
  };
  const budget = { reserve: () => true, giveBack: () => {} };
  const spool = () => new FileSpool(open, budget);
  return { open: async () => spool(), archive: async () => createArchive(spool()) };
}
