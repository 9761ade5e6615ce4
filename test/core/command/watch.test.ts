import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';

const read = (text: string) => {
  const parsed = parseCommand(text);
  return parsed.kind === 'ok' ? parsed.command : parsed.error.code;
};
const errorOf = (text: string) => {
  const parsed = parseCommand(text);
  return parsed.kind === 'ok' ? undefined : parsed.error;
};

it('is a run of the image that waits, with its settings, and kdebug follows it a little longer', () => {
  expect(
    read('watch shop/web-1 --when="memory>92%, threads>500" --when=port:8080>2s --then=summary --for=6h --shots=2'),
  ).toMatchObject({
    kind: 'run',
    request: {
      target: { kind: 'pod', name: 'web-1' },
      namespace: 'shop',
      image: 'blackbox',
      env: [
        { name: 'BLACKBOX_WHEN', value: 'memory>92%,threads>500,port:8080>2s' },
        { name: 'BLACKBOX_FOR', value: '6h' },
        { name: 'BLACKBOX_THEN', value: 'summary' },
        { name: 'BLACKBOX_SHOTS', value: '2' },
      ],
      timeoutMs: 6 * 3_600_000 + 120_000,
    },
  });
});

it.each([
  ['', '25m'],
  ['--for=1h30m', '90m'],
  ['--for=90s', '90s'],
])('with %j it waits for %s, in the one unit that the image reads', (flag, expected) => {
  expect(read(`watch web-1 --when=fds>90% ${flag}`)).toMatchObject({
    request: {
      env: [
        { name: 'BLACKBOX_WHEN', value: 'fds>90%' },
        { name: 'BLACKBOX_FOR', value: expected },
      ],
    },
  });
});

it.each([
  'memory>92%',
  'memory>1.5GiB',
  'memory>500MiB',
  'fds>90%',
  'fds>1000',
  'threads>500',
  'queue>100',
  'quiet>2m',
])('%s is a condition', (when) => {
  expect(read(`watch web-1 --when=${when}`)).toMatchObject({ kind: 'run' });
});

it.each([
  ['"memory &gt; 92 %"', 'memory>92%'],
  ['“memory &gt; 1.5 GiB”', 'memory>1.5GiB'],
  ['"port:8080 &gt; 500 ms"', 'port:8080>500ms'],
  ['"memory&gt;92% or threads&gt;500"', 'memory>92%,threads>500'],
])('%s, as Slack sends it, is %s', (typed, expected) => {
  expect(read(`watch web-1 --when=${typed}`)).toMatchObject({
    request: { env: [{ name: 'BLACKBOX_WHEN', value: expected }, { name: 'BLACKBOX_FOR' }] },
  });
});

describe('what is wrong is named', () => {
  it.each([
    ['watch web-1', 'No condition is named.', /--when=memory>92%/],
    ['watch web-1 --when=memroy>92%', 'There is no condition "memroy".', /Did you mean memory/],
    ['watch web-1 --when=memory', '"memory" is no condition.', /memory>92%, fds>90%/],
    ['watch web-1 --when=memory>92', '"memory>92" is no condition.', /memory>92%/],
    ['watch web-1 --when=memory>100%', '"memory>100%" is no condition.', /memory>92%/],
    ['watch web-1 --when=memory>500Mi', '"memory>500Mi" is no condition.', /memory>500MiB/],
    ['watch web-1 --when=quiet>1h', '"quiet>1h" is no condition.', /quiet>60s or quiet>5m/],
    ['watch web-1 --when="fds>9 and queue>9"', '"fds>9 and queue>9" is no condition.', /put a comma between/],
    ['watch web-1 --when=port>2s', '"port>2s" is no condition.', /port:8080>2s/],
    ['watch web-1 --when=port:99999>2s', '"port:99999>2s" is no condition.', /port:8080>2s/],
    ['watch web-1 --when=memory:3>92%', '"memory:3>92%" is no condition.', /memory>92%/],
    ['watch web-1 --when=threads>0', '"threads>0" is no condition.', /threads>500/],
    [`watch web-1 --when=${Array(9).fill('fds>9').join(',')}`, '9 conditions are too many.', /at most 8/],
    ['watch web-1 --when=fds>9 --then=heap', '"heap" is nothing to take.', /stacks or summary/],
  ])('%s', (text, message, hint) => {
    expect(errorOf(text)).toMatchObject({
      code: 'condition_invalid',
      message: expect.stringContaining(message),
      hint: expect.stringMatching(hint),
    });
  });

  it.each([
    ['watch web-1 --when=fds>9 --for=13h', 'duration_invalid'],
    ['watch web-1 --when=fds>9 --for=6', 'duration_invalid'],
    ['watch web-1 --when=fds>9 --shots=4', 'number_invalid'],
    ['watch --when=fds>9', 'target_missing'],
    ['watch deployment/web --when=fds>9', 'target_kind_unknown'],
    ['watch web-1 --when=fds>9 --image=debian', 'flag_misplaced'],
    ['watch web-1 --when=fds>9 --timeout=5m', 'flag_misplaced'],
    ['web-1 --when=fds>9', 'flag_misplaced'],
  ])('%s', (text, code) => {
    expect(read(text)).toBe(code);
  });
});
