import type { Container, PodObject } from '../objects/pod.ts';
import { maySee } from '../programs/access.ts';
import { type FileView, fileView, type Tree } from '../programs/file-view.ts';
import type { Image, Images } from '../programs/images.ts';
import type { Slot } from './slot.ts';
import { envOf, type StartReady } from './start-plan.ts';

interface Surroundings {
  readonly pod: PodObject;
  readonly slot: Slot;
  readonly plan: StartReady;
  readonly target: Slot | undefined;
  readonly images: Images;
}

/** What a starting container sees: its own files, and its target's process as far as it may look. */
export function filesFor({ pod, slot, plan, target, images }: Surroundings): FileView {
  const container = target?.container ?? slot.container;
  const image = target ? images.find(container.image) : plan.image;
  const command = target ? (container.command ?? ownCommand(image)) : plan.argv;
  const first = target?.instance?.credentials ?? plan.credentials;
  return fileView(podTree(plan.image.files, pod, slot.container), {
    root: podTree(image?.files ?? {}, pod, container),
    command: command.join(' '),
    env: [...envOf(container)].map(([name, value]) => `${name}=${value}`),
    uid: first.uid,
    gid: first.gid,
    isReadable: maySee(plan.credentials, first),
  });
}

/** A service has no command that is simulated. */
const ownCommand = (image: Image | undefined): readonly string[] =>
  image === undefined || image.entrypoint.length === 0 ? ['/app'] : image.entrypoint;

/** An image's files as a container of this pod has them: with the host's name and its own cgroup's numbers. */
function podTree(image: Tree, pod: PodObject, container: Container): Tree {
  const etc = typeof image.etc === 'object' ? image.etc : {};
  return {
    ...image,
    etc: { ...etc, hostname: `${pod.metadata.name}\n` },
    sys: { fs: { cgroup: cgroupOf(container) } },
  };
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
};

/** A memory quantity in bytes, a CPU quantity in cores; nothing when it is absent. */
function quantity(text: string | undefined): number | undefined {
  const found = /^(\d+(?:\.\d+)?)(m|k|M|G|Ki|Mi|Gi)?$/.exec(text ?? '');
  if (!found) return undefined;
  return found[2] === 'm' ? Number(found[1]) / 1000 : Number(found[1]) * (UNITS[found[2] ?? ''] ?? 1);
}

function cgroupOf({ resources }: Container): Tree {
  const memory = quantity(resources?.limits?.memory);
  const cpu = quantity(resources?.limits?.cpu);
  return {
    'cgroup.controllers': 'cpuset cpu io memory pids\n',
    'memory.max': `${memory ?? 'max'}\n`,
    'memory.current': `${Math.round((memory ?? 64 * 1024 ** 2) * 0.4)}\n`,
    'memory.stat': 'inactive_file 0\nworkingset_refault_anon 0\nworkingset_refault_file 0\npgscan_direct 0\n',
    'memory.events': 'low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n',
    'cpu.max': cpu === undefined ? 'max 100000\n' : `${Math.round(cpu * 100_000)} 100000\n`,
    'cpu.stat': 'usage_usec 120000\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n',
    'pids.max': '512\n',
    'pids.current': '7\n',
  };
}
