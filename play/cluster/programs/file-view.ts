/** A directory: names to contents or further directories. */
export interface Tree {
  readonly [name: string]: string | Tree;
}

type Found =
  | { readonly kind: 'file'; readonly text: string }
  | { readonly kind: 'directory'; readonly names: readonly string[] }
  | { readonly kind: 'missing' }
  | { readonly kind: 'denied' };

/** What a container sees under a path. */
export type FileView = (path: string) => Found;

/** What is known of PID 1 in the container's process namespace. */
interface FirstProcess {
  readonly root: Tree;
  readonly command: string;
  readonly env: readonly string[];
  readonly uid: number;
  readonly gid: number;
  /** Whether its `root`, `environ` and `fd` may be read (the kernel's ptrace access check). */
  readonly isReadable: boolean;
}

const NEEDS_ACCESS = new Set(['root', 'environ', 'fd', 'cwd', 'exe']);

/** The container's own files, with `/proc/1` for the first process. */
export function fileView(own: Tree, first: FirstProcess): FileView {
  return (path) => {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (parts[0] !== 'proc') return look(own, parts);
    if (parts.length === 1)
      return { kind: 'directory', names: ['1', 'cpuinfo', 'meminfo', 'self', 'uptime', 'version'] };
    if (parts[1] !== '1') return { kind: 'missing' };
    if (NEEDS_ACCESS.has(parts[2] ?? '') && !first.isReadable) return { kind: 'denied' };
    return look(processTree(first), parts.slice(2));
  };
}

function look(tree: Tree, parts: readonly string[]): Found {
  let at: string | Tree | undefined = tree;
  for (const part of parts) at = typeof at === 'object' && Object.hasOwn(at, part) ? at[part] : undefined;
  if (at === undefined) return { kind: 'missing' };
  return typeof at === 'string' ? { kind: 'file', text: at } : { kind: 'directory', names: Object.keys(at).sort() };
}

function processTree(first: FirstProcess): Tree {
  const name = first.command.split(' ')[0]?.split('/').at(-1) ?? '';
  const status = [
    `Name:\t${name}`,
    'State:\tS (sleeping)',
    'Pid:\t1',
    ids('Uid', first.uid),
    ids('Gid', first.gid),
    'VmRSS:\t   23456 kB',
    'Threads:\t7',
    '',
  ];
  return {
    cgroup: '0::/\n',
    cmdline: `${first.command.replaceAll(' ', '\0')}\0`,
    comm: `${name}\n`,
    environ: first.env.map((line) => `${line}\0`).join(''),
    fd: { '0': '', '1': '', '2': '', '3': '' },
    limits:
      'Limit                     Soft Limit           Hard Limit           Units\nMax open files            1024                 1048576              files\n',
    net: { tcp: '  sl  local_address rem_address   st\n   0: 00000000:1F90 00000000:0000 0A\n' },
    root: first.root,
    status: status.join('\n'),
  };
}

const ids = (label: string, id: number) => `${label}:\t${id}\t${id}\t${id}\t${id}`;
