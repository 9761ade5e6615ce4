import { describe, expect, it } from 'vitest';
import { MAX_FACTS } from '../../../src/core/compare/facts.ts';
import { factsOfPod } from '../../../src/core/compare/pod-facts.ts';
import { parseReport } from '../../../src/core/diagnosis/facts/report.ts';
import { redactText } from '../../../src/core/redact/redact-text.ts';
import { aPod, aStatus, aTermination, START_MS } from '../../support/builders.ts';

const parsed = (facts: unknown, factsCut?: unknown) =>
  parseReport(JSON.stringify({ kdebug: 1, verdict: 'x', facts, factsCut }))?.facts;

describe('the facts of a report', () => {
  it('are lists of value, group and name', () => {
    expect(
      parsed(
        [
          ['#1f3c', 'env', 'HOME'],
          [412, 'sockets', 'CLOSE_WAIT'],
          ['#0001', 'command', ''],
        ],
        ['env'],
      ),
    ).toEqual({
      facts: [
        { group: 'env', name: 'HOME', value: '#1f3c' },
        { group: 'sockets', name: 'CLOSE_WAIT', value: 412 },
        { group: 'command', name: '', value: '#0001' },
      ],
      cut: ['env'],
    });
  });

  it.each([
    ['a group of the cluster, which no container may fill', ['sha256:1', 'image', 'web']],
    ['an unknown group', ['x', '__proto__', 'y']],
    ['a text for a number', ['many', 'sockets', 'CLOSE_WAIT']],
    ['a number for a text', [7, 'env', 'HOME']],
    ['a negative number', [-1, 'sockets', 'CLOSE_WAIT']],
    ['an object', { env: 'x' }],
    ['a fact without a name', ['#1f3c', 'env']],
  ])('are without %s', (_, fact) => {
    expect(parsed([fact])?.facts).toEqual([]);
  });

  it('are bounded, of one line and clean', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => [index, 'peer', `10.0.0.${index}`]);
    expect(parsed(many)?.facts).toHaveLength(MAX_FACTS);
    expect(parsed([['a\nb\u202e', 'dns', 'x'.repeat(500)]])?.facts).toEqual([
      { group: 'dns', name: 'x'.repeat(80), value: 'a b' },
    ]);
  });

  it('keep their hashes when the log around them is redacted', () => {
    const facts = ['DB_PASSWORD', 'API_KEY', 'AUTH_TOKEN', 'SECRET_KEY_BASE', 'COOKIE'].map((name, index) => [
      `#000${index}`,
      'env',
      name,
    ]);
    const log = JSON.stringify({ kdebug: 1, verdict: 'x', facts });
    expect(parseReport(redactText(log, []))?.facts?.facts.map(({ value }) => value)).toEqual(
      facts.map(([value]) => value),
    );
  });
});

it('the cluster’s facts say where, since when and in which version a pod runs', () => {
  const pod = aPod({
    metadata: {
      labels: { 'pod-template-hash': 'v1', app: 'web' },
      creationTimestamp: new Date(START_MS - 300_000).toISOString(),
    },
    spec: { nodeName: 'n1' },
    status: {
      containerStatuses: [
        aStatus({
          name: 'web',
          imageID: `docker.io/web@sha256:${'ab'.repeat(32)}`,
          restartCount: 3,
          lastTermination: aTermination({ reason: 'OOMKilled', exitCode: 137 }),
        }),
      ],
    },
  });
  const node = { name: 'n1', zone: 'eu-1a', kernel: '6.18', conditions: [{ type: 'DiskPressure', status: 'True' }] };
  const { facts } = factsOfPod(pod, node, START_MS);
  const told = facts.map(({ group, name, value }) => `${group} ${name}: ${value}`);
  expect(told).toEqual(
    expect.arrayContaining([
      'version : v1',
      'node node: n1',
      'node zone: eu-1a',
      'node conditions of the node: DiskPressure',
      'image web: sha256:abababababab',
      'restarts web: 3',
      'state last end of web: OOMKilled, exit code 137',
      'label app: web',
      'age : 5',
    ]),
  );
  expect(told.join()).not.toContain('label pod-template-hash');
});
