import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { canLook, run } from './script.ts';
import { cleanUp, IDLE, startProgram, startTarget } from './targets.ts';

const STUBBORN = `process.on('SIGTERM', () => {}); ${IDLE}`;

describe.skipIf(!canLook)('stop', () => {
  afterEach(cleanUp);

  it('ends every process of a run, and of no other', async () => {
    const [first, second, other] = await Promise.all([
      startTarget(IDLE, { KDEBUG_RUN: 'aaaaaaaaaa' }),
      startTarget(IDLE, { KDEBUG_RUN: 'aaaaaaaaaa', OTHER: 'x\ny' }),
      startTarget(IDLE, { KDEBUG_RUN: 'aaaaaaaaaab', NOTE: 'x\nKDEBUG_RUN=aaaaaaaaaa' }),
    ]);
    const ended = Promise.all([once(first, 'exit'), once(second, 'exit')]);

    const report = await run(['stop', 'aaaaaaaaaa'], {});

    expect(report).toMatchObject({ exitCode: 0, err: '' });
    const pids = [first.pid ?? 0, second.pid ?? 0].sort((a, b) => a - b);
    expect(
      report.out
        .split('processes ')[1]
        ?.trim()
        .split(/[ .]/)
        .slice(0, 2)
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(pids);
    expect(report.out).toMatch(/^Stopped run aaaaaaaaaa with TERM: /);
    expect(report.message).toBe(report.out.trim());
    expect((await ended).map(([, signal]) => signal)).toEqual(['SIGTERM', 'SIGTERM']);
    expect(other.exitCode ?? other.signalCode).toBeNull();
  });

  it('kills what does not end when it is asked to', async () => {
    const stubborn = await startTarget(STUBBORN, { KDEBUG_RUN: 'bbbbbbbbbb' });
    const ended = once(stubborn, 'exit');

    const report = await run(['stop', 'bbbbbbbbbb'], { AUTODIAGNOSE_GRACE: '1' });

    expect(report).toMatchObject({ exitCode: 0, out: expect.stringContaining('with KILL') });
    expect((await ended)[1]).toBe('SIGKILL');
  });

  it('says when there is nothing to stop', async () => {
    expect(await run(['stop', 'cccccccccc'], {})).toMatchObject({
      exitCode: 2,
      out: expect.stringMatching(/^Nothing to stop: no process of run cccccccccc /),
    });
  });

  it('never ends itself, nor a shell that it is started from', async () => {
    expect(await run(['stop', 'dddddddddd'], { KDEBUG_RUN: 'dddddddddd' })).toMatchObject({
      exitCode: 1,
      out: 'Not stopped: dddddddddd is this run itself.\n',
    });
  });

  it('spares the processes above it', async () => {
    const parent = await startProgram(
      'sh',
      ['-c', 'echo ready; KDEBUG_RUN=other "$@"; echo $?; sleep 120', 'sh', 'sh', '-c', 'exit 0'],
      { KDEBUG_RUN: 'eeeeeeeeee' },
    );
    expect(parent.exitCode).toBeNull();
  });

  it.each([[[]], [['']], [['a b']], [['.*']], [['$(id)']]])('takes no other words for a run (%j)', async (words) => {
    expect(await run(['stop', ...words], {})).toMatchObject({
      exitCode: 1,
      out: expect.stringContaining('usage: stop RUN-ID'),
    });
  });

  it('does nothing when it starts too late', async () => {
    const target = await startTarget(IDLE, { KDEBUG_RUN: 'ffffffffff' });
    const report = await run(['stop', 'ffffffffff'], { KDEBUG_NOT_AFTER: '2024-05-01T10:00:00Z' });
    expect(report).toMatchObject({ exitCode: 1, out: expect.stringContaining('Not stopped: this started too late') });
    expect(target.exitCode ?? target.signalCode).toBeNull();
  });

  it('knows no other command', async () => {
    expect(await run(['start', 'x'], {})).toMatchObject({ exitCode: 1 });
  });
});
