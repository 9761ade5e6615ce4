import { expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import { printCommand } from '../../../src/core/command/print.ts';

const ID = 'abcdefgh23';

function printed(text: string): string {
  const parsed = parseCommand(text);
  return parsed.kind === 'ok' ? printCommand(parsed.command) : parsed.error.message;
}

it.each([
  ['', ''],
  ['Web --Image', 'There is no flag "--Image".'],
  ['  pod/web   --image debian ', 'web --image=debian'],
  ['pod/list', 'pod/list'],
  ['deploy/web --ttl 90m --canary', 'deployment/web --ttl=1h30m --canary'],
  ['--namespace shop --all', '--all -n shop'],
  ["-l 'tier in (a, b)'", "-l 'tier in (a,b)'"],
  ['-l app==web', '-l app=web'],
  ['web -c x --env=A="b c" --env=D=', "web --container=x --env='A=b c' --env=D="],
  ['web --profile=auto', 'web'],
  ["web —reason=“don’t 'stop'”", `web --reason="don’t 'stop'"`],
  [`web -- sh -c "echo '\\$x'"`, `web -- sh -c 'echo '\\''$x'\\'''`],
  ['web -- a &amp;&amp; b', "web -- a '&&' b"],
  ['web -- &amp;amp; &lt;@U1&gt;', "web -- '&amp;amp;' '&lt;@U1>'"],
  ["web -- '' \\— “a\u00a0b”", "web -- '' '—' 'a\u00a0b'"],
  [`Show ${ID}`, `show ${ID}`],
  [
    'list --page=3 --all --outcome=PROBLEMS --mine --pod web',
    'list --mine --all --pod=web --outcome=problems --page=3',
  ],
  [`logs ${ID} --grep "it's" --since 90s --tail=5`, `logs ${ID} --tail=5 --since=1m30s --grep="it's"`],
  ['compare pod/web-1 -n shop --profile=restricted', 'compare web-1 -n shop --profile=restricted'],
  [
    'once-more shop/web-1 --without-env B --without-env=A --timeout=90s --reason=why',
    'once-more web-1 -n shop --without-env=B --without-env=A --timeout=1m30s --reason=why',
  ],
  ['once-more shop/web-1 --untraced --image-of previous', 'once-more web-1 -n shop --image-of=previous --untraced'],
  ['describe pod/web -n shop', 'describe web -n shop'],
  ['help -n', 'help --namespace'],
  ['can-i web --dry-run', 'can-i web --dry-run'],
  [`batch ${ID} --replicas 3 --parallelism=2`, `batch ${ID} --replicas=3 --parallelism=2`],
  [`batch ${ID} resume`, `batch ${ID} resume`],
  ['apply -n shop\na: 1', 'apply -n shop\n```\na: 1\n```'],
  ['apply\na: &amp;amp;', 'apply\n```\na: &amp;amp;\n```'],
])('%j is printed as %j', (text, canonical) => {
  expect(printed(text)).toBe(canonical);
});

it.each([
  "it's",
  '“',
  '&lt;',
  '<@U1|x>',
  '<http://a',
  '—x',
  '\u00a0',
  'a\nb',
  '\\',
  '"',
  `'"`,
  '$HOME',
  '',
  '-',
  '--',
  '#',
  '\u200d',
  '😀',
  '`x`',
])('the word %j is the same word after it was printed', (word) => {
  const request = parseCommand('web -- x');
  if (request.kind !== 'ok' || request.command.kind !== 'run') throw new Error('no run');
  const command = { kind: 'run', request: { ...request.command.request, command: ['x', word, 'b>', word] } } as const;
  expect(parseCommand(printCommand(command))).toEqual({ kind: 'ok', command });
});
