import { setTimeout as pause } from 'node:timers/promises';
import { at, type JsonObject, listAt, parse } from '../../play/test/cluster/recorded/json.ts';
import type { Target } from '../../play/test/cluster/recorded/target.ts';
import { readManifest, type Step, type Trouble } from './trouble.ts';
import { missingOf, type Seen, type Until } from './until.ts';

const PATIENCE_MS = 90_000;
const PERIOD_MS = 1_000;

/** Where objects of a kind are made. */
const PATHS: Readonly<Record<string, readonly [group: string, plural: string]>> = {
  ConfigMap: ['/api/v1', 'configmaps'],
  CronJob: ['/apis/batch/v1', 'cronjobs'],
  Deployment: ['/apis/apps/v1', 'deployments'],
  Job: ['/apis/batch/v1', 'jobs'],
  LimitRange: ['/api/v1', 'limitranges'],
  PersistentVolumeClaim: ['/api/v1', 'persistentvolumeclaims'],
  Pod: ['/api/v1', 'pods'],
  ResourceQuota: ['/api/v1', 'resourcequotas'],
  Secret: ['/api/v1', 'secrets'],
  Service: ['/api/v1', 'services'],
  StatefulSet: ['/apis/apps/v1', 'statefulsets'],
};

/** What is applied, done and waited for. */
interface Played extends Pick<Trouble, 'name' | 'then' | 'until'> {
  /** Default: the trouble's manifest. */
  readonly objects?: readonly JsonObject[];
}

/** A namespace of its own on a real cluster, in which one trouble is played. */
export class Stage {
  readonly namespace: string;
  readonly #target: Target;
  readonly #trouble: Played;

  constructor(target: Target, trouble: Played) {
    this.#target = target;
    this.#trouble = trouble;
    this.namespace = `trouble-${trouble.name}-${Math.random().toString(36).slice(2, 8)}`;
  }

  /** Applies the manifest, does its steps, and waits until the trouble is there; at most 90 s for each state. */
  async play(): Promise<void> {
    const { objects = readManifest(this.#trouble.name) } = this.#trouble;
    const own = objects.find(({ kind }) => kind === 'Namespace');
    await this.#create('/api/v1/namespaces', { metadata: { name: this.namespace, labels: labelsOf(own) } });
    for (const object of objects) {
      if (object === own) continue;
      const [group, plural] = PATHS[String(object.kind)] ?? [];
      if (group === undefined) throw new Error(`no path for the kind ${String(object.kind)}`);
      await this.#create(`${group}/namespaces/${this.namespace}/${plural}`, object);
    }
    for (const step of this.#trouble.then ?? []) await this.#step(step);
    await this.until(this.#trouble.until);
  }

  async until(wanted: Until): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS + (wanted.forSeconds ?? 0) * 1_000;
    for (let since: number | undefined; ; await pause(PERIOD_MS)) {
      const missing = missingOf(wanted, await this.#seen(wanted));
      if (missing !== undefined) since = undefined;
      else since ??= Date.now();
      if (since !== undefined && Date.now() - since >= (wanted.forSeconds ?? 0) * 1_000) return;
      if (Date.now() > deadline) throw new Error(`${this.#trouble.name}: waited in vain for ${missing ?? 'its time'}`);
    }
  }

  /** Objects of a list, each with its kind. */
  async list(path: string): Promise<readonly JsonObject[]> {
    const { status, text } = await this.#target.api('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    const list = parse(text);
    const kind = String(at(list, 'kind')).replace(/List$/, '');
    return listAt(list, 'items').map((item) => ({ apiVersion: String(at(list, 'apiVersion')), kind, ...Object(item) }));
  }

  ofNamespace(group: string, plural: string): Promise<readonly JsonObject[]> {
    return this.list(`${group}/namespaces/${this.namespace}/${plural}`);
  }

  /** Undefined: there is no such log. */
  async log(pod: string, container: string, { previous = false } = {}): Promise<string | undefined> {
    const query = `container=${container}&timestamps=true&tailLines=5000${previous ? '&previous=true' : ''}`;
    const path = `/api/v1/namespaces/${this.namespace}/pods/${pod}/log?${query}`;
    const { status, text } = await this.#target.api('GET', path);
    return status === 200 ? text : undefined;
  }

  /** Removes the namespace, and what would hold its pods back. */
  async remove(): Promise<void> {
    const path = `/api/v1/namespaces/${this.namespace}`;
    for (const pod of await this.ofNamespace('/api/v1', 'pods')) {
      if (listAt(pod, 'metadata', 'finalizers').length === 0) continue;
      await this.#patch(`${path}/pods/${String(at(pod, 'metadata', 'name'))}`, { metadata: { finalizers: null } });
    }
    await this.#target.api('DELETE', path);
  }

  async #step({ when, deletePods, patch, with: change }: Step): Promise<void> {
    await this.until(when);
    if (deletePods !== undefined) {
      const pods = `/api/v1/namespaces/${this.namespace}/pods?labelSelector=${encodeURIComponent(deletePods)}`;
      await this.#target.api('DELETE', pods);
    }
    if (patch !== undefined) await this.#patch(`/apis/apps/v1/namespaces/${this.namespace}/${patch}`, change ?? {});
  }

  async #patch(path: string, change: JsonObject): Promise<void> {
    const type = 'application/strategic-merge-patch+json';
    const { status, text } = await this.#target.api('PATCH', path, JSON.stringify(change), type);
    if (status !== 200) throw new Error(`PATCH ${path}: ${text}`);
  }

  /** A new namespace lacks its service account, and a new quota its sums, for a moment. */
  async #create(path: string, object: JsonObject): Promise<void> {
    for (let left = 20; ; left -= 1) {
      const { status, text } = await this.#target.api('POST', path, JSON.stringify(object));
      if (status === 201) return;
      if (left === 0 || status !== 403) throw new Error(`POST ${path}: ${text}`);
      await pause(250);
    }
  }

  /** What the state needs, and no more: the API server is shared. */
  async #seen({ event, condition, available, log }: Until): Promise<Seen> {
    const [pods, ...others] = await Promise.all([
      this.ofNamespace('/api/v1', 'pods'),
      event === undefined ? [] : this.ofNamespace('/api/v1', 'events'),
      condition === undefined && available === undefined ? [] : this.ofNamespace('/apis/apps/v1', 'deployments'),
      condition === undefined ? [] : this.ofNamespace('/apis/batch/v1', 'jobs'),
    ]);
    const logs = log === undefined ? [] : await Promise.all(pods.flatMap((pod) => this.#logsOf(pod)));
    return { objects: [...pods, ...others.flat()], logs: logs.filter((text) => text !== undefined) };
  }

  #logsOf(pod: JsonObject): readonly Promise<string | undefined>[] {
    return containersOf(pod).map((container) => this.log(String(at(pod, 'metadata', 'name')), container));
  }
}

/** Names of a pod's containers, also of those that begin it. */
export const containersOf = (pod: JsonObject): readonly string[] =>
  ['containers', 'initContainers'].flatMap((kind) => listAt(pod, 'spec', kind).map((each) => String(at(each, 'name'))));

function labelsOf(object: JsonObject | undefined): JsonObject {
  const labels = at(object, 'metadata', 'labels');
  return typeof labels === 'object' && labels !== null ? { ...labels } : {};
}
