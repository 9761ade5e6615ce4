import { expect, it } from 'vitest';
import type { Problem } from '../../../../src/core/command/line/line.ts';
import {
  type Reader,
  readContainerName,
  readDuration,
  readEnv,
  readImage,
  readParallelism,
  readReason,
  readReplicas,
  readSelector,
} from '../../../../src/core/command/line/values.ts';

function reading<T>(reader: Reader<T>, value: string): { read: T | undefined; problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const read = reader({ value, start: 3, end: 5 }, (problem) => {
    problems.push(problem);
    return undefined;
  });
  return { read, problems };
}

it.each<[string, Reader<unknown>, string, unknown]>([
  ['container', readContainerName, 'neato', 'neato'],
  ['image by alias', readImage, 'auto_diagnose.', 'auto_diagnose.'],
  ['image by reference', readImage, 'r.example.com/a:1', 'r.example.com/a:1'],
  ['selector', readSelector, 'a == b', 'a=b'],
  ['duration', readDuration, '90s', 90_000],
  ['reason', readReason, '  a \n b ', 'a b'],
  ['longest reason', readReason, 'x'.repeat(500), 'x'.repeat(500)],
  ['variable', readEnv, 'A==b ', { name: 'A', value: '=b ' }],
  ['replicas', readReplicas, '2147483647', 2_147_483_647],
  ['parallelism', readParallelism, '010', 10],
])('a valid %s is given and nothing reported', (_, reader, value, read) => {
  expect(reading(reader, value)).toEqual({ read, problems: [] });
});

it.each<[string, Reader<unknown>, string]>([
  ['container', readContainerName, 'a.b'],
  ['image', readImage, 'a:b:c'],
  ['selector', readSelector, ''],
  ['duration', readDuration, '1'],
  ['reason', readReason, 'x'.repeat(501)],
  ['variable', readEnv, 'A'],
  ['number', readParallelism, ' 3'],
])('a wrong %s is reported once, with its place and a way on', (_, reader, value) => {
  const { read, problems } = reading(reader, value);
  expect(read).toBeUndefined();
  expect(problems).toMatchObject([{ start: 3, end: 5, hint: expect.stringMatching(/./) }]);
});
