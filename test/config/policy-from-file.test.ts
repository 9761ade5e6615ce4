import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { asChannelId } from '../../src/core/ids.ts';
import { fixture, loaded } from './policy-text.ts';

describe('the example of the design', () => {
  const policy = loaded(readFileSync(fixture('design.yaml'), 'utf8'));

  it('loads, with its durations in milliseconds and its sizes in bytes', () => {
    expect(policy.limits).toEqual({
      ephemeralContainersPerPod: 10,
      ephemeralContainersPerPodAndUser: 5,
      runsPerUserPerMinute: 6,
      runsPerUser: 7,
      pendingApprovalsPerUser: 5,
      runsPerChannel: 20,
      runsPerCluster: 200,
      startDeadlineMs: 120_000,
      maxTimeoutMs: 1_800_000,
      maxLogBytes: 104_857_600,
      maxFileBytes: 33_554_432,
      maxFiles: 8,
      maxFilesBytes: 67_108_864,
    });
    expect(policy.output).toEqual({ redact: [], retentionMs: 604_800_000, deliverTo: 'thread' });
  });

  it('loads what an image does, in a sentence of at most 120 characters', () => {
    const text = readFileSync(fixture('design.yaml'), 'utf8');
    const described = (words: string) =>
      text.replace(/(autodiagnose: \{)/, `$1 description: ${JSON.stringify(words)},`);
    expect(loaded(described('Looks around.')).images.autodiagnose).toMatchObject({ description: 'Looks around.' });
    expect(() => loaded(described('x'.repeat(121)))).toThrow();
    expect(policy.images.autodiagnose).not.toHaveProperty('description');
  });

  it('loads its rules and approval', () => {
    expect(policy.channels).toMatchObject({
      C0SHOP: {
        name: '#shop-oncall',
        rules: [
          { id: 'look', namespaces: ['shop', 'shop-*'], batch: { maxPods: 50, maxParallelism: 10 } },
          {
            id: 'attach',
            approval: {
              from: ['sre'],
              count: 1,
              expiresMs: 900_000,
              reason: 'required',
              voteReason: 'optional',
              grants: 'denied',
            },
          },
        ],
      },
    });
  });

  it('loads what a rule lets a diagnosis read of the own log of a pod, and nothing where it does not say', () => {
    const text = readFileSync(fixture('design.yaml'), 'utf8');
    const ruleOf = (words: string) =>
      loaded(text.replace('{ id: look,', `{ id: look, ${words}`)).channels[asChannelId('C0SHOP')]?.rules[0];
    expect(ruleOf('targetLog: tail,')).toMatchObject({ targetLog: 'tail' });
    expect(ruleOf('')).not.toHaveProperty('targetLog');
    expect(() => ruleOf('targetLog: all,')).toThrow('targetLog');
  });

  it('loads who seizes, and which rule lets them: nobody and none where the file does not say', () => {
    const text = readFileSync(fixture('design.yaml'), 'utf8');
    const { images, channels } = loaded(
      text
        .replace('{ id: look,', '{ id: look, traces: true,')
        .replace('class: elevated,', 'class: elevated, traces: true,'),
    );
    expect(images.debugger).toHaveProperty('traces', true);
    expect(channels[asChannelId('C0SHOP')]?.rules[0]).toHaveProperty('traces', true);
    const plain = loaded(text);
    for (const each of [...Object.values(plain.images), ...(plain.channels[asChannelId('C0SHOP')]?.rules ?? [])])
      expect(each).not.toHaveProperty('traces');
  });

  it('loads its images, closed to own commands unless it says otherwise', () => {
    expect(policy.defaultImage).toBe('autodiagnose');
    expect(policy.images).toMatchObject({
      autodiagnose: { alias: 'autodiagnose', class: 'observe', command: 'fixed', timeoutMs: 120_000 },
      debugger: {
        alias: 'debugger',
        reference: 'registry.acme.io/debugger:1.4',
        class: 'elevated',
        command: 'allowed',
      },
    });
  });

  it('loads its clusters, identity and approvers', () => {
    expect(policy.clusters).toEqual({ prod: { context: 'prod', inCluster: false, default: true } });
    expect(policy.identity).toEqual({
      mode: 'impersonate',
      user: 'slack:{userId}',
      groups: ['kdebug:{channelId}'],
      users: {},
    });
    expect(policy.approvers).toEqual({ sre: { usergroup: 'S0SRE', users: [] } });
  });

  it('says its defaults: without limits and output it is the same', () => {
    const text = readFileSync(fixture('design.yaml'), 'utf8').replace(/^(?:limits|output): .*$/gm, '');
    expect(text).not.toContain('retention');
    expect(loaded(text)).toEqual(policy);
  });
});
