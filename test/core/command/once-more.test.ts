import { expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import { printCommand } from '../../../src/core/command/print.ts';

const read = (text: string) => {
  const parsed = parseCommand(text);
  return parsed.kind === 'ok' ? parsed.command : parsed.error.code;
};

it('is a run of the pod’s own program, with the variables to leave out', () => {
  expect(
    read('once-more pod web-1 -n shop --target=web --without-env=A --without-env=B --without-env=A'),
  ).toMatchObject({
    kind: 'run',
    request: {
      target: { kind: 'pod', name: 'web-1' },
      namespace: 'shop',
      targetContainer: { kind: 'named', name: 'web' },
      onceMore: { withoutEnv: ['A', 'B'] },
    },
  });
  expect(read('Once-More web-1')).toMatchObject({ request: { onceMore: { withoutEnv: [] } } });
});

it('can be asked about before, as a watch can', () => {
  expect(read('can-i once-more web-1 -n shop --without-env=A')).toMatchObject({
    kind: 'can-i',
    request: { target: { kind: 'pod', name: 'web-1' }, onceMore: { withoutEnv: ['A'] } },
  });
  expect(read('can-i watch web-1 --when=threads>500')).toMatchObject({
    kind: 'can-i',
    request: { image: 'blackbox', target: { name: 'web-1' } },
  });
  expect(read('can-i watch')).toMatchObject({ kind: 'can-i', request: { target: { kind: 'pod', name: 'watch' } } });
  expect(read('can-i once-more web-1 --image=debian')).toBe('flag_misplaced');
  expect(read('once-more web-1 --dry-run')).toMatchObject({ request: { dryRun: true } });
});

it('names the pod as what to write instead of its workload', () => {
  const parsed = parseCommand('once-more deployment/web');
  expect(parsed.kind === 'error' && parsed.error.hint).toBe('Name one of its pods: once-more POD');
});

it.each([
  ['previous', 'previous'],
  ['41', 41],
])('takes the image of another revision: %s', (typed, imageOf) => {
  const command = read(`once-more web-1 -n shop --image-of=${typed}`);
  expect(command).toMatchObject({ request: { onceMore: { withoutEnv: [], imageOf } } });
  expect(typeof command === 'object' && printCommand(command)).toBe(`once-more web-1 -n shop --image-of=${typed}`);
});

it.each([
  ['prevous', 'Did you mean previous?'],
  ['Previous', 'Did you mean previous?'],
  ['-1', 'For example: once-more web-1 --image-of=previous'],
  ['0', 'Write --image-of=previous, or the number of a revision, such as --image-of=41.'],
  ['4.1', 'Write --image-of=previous, or the number of a revision, such as --image-of=41.'],
  ['web:1', 'Write --image-of=previous, or the number of a revision, such as --image-of=41.'],
])('names the right word where the revision is %s', (typed, hint) => {
  const parsed = parseCommand(`once-more web-1 --image-of ${typed}`);
  expect(parsed.kind === 'error' && parsed.error.hint).toBe(hint);
});

it.each([
  ['once-more', 'target_missing'],
  ['once-more deployment/web', 'target_kind_unknown'],
  ['once-more web-1 web-2', 'word_unexpected'],
  ['once-more web-1 --image=debian', 'flag_misplaced'],
  ['once-more web-1 --no-target', 'flag_misplaced'],
  ['once-more web-1 --profile=sysadmin', 'flag_misplaced'],
  ['once-more web-1 -- sh', 'flag_misplaced'],
  ['once-more web-1 --without-env=A=b', 'env_invalid'],
  ['web-1 --without-env=A', 'flag_misplaced'],
  ['once-more web-1 --image-of=42nd', 'number_invalid'],
  ['once-more web-1 --image-of=41 --image-of=40', 'flag_repeated'],
  ['web-1 --image-of=previous', 'flag_misplaced'],
])('%s is refused', (text, code) => {
  expect(read(text)).toBe(code);
});
