import { describe, expect, it } from 'vitest';
import type { Credentials } from '../../../cluster/programs/access.ts';
import { type Neighbour, stopper } from '../../../cluster/programs/stop.ts';

const ROOT: Credentials = { uid: 0, gid: 0, capabilities: new Set(['SYS_PTRACE']) };
const APP: Credentials = { uid: 1234, gid: 1234, capabilities: new Set() };

function neighbour(run: string | undefined, credentials: Credentials) {
  const ended: string[] = [];
  const env = new Map(run === undefined ? [] : [['KDEBUG_RUN', run]]);
  const shown: Neighbour = { env, credentials, terminate: () => ended.push('TERM') };
  return { shown, ended };
}

async function stop(
  user: Credentials,
  all: readonly Neighbour[],
  env: Readonly<Record<string, string>> = {},
  run = 'aaaaaaaaaa',
) {
  let written = '';
  const exitCode = await stopper(
    user,
    () => all,
  )({
    argv: ['stop', run],
    env: new Map(Object.entries({ KDEBUG_NOT_AFTER: '2999-01-01T00:00:00Z', ...env })),
    files: () => ({ kind: 'missing' }),
    user,
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
    write: (text) => {
      written += text.toString();
    },
    writeTermination: () => undefined,
  });
  return { exitCode, written };
}

describe('autodiagnose stop, in play', () => {
  it('ends the containers of this run, and no other', async () => {
    const [mine, other, target] = [
      neighbour('aaaaaaaaaa', APP),
      neighbour('bbbbbbbbbb', APP),
      neighbour(undefined, APP),
    ];
    const all = [mine, other, target].map(({ shown }) => shown);
    expect(await stop(APP, all)).toMatchObject({
      exitCode: 0,
      written: expect.stringContaining('Stopped run aaaaaaaaaa'),
    });
    expect([mine.ended, other.ended, target.ended]).toEqual([['TERM'], [], []]);
  });

  it('sees no process of another user, unless it may trace it', async () => {
    const mine = neighbour('aaaaaaaaaa', { ...ROOT, capabilities: new Set() });
    expect(await stop(APP, [mine.shown])).toMatchObject({
      exitCode: 2,
      written: expect.stringContaining('1 could not be read'),
    });
    expect(mine.ended).toEqual([]);
    expect((await stop(ROOT, [mine.shown])).exitCode).toBe(0);
  });

  it('ends nothing that is not there, nor itself, nor when it starts too late', async () => {
    expect(await stop(APP, [])).toMatchObject({ exitCode: 2, written: expect.stringContaining('It has ended') });
    const mine = neighbour('aaaaaaaaaa', APP);
    expect((await stop(APP, [mine.shown], { KDEBUG_RUN: 'aaaaaaaaaa' })).exitCode).toBe(1);
    expect((await stop(APP, [mine.shown], { KDEBUG_NOT_AFTER: '2020-01-01T00:00:00Z' })).exitCode).toBe(1);
    expect((await stop(APP, [mine.shown], {}, '.*')).exitCode).toBe(1);
    expect(mine.ended).toEqual([]);
  });
});
