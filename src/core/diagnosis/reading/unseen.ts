import type { ClusterFacts, NotRead } from '../facts/facts.ts';
import { partsOf } from './pod-containers.ts';

/** Lines of what was not checked that a verdict has. */
export const MAX_UNSEEN = 5;

const RIGHTS: Readonly<Record<NotRead['what'], string>> = {
  events: 'list events',
  node: 'get nodes, optional',
  claims: 'list persistentvolumeclaims and storageclasses, optional',
  services: 'list services and endpointslices, optional',
  workload: 'get this kind of workload, optional',
  'last-words': 'get pods/log',
  log: 'get pods/log',
};

/** The missing source: of the pod, and of one container if each has its own. */
const SUBJECTS: Readonly<Record<NotRead['what'], readonly [ofPod: string, ofContainer: string]>> = {
  events: ['its warnings and probes', ''],
  node: ['its node', ''],
  claims: ['its claims', ''],
  services: ['its Services', ''],
  workload: ['its workload', ''],
  'last-words': ['the last words', 'the last words of'],
  log: ['its own log', 'the log of'],
};

function unreadSource({ what, containerName }: NotRead): string {
  const [ofPod, ofContainer] = SUBJECTS[what];
  return containerName === undefined || ofContainer === '' ? ofPod : `${ofContainer} ${containerName}`;
}

/** The reason, and what would change it. */
function reasonOf({ what, why }: NotRead): string {
  switch (why) {
    case 'policy':
      return 'this channel’s rule gives none (targetLog in the policy)';
    case 'forbidden':
      return `the right is missing (${RIGHTS[what]})`;
    case 'late':
      return 'no answer in time; ask again';
    case 'cut':
      return 'not all were read, there are too many in the namespace';
    default:
      return 'reading it failed; ask again';
  }
}

/**
 * The sources that the answer needs and that could not be read, one line each, with the reason and the remedy. An empty
 * log counts too, because it proves nothing.
 */
export function unseenOf({
  pod,
  events,
  warnings,
  logs = [],
  notRead = [],
  hasWarnings = (events ?? warnings) !== undefined,
}: Partial<ClusterFacts> & { readonly hasWarnings?: boolean }): readonly string[] {
  const isListed = (what: NotRead['what'], containerName?: string): boolean =>
    notRead.some(
      (each) =>
        each.what === what &&
        (containerName === undefined || each.containerName === undefined || each.containerName === containerName),
    );
  const running = pod ? partsOf(pod).filter(({ status }) => status?.running) : [];
  const logLines = running.flatMap(({ name }): readonly string[] => {
    if (isListed('log', name)) return [];
    const log = logs.find(({ containerName }) => containerName === name);
    if (!log) return [`the log of ${name}: it was not read`];
    return log.lines === 0 ? [`the log of ${name}: it is empty`] : [];
  });
  const eventLines = hasWarnings || isListed('events') ? [] : ['its warnings and probes: they were not read'];
  return [
    ...new Set([...notRead.map((each) => `${unreadSource(each)}: ${reasonOf(each)}`), ...logLines, ...eventLines]),
  ];
}
