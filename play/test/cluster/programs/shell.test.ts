import { describe, expect, it } from 'vitest';
import { fileView } from '../../../cluster/programs/file-view.ts';
import type { Process } from '../../../cluster/programs/process.ts';
import { findProgram } from '../../../cluster/programs/programs.ts';

const SET = { hasShell: true, extras: [] };

async function run(...argv: string[]): Promise<{ out: string; code: number; termination: string }> {
  let out = '';
  let termination = '';
  const first = {
    root: { etc: { hostname: 'pod\n' } },
    command: '/app',
    env: ['A=b'],
    uid: 1,
    gid: 1,
    isReadable: true,
  };
  const process: Process = {
    argv,
    env: new Map([['NAME', 'x y']]),
    files: fileView({ etc: { passwd: 'root\n' }, tmp: {} }, first),
    user: { uid: 0, gid: 0 },
    write: (text) => {
      out += text.toString();
    },
    writeTermination: (text) => {
      termination = text;
    },
    sleep: () => Promise.resolve(),
    signal: new AbortController().signal,
  };
  const code = await findProgram(SET, argv[0] ?? '')?.(process);
  return { out, code: code ?? -1, termination };
}

const sh = (script: string) => run('sh', '-c', script);

describe('the simulated shell', () => {
  it.each([
    ['echo hi; exit 3', 'hi\n', 3],
    ['true && echo yes; false && echo no; echo $?', 'yes\n1\n', 0],
    ['false || echo saved', 'saved\n', 0],
    ['exit 300', '', 44],
    ['nosuch; echo $?', 'sh: nosuch: not found\n127\n', 0],
    [`echo "$NAME" '$NAME' \\$NAME \${NAME}z`, 'x y $NAME $NAME x yz\n', 0],
    ['echo a b   c', 'a b c\n', 0],
    ['echo gone > /dev/null; echo err 1>&2', 'err\n', 0],
    ["printf '%s-%s\\n' a b", 'a-b\n', 0],
    ['echo \'a;b\' && echo "c && d"', 'a;b\nc && d\n', 0],
    ['cat /etc/passwd /nofile', "root\ncat: can't open '/nofile': No such file or directory\n", 1],
    ['ls /; ls /nodir', 'etc\ntmp\nls: /nodir: No such file or directory\n', 1],
    ['seq -w 8 10; seq 1 2 5', '08\n09\n10\n1\n3\n5\n', 0],
    ['echo one\necho two', 'one\ntwo\n', 0],
  ])('%s', async (script, out, code) => {
    expect(await sh(script)).toMatchObject({ out, code });
  });

  it('writes the termination file', async () => {
    expect((await sh('echo done > /dev/termination-log')).termination).toBe('done\n');
  });

  it.each(['seq 1 3 | wc -l', 'sleep 1 & echo x', 'cat < /etc/passwd'])(
    'refuses what it cannot do: %s',
    async (script) => {
      const { out, code } = await sh(script);
      expect(code).toBe(2);
      expect(out).toContain('syntax error');
    },
  );

  it.each([
    ['/bin/date', undefined],
    ['constructor', undefined],
    ['__proto__', undefined],
    ['/bin/busybox', undefined],
    ['gdb', undefined],
  ])('has no program %s', (name, program) => {
    expect(findProgram(SET, name)).toBe(program);
  });

  it('sees the first process and its root', async () => {
    expect((await run('cat', '/proc/1/root/etc/hostname')).out).toBe('pod\n');
    expect((await run('ls', '/proc/1/root')).out).toBe('etc\n');
    expect((await run('cat', '/proc/1/environ')).out).toBe('A=b\0');
  });
});
