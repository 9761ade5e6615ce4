import { expect, it } from 'vitest';
import {
  imageRepository,
  isPinned,
  parseImageReference,
  printImageReference,
} from '../../../src/core/container/names.ts';

const DIGEST = `sha256:${'a1'.repeat(32)}`;

it.each([
  ['debian', 'docker.io/library/debian'],
  ['debian:12-slim', 'docker.io/library/debian:12-slim'],
  ['library/debian', 'docker.io/library/debian'],
  ['user/tool', 'docker.io/user/tool'],
  ['docker.io/debian', 'docker.io/library/debian'],
  ['index.docker.io/user/tool', 'docker.io/user/tool'],
  ['localhost/tool', 'localhost/tool'],
  ['localhost:5000/tool:1', 'localhost:5000/tool:1'],
  ['registry.example.com/a/b__c/d-e--f.g:1.4', 'registry.example.com/a/b__c/d-e--f.g:1.4'],
  ['Registry.example.com/a', 'Registry.example.com/a'],
  ['[2001:db8::1]:5000/a', '[2001:db8::1]:5000/a'],
  [`debian@${DIGEST}`, `docker.io/library/debian@${DIGEST}`],
  [`debian:12@${DIGEST}`, `docker.io/library/debian:12@${DIGEST}`],
  [`debian@sha512:${'0'.repeat(128)}`, `docker.io/library/debian@sha512:${'0'.repeat(128)}`],
])('%s is %s in full', (text, full) => {
  const reference = parseImageReference(text);
  expect(reference && printImageReference(reference)).toBe(full);
});

it('the parts are told apart', () => {
  const reference = parseImageReference(`r.example.com:5000/a/b:1@${DIGEST}`);
  expect(reference).toEqual({ domain: 'r.example.com:5000', path: 'a/b', tag: '1', digest: DIGEST });
  expect(reference && imageRepository(reference)).toBe('r.example.com:5000/a/b');
});

it.each([
  ['nothing', ''],
  ['upper case in the repository', 'Debian'],
  ['upper case in the path', 'r.example.com/Tool'],
  ['an empty tag', 'debian:'],
  ['a tag that is too long', `debian:${'a'.repeat(129)}`],
  ['an empty digest', 'debian@'],
  ['a short digest', 'debian@sha256:abc'],
  ['an unknown algorithm', `debian@md5:${'a'.repeat(32)}`],
  ['an upper-case digest', `debian@sha256:${'A'.repeat(64)}`],
  ['two digests', `debian@${DIGEST}@${DIGEST}`],
  ['a scheme', 'https://r.example.com/a'],
  ['a space', 'a b'],
  ['a leading slash', '/a'],
  ['an empty component', 'a//b'],
  ['a path upwards', '../a'],
  ['separators side by side', 'a._b'],
  ['three underscores', 'a___b'],
  ['a hyphen at the end', 'a-'],
  ['a name of 256 characters', `docker.io/library/${'a'.repeat(238)}`],
  ['an image id', 'a'.repeat(64)],
  ['a confusable letter', 'debiаn'],
  ['a line break at the end', 'debian\n'],
  ['a host without a repository', 'r.example.com/'],
])('%s is refused', (_, text) => {
  expect(parseImageReference(text)).toBeUndefined();
});

it('a name of 255 characters, domain included, is the longest', () => {
  expect(parseImageReference('a'.repeat(237))).toBeDefined();
  expect(parseImageReference('a'.repeat(238))).toBeUndefined();
});

it('only a reference with a digest names one content for ever', () => {
  expect(isPinned(`debian@sha256:${'a'.repeat(64)}`)).toBe(true);
  expect(isPinned(`debian:12@sha256:${'a'.repeat(64)}`)).toBe(true);
  expect(isPinned('debian:12')).toBe(false);
  expect(isPinned('debian')).toBe(false);
  expect(isPinned('not a reference@')).toBe(false);
});
