import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { at, type JsonObject, objectAt } from '../../play/test/cluster/recorded/json.ts';
import type { Until } from './until.ts';

/** What somebody does to the namespace once a state is there: deletes pods by label, or patches an apps/v1 object. */
export interface Step {
  readonly when: Until;
  readonly deletePods?: string;
  /** `deployments/NAME`, with a strategic-merge patch. */
  readonly patch?: string;
  readonly with?: JsonObject;
}

/** A trouble, or with `healthy` a control: what is asked, and what must and must not be read. */
export interface Trouble {
  readonly name: string;
  readonly about: string;
  /** What is typed after `/kdebug`. */
  readonly ask?: string;
  /** A label instead: the oldest pod that carries it is asked about by its name. */
  readonly askPod?: string;
  readonly then?: readonly Step[];
  readonly until: Until;
  /** The first two lines together match each of these, in any case. */
  readonly says: readonly RegExp[];
  /** No line matches any of these. */
  readonly never: readonly RegExp[];
  readonly healthy: boolean;
  /** Of a control: whether a green tick is right; it is not for what has ended. */
  readonly tick: boolean | 'either';
  /** Why the first answer does not name the cause yet. The test fails once it does, so that the words go. */
  readonly unmet?: string;
  /** Somebody asks so many hours after the recording; its events are gone by then. The cluster's suite leaves it out. */
  readonly laterHours: number;
}

type Written = Partial<Omit<Trouble, 'says' | 'never'>> & {
  readonly says?: readonly string[];
  readonly never?: readonly string[];
};

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

export const folderOf = (name: string): string => `${FOLDER}${name}/`;

/** Names of all troubles and controls, sorted. */
export const troubleNames = (): readonly string[] =>
  readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

export function readTrouble(name: string): Trouble {
  const written: Written = parse(readFileSync(`${folderOf(name)}trouble.yaml`, 'utf8'));
  const { says = [], never = [], about = '', until = {}, healthy = false, tick = healthy, laterHours = 0 } = written;
  const toPattern = (text: string) => new RegExp(text, 'i');
  return {
    ...written,
    ...{ name, about, until, healthy, tick, laterHours },
    says: says.map(toPattern),
    never: never.map(toPattern),
  };
}

/** The objects of the manifest, in their order. */
export const readManifest = (name: string): readonly JsonObject[] =>
  parseAllDocuments(readFileSync(`${folderOf(name)}manifest.yaml`, 'utf8')).map(
    (document): JsonObject => document.toJS(),
  );

/** The kubelet's answer, without a stamp and as a success, where the container of a log is removed. */
export const NO_LOG = /^unable to retrieve container logs for \S+$/;

/** What the cluster said of the trouble: raw API objects, and logs with the kubelet's stamps. */
export interface Recording {
  readonly atMs: number;
  readonly objects: readonly JsonObject[];
  /** By `POD_CONTAINER` and `POD_CONTAINER.previous`. */
  readonly logs: ReadonlyMap<string, string>;
}

/** Undefined: not recorded yet. */
export function readRecording(name: string): Recording | undefined {
  const folder = `${folderOf(name)}recorded/`;
  if (!existsSync(`${folder}at.txt`)) return undefined;
  const logs = existsSync(`${folder}logs`) ? readdirSync(`${folder}logs`) : [];
  return {
    atMs: Date.parse(readFileSync(`${folder}at.txt`, 'utf8').trim()),
    objects: JSON.parse(readFileSync(`${folder}objects.json`, 'utf8')),
    logs: new Map(logs.map((file) => [file.replace(/\.log$/, ''), readFileSync(`${folder}logs/${file}`, 'utf8')])),
  };
}

export const podsOf = ({ objects }: Recording): readonly JsonObject[] => objects.filter(({ kind }) => kind === 'Pod');

/** The oldest pod that carries the label `KEY=VALUE`. */
export function podNamed(recording: Recording, label: string): string | undefined {
  const [key = '', value] = label.split('=');
  const [first] = podsOf(recording).filter((pod) => objectAt(pod, 'metadata', 'labels')[key] === value);
  return first && String(at(first, 'metadata', 'name'));
}
