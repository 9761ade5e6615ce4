import { expect, it } from 'vitest';
import { suggest } from '../../../../page/app/composer/complete.ts';
import { emptyWorld } from '../../../browser/support/worlds.ts';

const { completion, pods } = emptyWorld();

/** Labels for the text up to the caret, which stands at `|` or else at the end. */
function labels(marked: string, inThread = false): string[] {
  const caret = marked.includes('|') ? marked.indexOf('|') : marked.length;
  return suggest(marked.replace('|', ''), caret, { completion, pods, inThread }).items.map(({ label }) => label);
}

it.each([
  ['/', ['/kdebug', '/invite']],
  ['/i', ['/invite']],
  ['@k', ['@kdebug']],
  ['hello @kd', ['@kdebug']],
  ['hello', []],
  ['', []],
  ['/kdebug ', ['pod-1234', 'neato-5thn0', 'help', 'list']],
  ['/kdebug ne', ['neato-5thn0']],
  ['/kdebug 1234', ['pod-1234']],
  ['/kdebug pod-1234', []],
  ['/kdebug pod-1234 ', ['--image', '--namespace', '--profile', '--target']],
  ['/kdebug pod-1234 --image=debian --', ['--namespace', '--profile', '--target']],
  ['/kdebug pod-1234 --image=', ['autodiagnose', 'debian']],
  ['/kdebug pod-1234 --profile=sys', ['sysadmin']],
  ['/kdebug pod-1234 --target=', ['web']],
  ['/kdebug pod-1234 -n ', ['shop', 'vault']],
  ['/kdebug help ', ['pod-1234', 'neato-5thn0']],
  ['/kdebug pod-1234 -- cat --im', []],
  ['/kdebug po| --image=debian', ['pod-1234']],
  ['@kdebug li', ['list']],
])('offers for %j what may stand there', (text, expected) => expect(labels(text)).toEqual(expected));

it('offers no slash command in a thread, where Slack takes none', () => {
  expect(labels('/k', true)).toEqual([]);
  expect(labels('@k', true)).toEqual(['@kdebug']);
});

it('replaces the value of a flag only', () => {
  const text = '/kdebug pod-1234 --image=deb';
  const { from, to, items } = suggest(text, text.length, { completion, pods, inThread: false });
  expect(text.slice(0, from) + items[0]?.insert + text.slice(to)).toBe('/kdebug pod-1234 --image=debian ');
});
