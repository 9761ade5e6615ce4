import { createHash } from 'node:crypto';
import type { Tree } from './file-view.ts';
import type { RunAs } from './process.ts';
import type { ProgramSet } from './programs.ts';
import type { RecordedImage } from './recordings.ts';

/** How a container of an image behaves. */
export interface Image {
  readonly user: RunAs;
  /** What runs without a command; empty: a service that stays until it is stopped. */
  readonly entrypoint: readonly string[];
  readonly programs: ProgramSet;
  readonly files: Tree;
  /** It prints what the real image printed on a real cluster. */
  readonly recorded?: RecordedImage;
}

const ROOT: RunAs = { uid: 0, gid: 0 };
const NONROOT: RunAs = { uid: 65532, gid: 0 };
const NOTHING: ProgramSet = { hasShell: false, extras: [] };
const SHELL: ProgramSet = { hasShell: true, extras: [] };

const OS_RELEASE = 'PRETTY_NAME="kdebug local image"\nNAME="local"\nVERSION_ID="1"\n';
const RESOLV =
  'search shop.svc.cluster.local svc.cluster.local cluster.local\nnameserver 10.96.0.10\noptions ndots:5\n';
const PASSWD = 'root:x:0:0:root:/root:/bin/sh\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n';

const ETC: Tree = { 'resolv.conf': RESOLV, 'os-release': OS_RELEASE, passwd: PASSWD, hosts: '127.0.0.1\tlocalhost\n' };

/** Distroless on the outside: a program, its configuration and nothing to look at them with. */
const APP_ROOT: Tree = {
  app: '\u007fELF',
  dev: {},
  etc: ETC,
  home: {},
  proc: {},
  sys: {},
  tmp: {},
  var: { log: { 'app.log': 'listening on :8080\n' } },
};
const SHELL_ROOT: Tree = {
  bin: { busybox: '\u007fELF', sh: '\u007fELF' },
  dev: {},
  etc: ETC,
  proc: {},
  root: {},
  sys: {},
  tmp: {},
  usr: {},
  var: {},
};

const service = (user: RunAs, files: Tree, programs = NOTHING): Image => ({
  user,
  entrypoint: [],
  programs,
  files,
});
const tool = (programs: ProgramSet, entrypoint: readonly string[]): Image => ({
  user: ROOT,
  entrypoint,
  programs,
  files: SHELL_ROOT,
});

/** As their Dockerfiles say: no root. */
const recorded = (name: RecordedImage): Image => ({
  ...tool(NOTHING, []),
  user: { uid: 65532, gid: 65532 },
  recorded: name,
});

/** What the image `looker` runs (test/cluster/images/looker): it looks into the target's root, and says when it may not. */
const LOOKER = (() => {
  const report = { kdebug: 1, verdict: 'Looked.', target: { uid: 65532, gid: 0, effective: true } };
  const blind = { name: 'files', state: 'not-readable', text: '', lacks: 'ptrace access', helps: ['identity'] };
  const quoted = (section: object) => `"${JSON.stringify({ ...report, sections: [section] }).replaceAll('"', '\\"')}"`;
  return [
    'echo "-----BEGIN KDEBUG REPORT-----"',
    `ls /proc/1/root >/dev/null 2>&1 && echo ${quoted({ name: 'files', state: 'ok', text: '' })} || echo ${quoted(blind)}`,
    'echo "-----END KDEBUG REPORT-----"',
  ].join('; ');
})();

/** The images that are there from the start, by the last part of their reference without tag and digest. */
const BUILT_IN: Readonly<Record<string, Image>> = {
  autodiagnose: recorded('autodiagnose'),
  stacks: recorded('stacks'),
  profile: recorded('profile'),
  net: recorded('net'),
  blackbox: recorded('blackbox'),
  busybox: tool(SHELL, ['sh']),
  'busybox-nonroot': { ...tool(SHELL, ['sh']), user: { uid: 65532, gid: 65532 } },
  debian: tool(SHELL, ['bash']),
  debugger: tool({ hasShell: true, extras: ['gdb'] }, ['sh']),
  looker: tool(SHELL, ['sh', '-c', LOOKER]),
  lines: tool({ hasShell: true, extras: ['lines'] }, ['sh']),
  'security-audit': tool({ hasShell: true, extras: ['/security-audit.sh'] }, ['/security-audit.sh']),
  distroless: service(NONROOT, APP_ROOT),
  neato: service(NONROOT, APP_ROOT),
  web: service(NONROOT, APP_ROOT),
  orders: service(NONROOT, APP_ROOT),
  'stock-sync': {
    ...service(NONROOT, APP_ROOT, { hasShell: false, extras: ['stock-sync'] }),
    entrypoint: ['stock-sync'],
  },
  nginx: service(ROOT, SHELL_ROOT, SHELL),
  // The workload of EphemeralJob's proposal (story 1).
  helloworld: tool({ hasShell: true, extras: ['helloworld'] }, ['helloworld']),
};

const REFERENCE =
  /^[a-z0-9]+([._-][a-z0-9]+)*(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@sha256:[0-9a-f]{64})?$/;

const IMAGE_ID = /^sha256:[0-9a-f]{64}$/;

/** What the nodes can pull. */
export class Images {
  readonly #images = new Map<string, Image>(Object.entries(BUILT_IN));

  /** By the last part of the reference, whatever the registry, tag and digest; an exact reference that was added wins. */
  find(reference: string): Image | undefined {
    return this.#images.get(reference) ?? this.#images.get(baseOf(reference)) ?? this.#ofId(reference);
  }

  /** As a runtime knows an image that a node already has. */
  #ofId(id: string): Image | undefined {
    for (const [name, image] of this.#images) if (this.idOf(name) === id) return image;
    return undefined;
  }

  /** Makes an image that was missing appear, behaving as one of the built-in ones (default `busybox`). */
  add(reference: string, behavesAs = 'busybox'): void {
    const image = this.#images.get(behavesAs);
    if (!image) throw new Error(`the local cluster has no image called ${behavesAs}`);
    this.#images.set(reference, image);
  }

  idOf(reference: string): string {
    if (IMAGE_ID.test(reference)) return reference;
    return `sha256:${createHash('sha256').update(baseOf(reference)).digest('hex')}`;
  }
}

export const isReference = (reference: string): boolean => REFERENCE.test(reference);

function baseOf(reference: string): string {
  return reference.split('@')[0]?.split('/').at(-1)?.split(':')[0] ?? '';
}
