import type { Pod } from '../core/container/pod.ts';
import { toKdebugError } from '../core/errors.ts';
import { isRunId } from '../core/ids.ts';
import { type Found, rebuildRun } from '../core/run/reference.ts';
import type { Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { placeOf } from './places.ts';
import { RunSession } from './session.ts';

/** Containers that ended longer ago have been told of, or nobody waits for them any more. */
const RECENT_MS = 60 * 60_000;
/** How long to wait before a namespace that could not be read is looked at again. */
const AGAIN_MS = 30_000;

/**
 * The cluster as the second copy of the truth (design, section 4): finds the containers of runs that the store knows nothing of, in
 * each namespace once, when its watch is first needed. Their threads are found by metadata, and finished.
 */
export class Recovery {
  readonly #deps: FlowDeps;
  readonly #start: (session: RunSession) => void;
  readonly #looked = new Set<string>();
  #stopped = false;

  /** `start` takes over a run that was found and given to the store. */
  constructor(deps: FlowDeps, start: (session: RunSession) => void) {
    this.#deps = deps;
    this.#start = start;
  }

  /** Looks into every namespace that the policy names; those it names by a pattern follow when they are first used. */
  lookEverywhere(): void {
    const rules = Object.values(this.#deps.policies.current().channels).flatMap((channel) => channel.rules);
    const places = rules.flatMap(({ clusters, namespaces }) =>
      clusters.flatMap((cluster) => namespaces.map((namespace) => ({ cluster, namespace }))),
    );
    for (const { cluster, namespace } of places) if (!namespace.includes('*')) this.look(cluster, namespace);
  }

  /** Looks in the background, once in this process. */
  look(cluster: string, namespace: string): void {
    const key = `${cluster}/${namespace}`;
    if (this.#stopped || this.#looked.has(key)) return;
    this.#looked.add(key);
    this.#lookNow(cluster, namespace).catch((thrown: unknown) => {
      this.#deps.log.warn('lost runs could not be looked for', { namespace, reason: toKdebugError(thrown).code });
      this.#deps.clock.after(AGAIN_MS, () => {
        this.#looked.delete(key);
        this.look(cluster, namespace);
      });
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  async #lookNow(cluster: string, namespace: string): Promise<void> {
    for (const pod of await this.#deps.clusters.get(cluster).pods(namespace, ''))
      for (const found of foundIn(pod)) if (isRecent(found, this.#deps.clock.now())) await this.#recover(found);
  }

  async #recover(found: Found): Promise<void> {
    const { store, owner, log, unseal } = this.#deps;
    const text = unseal(found.ref);
    const run = text === undefined ? undefined : rebuildRun(found, text);
    if (!run || this.#stopped || (await store.read(found.runId))) return;
    if (hasEnded(found) && (await this.#wasTold(run))) return;
    const kept = await store.create(run, owner);
    if (kept.kind !== 'created') return;
    log.warn('a run that the store had lost was found in the cluster', {
      runId: run.id,
      podName: found.pod.metadata.name,
    });
    this.#start(new RunSession(run, kept.fence, store, true));
  }

  /** Whether its result stands in its thread already: then it is only our memory that is lost. */
  async #wasTold(run: Run): Promise<boolean> {
    const { thread } = this.#deps;
    const place = placeOf(run);
    const sinceMs = run.origin.receivedAtMs;
    const anchor = await thread.find(place, { run: run.id, kind: 'anchor' }, sinceMs);
    if (!anchor) return false;
    const inThread = { channelId: anchor.channelId, threadTs: run.origin.threadTs ?? anchor.ts };
    return (await thread.find(inThread, { run: run.id, kind: 'result' }, sinceMs)) !== undefined;
  }
}

function foundIn(pod: Pod): readonly Found[] {
  return pod.spec.ephemeralContainers.flatMap(({ name, image, runId, ref }) =>
    runId !== undefined && isRunId(runId) && ref !== undefined ? [{ runId, containerName: name, image, ref, pod }] : [],
  );
}

const terminationOf = ({ pod, containerName }: Found) =>
  pod.status.ephemeralContainerStatuses.find(({ name }) => name === containerName)?.terminated;

const hasEnded = (found: Found): boolean => terminationOf(found) !== undefined;

function isRecent(found: Found, nowMs: number): boolean {
  const termination = terminationOf(found);
  return termination === undefined || nowMs - Date.parse(termination.finishedAt) < RECENT_MS;
}
