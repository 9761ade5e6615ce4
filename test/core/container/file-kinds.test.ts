import { describe, expect, it } from 'vitest';
import { endingOf, FILE_ENDINGS, FILE_KINDS, isSecretKind } from '../../../src/core/container/file-kinds.ts';

describe('the kind of a file', () => {
  it.each([
    ['threads.txt', 'text', true],
    ['findings.json', 'text', true],
    ['cpu.speedscope.json', 'profile', true],
    ['cpu.svg', 'profile', true],
    ['cpu.png', 'profile', false],
    ['cpu.pb.gz', 'profile', false],
    ['a.pcap', 'capture', false],
    ['a.hprof', 'heap', false],
  ])('of %s is %s', (name, kind, isRedacted) => {
    expect(endingOf(name)).toMatchObject({ kind, isRedacted });
  });

  it.each(['threads', 'a.html', 'a.exe', 'a.gz', 'a.svg.exe', 'txt', 'a.TXT'])('of %s is none', (name) => {
    expect(endingOf(name)).toBeUndefined();
  });

  it('is told for every kind by some ending, and no ending hides behind an earlier, shorter one', () => {
    expect(new Set(FILE_ENDINGS.map(({ kind }) => kind))).toEqual(new Set(FILE_KINDS));
    for (const { ending } of FILE_ENDINGS) expect(endingOf(`a${ending}`)?.ending).toBe(ending);
  });

  it('is secret exactly where redaction cannot help and the target chose the content', () => {
    expect(FILE_KINDS.filter(isSecretKind)).toEqual(['capture', 'heap']);
  });
});
