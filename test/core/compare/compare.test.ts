import { describe, expect, it } from 'vitest';
import { type ComparedPod, comparePods } from '../../../src/core/compare/compare.ts';
import type { FactGroup, PodFact, PodFacts } from '../../../src/core/compare/facts.ts';

type Told = readonly (readonly [FactGroup, string, PodFact['value']])[];

const factsOf = (told: Told, cut: readonly FactGroup[] = []): PodFacts => ({
  facts: told.map(([group, name, value]) => ({ group, name, value })),
  cut,
});
const pod = (name: string, probe?: Told, cluster: Told = [], cut: readonly FactGroup[] = []): ComparedPod => ({
  name,
  cluster: factsOf(cluster),
  probe: probe && factsOf(probe, cut),
});
const told = ({ sick, others }: { readonly sick: string; readonly others: string }) =>
  others === '' ? sick : `${sick} (${others})`;
const differences = (sick: ComparedPod, ...siblings: readonly ComparedPod[]) =>
  comparePods(sick, siblings).differences.map(told);

describe('words', () => {
  const env = (value: string): Told => [
    ['env', 'DB_HOST', value],
    ['env', 'HOME', '#0001'],
  ];

  it('count where the sick pod differs from all siblings and these agree', () => {
    expect(differences(pod('a', env('#aaaa')), pod('b', env('#bbbb')), pod('c', env('#bbbb')))).toEqual([
      'environment variable DB_HOST has another content',
    ]);
  });

  it('say nothing where the siblings disagree, or one of them is as the sick pod', () => {
    expect(differences(pod('a', env('#aaaa')), pod('b', env('#bbbb')), pod('c', env('#cccc')))).toEqual([]);
    expect(differences(pod('a', env('#aaaa')), pod('b', env('#aaaa')), pod('c', env('#cccc')))).toEqual([]);
  });

  it('name what is only there, and what is only missing', () => {
    const without: Told = [['env', 'HOME', '#0001']];
    expect(differences(pod('a', env('#aaaa')), pod('b', without), pod('c', without))).toEqual([
      'environment variable DB_HOST is only here',
    ]);
    expect(differences(pod('a', without), pod('b', env('#aaaa')), pod('c', env('#aaaa')))).toEqual([
      'environment variable DB_HOST is missing',
    ]);
  });

  it('take nothing for missing in a list that was cut, and say that it was', () => {
    const sick = pod('a', [['env', 'HOME', '#0001']], [], ['env']);
    const result = comparePods(sick, [pod('b', env('#aaaa')), pod('c', env('#aaaa'))]);
    expect(result.differences).toEqual([]);
    expect(result.notes).toEqual(['Too many differences to list: environment variables.']);
  });

  it('show the digest of each image, with those of the others', () => {
    const image = (digest: string): Told => [['image', 'web', `sha256:${digest}`]];
    const pods = [pod('a', [], image('aaaa')), pod('b', [], image('bbbb')), pod('c', [], image('bbbb'))] as const;
    expect(differences(...pods)).toEqual(['image of web: sha256:aaaa (others: sha256:bbbb)']);
  });

  it('compare findings by their code, whatever numbers their texts hold', () => {
    const found = (text: string): Told => [['finding', 'close_wait', text]];
    expect(differences(pod('a', found('300 sockets')), pod('b', found('301 sockets')), pod('c', found('2')))).toEqual(
      [],
    );
    expect(differences(pod('a', found('300 sockets')), pod('b', []), pod('c', []))).toEqual(['300 sockets']);
  });
});

describe('numbers', () => {
  const sockets = (value: number): Told => [['sockets', 'CLOSE_WAIT', value]];

  it.each([
    [300, 0, 3, 'sockets CLOSE_WAIT: 300 (others: at most 3)'],
    [10, 3, 3, undefined],
    [9, 0, 0, undefined],
    [10, 0, 0, 'sockets CLOSE_WAIT: 10 (others: 0)'],
    [30, 10, 10, undefined],
    [31, 10, 10, 'sockets CLOSE_WAIT: 31 (others: 10)'],
    [2, 100, 40, 'sockets CLOSE_WAIT: 2 (others: at least 40)'],
    [2, 100, 5, undefined],
  ])('%i beside %i and %i', (sick, one, other, expected) => {
    const found = differences(pod('a', sockets(sick)), pod('b', sockets(one)), pod('c', sockets(other)));
    expect(found).toEqual(expected === undefined ? [] : [expected]);
  });

  it('name the peers that only the sick pod talks to', () => {
    const sick = pod('a', [['peer', '10.0.0.9 port 5432', 37]]);
    expect(differences(sick, pod('b', []), pod('c', []))).toEqual([
      'connections to 10.0.0.9 port 5432: 37 (others: 0)',
    ]);
  });

  it('say an age in words', () => {
    const age = (minutes: number): Told => [['age', '', minutes]];
    expect(differences(pod('a', [], age(3)), pod('b', [], age(14_400)), pod('c', [], age(20_000)))).toEqual([
      'age: 3 min (others: at least 10 d)',
    ]);
  });
});

describe('what was not seen', () => {
  const limit = (value: string): Told => [['limit', 'open files', value]];

  it('leaves out a sibling whose probe failed, and says so', () => {
    const result = comparePods(pod('a', limit('1024')), [pod('b', limit('65536')), pod('c')]);
    expect(result.differences.map(told)).toEqual(['limit open files: 1024 (others: 65536)']);
    expect(result.notes).toEqual(['No report from c, so only the Kubernetes status of these is compared.']);
  });

  it('compares what the cluster says where the sick pod’s own probe failed', () => {
    const node = (name: string): Told => [['node', 'node', name]];
    const result = comparePods(pod('a', undefined, node('n3')), [pod('b', [], node('n1')), pod('c', [], node('n1'))]);
    expect(result.differences.map(told)).toEqual(['node: n3 (others: n1)']);
    expect(result.notes).toEqual(['No report from a, so only the Kubernetes status is compared.']);
  });

  it('takes a group that a pod could not read for unknown, not for empty', () => {
    expect(differences(pod('a', []), pod('b', limit('1')), pod('c', limit('1')))).toEqual([]);
    expect(comparePods(pod('a', []), [pod('b', [])]).equal).toBe('');
  });

  it('sums up what is equal in one line, the most important first', () => {
    const all: Told = [
      ['limit', 'open files', '1024'],
      ['env', 'HOME', '#0001'],
      ['env', 'PATH', '#0002'],
      ['threads', 'threads', 4],
    ];
    const version: Told = [['version', '', 'abc']];
    const result = comparePods(pod('a', all, version), [pod('b', all, version), pod('c', all, version)]);
    expect(result.equal).toBe('version, 2 environment variables, limits, processes and threads');
  });

  it('says which latency and which share is equal, as others may not have been measured', () => {
    const measured = (ms: number): Told => [
      ['latency', 'DNS lookup', ms],
      ['share', 'fullest disk', 40],
    ];
    const result = comparePods(pod('a', measured(12)), [pod('b', measured(8)), pod('c', measured(9))]);
    expect(result.equal).toBe('fullest disk, latency of DNS lookup');
    expect(differences(pod('a', measured(900)), pod('b', measured(8)), pod('c', measured(9)))).toEqual([
      'latency of DNS lookup: 900 ms (others: at most 9 ms)',
    ]);
  });
});
