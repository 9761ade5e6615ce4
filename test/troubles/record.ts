import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { at, type Json, type JsonObject, listAt, objectAt } from '../../play/test/cluster/recorded/json.ts';
import type { Target } from '../../play/test/cluster/recorded/target.ts';
import { containersOf, Stage } from './stage.ts';
import { folderOf, NO_LOG, type Trouble } from './trouble.ts';
import { missingOf } from './until.ts';

/** The namespace and the node of every recording. */
const NAMESPACE = 'shop';
const NODE = 'node-1';
const NODE_ADDRESS = '192.0.2.10';
const HOUR_MS = 3_600_000;

const KINDS = [
  ['/api/v1', 'pods'],
  ['/api/v1', 'events'],
  ['/api/v1', 'persistentvolumeclaims'],
  ['/api/v1', 'services'],
  ['/api/v1', 'resourcequotas'],
  ['/apis/discovery.k8s.io/v1', 'endpointslices'],
  ['/apis/apps/v1', 'deployments'],
  ['/apis/apps/v1', 'replicasets'],
  ['/apis/apps/v1', 'statefulsets'],
  ['/apis/apps/v1', 'daemonsets'],
  ['/apis/batch/v1', 'jobs'],
  ['/apis/batch/v1', 'cronjobs'],
] as const;

/** Plays the trouble, writes its recording, removes its namespace. Resolves with the size of what it wrote. */
export async function recordTrouble(target: Target, trouble: Trouble): Promise<string> {
  const stage = new Stage(target, trouble);
  try {
    await stage.play();
    return await record(stage, trouble);
  } finally {
    await stage.remove();
  }
}

/** The state of a crash loop passes quickly: what was read must still show it. */
async function record(stage: Stage, trouble: Trouble, left = 4): Promise<string> {
  const { name, laterHours } = trouble;
  const read = await readStage(stage);
  const texts = read.logs.map(({ text }) => text);
  const isLost = read.logs.some(({ file, text }) => file.endsWith('.previous') && NO_LOG.test(text));
  const missing = isLost ? 'log' : missingOf(trouble.until, { objects: read.found, logs: texts });
  if (missing !== undefined) {
    if (left === 0) throw new Error(`${name}: gone while it was read: ${missing}`);
    await stage.until(trouble.until);
    return record(stage, trouble, left - 1);
  }
  return writeRecorded(`${folderOf(name)}recorded/`, read, laterHours * HOUR_MS);
}

/** What the API of a real cluster says of a namespace at one moment. */
export interface ReadStage {
  readonly found: readonly JsonObject[];
  readonly classes: readonly JsonObject[];
  readonly nodes: readonly JsonObject[];
  readonly logs: readonly { readonly file: string; readonly text: string }[];
  readonly namespace: string;
  readonly atMs: number;
}

export async function readStage(stage: Stage): Promise<ReadStage> {
  const [found, classes, nodes] = await Promise.all([
    Promise.all(KINDS.map(([group, plural]) => stage.ofNamespace(group, plural))),
    stage.list('/apis/storage.k8s.io/v1/storageclasses'),
    stage.list('/api/v1/nodes'),
  ]);
  const [pods = []] = found;
  const logs = (await Promise.all(pods.flatMap((pod) => logsOf(stage, pod)))).flat();
  return { found: found.flat(), classes, nodes, logs, namespace: stage.namespace, atMs: Date.now() };
}

/** Writes the folder anew, without what belongs to the machine. Returns the size of what it wrote. */
export function writeRecorded(folder: string, read: ReadStage, later = 0): string {
  const { found, classes, nodes, logs } = read;
  const node = String(at(nodes[0], 'metadata', 'name'));
  const address = String(listAt(nodes[0], 'status', 'addresses').map((each) => at(each, 'address'))[0]);
  const neutral = (text: string): string => text.replaceAll(read.namespace, NAMESPACE);
  const cut = (value: Json, key = ''): Json => {
    if (typeof value === 'string') {
      if (key === 'message') return neutral(value).replace(new RegExp(` to ${node}$`), ` to ${NODE}`);
      if (value === node) return NODE;
      // The scheduler names itself after the machine.
      if (key === 'reportingInstance') return value.replace(/^(default-scheduler)-.*/, '$1');
      return (key === 'hostIP' || key === 'ip') && value === address ? NODE_ADDRESS : neutral(value);
    }
    if (Array.isArray(value)) return value.map((each) => cut(each, key));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).filter(([field]) => field !== 'managedFields');
    return Object.fromEntries(fields.map(([field, each]) => [field, cut(each, field)]));
  };
  const objects = [...found, ...classes, ...nodes.map(shortNode)]
    .filter(({ kind }) => later === 0 || kind !== 'Event')
    .map((object) => JSON.stringify(cut(object)));

  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}objects.json`, `[\n${objects.join(',\n')}\n]\n`);
  writeFileSync(`${folder}at.txt`, `${new Date(read.atMs + later).toISOString()}\n`);
  const written = logs.filter(({ text }) => text !== '');
  if (written.length > 0) mkdirSync(`${folder}logs`);
  for (const { file, text } of written) writeFileSync(`${folder}logs/${file}.log`, neutral(text));
  return `${objects.length} objects, ${written.length} logs`;
}

function logsOf(stage: Stage, pod: JsonObject): readonly Promise<readonly { file: string; text: string }[]>[] {
  const name = String(at(pod, 'metadata', 'name'));
  return containersOf(pod).map(async (container) => {
    const [now = '', before = ''] = [
      await stage.log(name, container),
      await stage.log(name, container, { previous: true }),
    ];
    return [
      { file: `${name}_${container}`, text: now },
      { file: `${name}_${container}.previous`, text: before },
    ];
  });
}

/** Without what belongs to the machine: its addresses, ids, kernel and images. */
function shortNode(node: JsonObject): JsonObject {
  const { capacity, allocatable, conditions } = objectAt(node, 'status');
  const { kubeletVersion, operatingSystem, architecture } = objectAt(node, 'status', 'nodeInfo');
  const status = { capacity, allocatable, conditions, nodeInfo: { kubeletVersion, operatingSystem, architecture } };
  return { ...node, status: JSON.parse(JSON.stringify(status)) };
}
