import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import type { Plan } from '../../../src/core/container/plan.ts';
import { asRunId, asUserId } from '../../../src/core/ids.ts';
import { type FoundContainer, rebuildRun, writeReference } from '../../../src/core/run/reference.ts';
import type { Run } from '../../../src/core/run/run.ts';
import { anApproval, anOrigin, aPlan, aPod, aRun, START_MS } from '../../support/builders.ts';

const LINE = "web-1 --image=debian --env=LEVEL=debug --reason=slow -- sh -c 'id; sleep 1'";
const NOT_AFTER_MS = START_MS + 61_000;

function requestOf(line: string): Run['request'] {
  const parsed = parseCommand(line);
  if (parsed.kind !== 'ok' || parsed.command.kind !== 'run') throw new Error('no request');
  return parsed.command.request;
}

const launched = (parts: Partial<Run> = {}): Run =>
  aRun({
    commandLine: LINE,
    request: requestOf(LINE),
    planHash: 'hash of the plan',
    origin: anOrigin({ responseUrl: 'https://hooks.slack.example/bearer', threadTs: '9.9' }),
    approval: anApproval({
      votes: [{ userId: asUserId('U0BOB'), kind: 'approve', atMs: START_MS, reason: 'words of a voter' }],
    }),
    ...parts,
  });

const plan = (parts: Partial<Plan> = {}): Plan =>
  aPlan({
    command: ['sh', '-c', 'id; sleep 1'],
    env: [{ name: 'LEVEL', value: 'debug' }],
    reason: 'slow',
    timeoutMs: 45_000,
    profile: 'general',
    ...parts,
  });

const found = (parts: Partial<FoundContainer> = {}): FoundContainer => ({
  runId: asRunId('qrstuvwxyz'),
  containerName: 'kdebug-abc',
  image: 'registry.example.com/debian:12',
  fingerprint: JSON.parse(text()).fingerprint,
  ref: 'sealed',
  pod: aPod({ metadata: { uid: 'uid as it is' }, spec: { nodeName: 'node-z' } }),
  ...parts,
});

const text = () => writeReference(launched(), plan(), NOT_AFTER_MS);

describe('what a container carries of its run', () => {
  it('holds no bearer secret, no words of voters, and nothing that the pod or the command tell again', () => {
    for (const word of [
      'hooks.slack',
      'words of a voter',
      'uid-1',
      'node-a',
      'registry.example.com',
      '"reason"',
      '"env"',
    ])
      expect(text()).not.toContain(word);
    expect(text()).toContain('U0BOB');
    expect(text().length).toBeLessThan(1_024);
  });

  it('has no approval when there was none, and an empty hash when there was no plan yet', () => {
    const { approval: _approval, planHash: _hash, ...asked } = launched();
    const reference: unknown = JSON.parse(writeReference(asked, plan(), NOT_AFTER_MS));
    expect(reference).toMatchObject({ v: 1, hash: '' });
    expect(reference).not.toHaveProperty('approval');
    expect(rebuildRun(found(), JSON.stringify(reference))).not.toHaveProperty('approval');
  });
});

describe('a run that is rebuilt from the cluster', () => {
  it('stands where a launch ends, with nothing said yet', () => {
    const { origin, approval } = launched();
    const { responseUrl: _, ...whence } = origin;
    expect(rebuildRun(found(), text())).toEqual({
      schema: 1,
      id: 'qrstuvwxyz',
      state: 'starting',
      origin: whence,
      request: expect.objectContaining({ target: { kind: 'pod', name: 'web-1' }, image: 'debian', reason: 'slow' }),
      commandLine: LINE,
      plan: expect.anything(),
      planHash: 'hash of the plan',
      containerName: 'kdebug-abc',
      notAfterMs: NOT_AFTER_MS,
      ref: 'sealed',
      launchedAtMs: NOT_AFTER_MS - 60_000,
      rebuilt: true,
      delivery: {},
      approval: { ...approval, votes: [{ userId: 'U0BOB', kind: 'approve', atMs: START_MS }] },
    });
  });

  it('shows no word that a pattern of the policy redacts', () => {
    const run = rebuildRun(found(), text(), ['sleep \\d']);
    expect(run?.commandLine).toContain('[redacted:custom]');
    expect(run?.commandLine).not.toContain('sleep');
    expect(run?.plan.command).toEqual(['sh', '-c', 'id; sleep 1']);
  });

  it('has the terms that were decided, and the rest from the pod, the command and who asked', () => {
    const { reason: _, ...terms } = plan();
    expect(rebuildRun(found(), text())?.plan).toEqual({
      ...terms,
      podUid: 'uid as it is',
      nodeName: 'node-z',
      image: 'registry.example.com/debian:12',
    });
  });

  it('is not of a container that does something else', () => {
    expect(rebuildRun(found({ fingerprint: 'other' }), text())).toBeUndefined();
    const { fingerprint: _, ...bare } = found();
    expect(rebuildRun(bare, text())).toBeUndefined();
    const other = writeReference(launched(), plan({ command: ['id'] }), NOT_AFTER_MS);
    expect(rebuildRun(found(), other)).toBeUndefined();
  });

  it('may be of a pod that has no node any more', () => {
    const { nodeName: _, ...spec } = found().pod.spec;
    const pod = { ...found().pod, spec };
    expect(rebuildRun(found({ pod }), text())?.plan?.nodeName).toBe('');
  });

  const changed = (change: object): string => JSON.stringify({ ...JSON.parse(text()), ...change });

  it.each([
    ['nothing', () => ''],
    ['no JSON', () => '{'],
    ['null', () => 'null'],
    ['a word', () => '"v"'],
    ['another version', () => changed({ v: 2 })],
    ['no version', () => changed({ v: undefined })],
    ['a part of a batch', () => changed({ partOf: 'abcdefghij' })],
    ['words that are no command any more', () => changed({ line: '--no-such-flag' })],
    ['another verb', () => changed({ line: 'list' })],
  ])('is none when the text is %s', (_, sealed) => {
    expect(rebuildRun(found(), sealed())).toBeUndefined();
  });
});
