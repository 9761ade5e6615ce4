import { beginStream, type Call, type Handler, wantsTable } from '../api/call.ts';
import { ApiError } from '../api/status.ts';
import type { PodObject } from '../objects/pod.ts';
import type { Change, ChangeType } from '../objects/pod-store.ts';
import { type PodFilter, podFilter } from '../objects/selectors.ts';
import { POD_COLUMNS, rowOf, tableOf } from '../objects/table.ts';
import type { World } from '../world.ts';

/** A watcher this far behind is cut off, as the API server does with a full buffer. */
const MAX_BUFFERED = 64 * 1024 * 1024;

type WatchEnd = 'clean' | 'reset' | 'silence';

/** The open watches; a test can end or silence all of them. */
export class Watches {
  readonly #open = new Set<PodWatch>();

  get count(): number {
    return this.#open.size;
  }

  /** `silence` leaves the connections open and says nothing more on them (half-open). */
  endAll(how: WatchEnd): void {
    for (const watch of [...this.#open]) watch.end(how);
  }

  handlers(world: World, bookmarkMs: number): readonly (readonly [string, Handler])[] {
    return [
      [
        'watch pods',
        (call) => {
          const watch = new PodWatch(world, call, podFilter(call.query));
          this.#open.add(watch);
          call.response.on('close', () => this.#open.delete(watch));
          watch.start(bookmarkMs);
        },
      ],
    ];
  }
}

/** One watch connection: what was there, what changed since, bookmarks, and its faults. */
class PodWatch {
  readonly #world: World;
  readonly #call: Call;
  readonly #filter: PodFilter;
  readonly #asTable: boolean;
  #sent = 0;
  /** Ended or silenced: it sends nothing more. */
  #isOver = false;
  #hasColumns = false;
  #cleanUp: (() => void)[] = [];

  constructor(world: World, call: Call, filter: PodFilter) {
    this.#world = world;
    this.#call = call;
    this.#filter = filter;
    this.#asTable = wantsTable(call);
  }

  start(bookmarkMs: number): void {
    const { response, query, route } = this.#call;
    const missed = this.#missed();
    const { fault } = this.#call;
    beginStream(this.#call, 'application/json', missed ? 200 : 410);
    response.on('close', () => this.#stop());
    if (!missed || fault?.kind === 'gone-410') {
      this.#gone();
      return;
    }
    if (fault?.kind === 'garbage-watch-line') this.#write('{"type":"MODIFIED","object":{"kind":"Pod","metad\n');
    if (fault?.kind === 'watch-line') this.#write(`${fault.line}\n`);
    for (const change of missed) this.#tell(change);
    if (query.get('sendInitialEvents') === 'true') this.#bookmark({ 'k8s.io/initial-events-end': 'true' });
    this.#cleanUp.push(this.#world.pods.subscribe(route.namespace, (change) => this.#tell(change)));
    const timeout = Number(query.get('timeoutSeconds') ?? 0) * 1000 || 45 * 60_000;
    this.#cleanUp.push(this.#world.clock.after(timeout, () => this.end('clean')));
    if (query.get('allowWatchBookmarks') === 'true') this.#scheduleBookmark(bookmarkMs);
    this.#endByFault();
  }

  end(how: WatchEnd): void {
    this.#stop();
    if (this.#isOver) return;
    this.#isOver = true;
    if (how === 'silence') return;
    if (how === 'reset') this.#call.request.socket.destroy();
    else this.#call.response.end();
  }

  /** What happened since the asked version (unknown: too old); with no version, everything that is there. */
  #missed(): readonly Change[] | undefined {
    const asked = this.#call.query.get('resourceVersion') ?? '';
    if (!/^\d*$/.test(asked)) {
      throw new ApiError(
        500,
        '',
        `resourceVersion: Invalid value: "${asked}": strconv.ParseUint: parsing "${asked}": invalid syntax`,
      );
    }
    const { namespace } = this.#call.route;
    if (asked === '' || asked === '0' || this.#call.query.get('sendInitialEvents') === 'true') {
      return this.#world.pods.list(namespace === '' ? undefined : namespace).map((pod) => {
        return { type: 'ADDED' as const, version: Number(pod.metadata.resourceVersion), pod };
      });
    }
    const current = this.#world.pods.versions.current();
    // After a restore of an older etcd; the real server waits 3 s before it says so.
    if (Number(asked) > current)
      throw new ApiError(504, 'Timeout', `Too large resource version: ${asked}, current: ${current}`, {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      });
    const since = this.#world.pods.since(Number(asked));
    return since?.filter(({ pod }) => namespace === '' || pod.metadata.namespace === namespace);
  }

  #tell(change: Change): void {
    const type = this.#typeFor(change);
    if (type === undefined || this.#isOver) return;
    this.#write(`{"type":"${type}","object":${this.#objectOf(change.pod)}}\n`);
    this.#sent += 1;
    this.#endByFault();
  }

  /** A pod that leaves the selector is gone for this watcher, one that enters it is new. */
  #typeFor({ type, pod, previous }: Change): ChangeType | undefined {
    const is = this.#filter(pod);
    const was = previous !== undefined && this.#filter(previous);
    if (type === 'DELETED') return is || was ? 'DELETED' : undefined;
    if (is) return was ? 'MODIFIED' : 'ADDED';
    return was ? 'DELETED' : undefined;
  }

  #objectOf(pod: PodObject): string {
    if (!this.#asTable) return this.#world.pods.json(pod);
    const definitions = this.#hasColumns ? [] : POD_COLUMNS.definitions;
    this.#hasColumns = true;
    const { resourceVersion } = pod.metadata;
    return JSON.stringify(
      tableOf(definitions, [rowOf(POD_COLUMNS, pod, this.#world.clock.now())], { resourceVersion }),
    );
  }

  #scheduleBookmark(periodMs: number): void {
    const again = () => {
      this.#bookmark({});
      this.#cleanUp.push(this.#world.clock.after(periodMs, again));
    };
    this.#cleanUp.push(this.#world.clock.after(periodMs, again));
  }

  #bookmark(annotations: Readonly<Record<string, string>>): void {
    if (this.#isOver) return;
    const metadata = {
      resourceVersion: String(this.#world.pods.versions.current()),
      creationTimestamp: null,
      annotations,
    };
    const object = { kind: 'Pod', apiVersion: 'v1', metadata, spec: { containers: null }, status: {} };
    this.#write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`);
  }

  #write(line: string): void {
    this.#call.response.write(line);
    if (this.#call.response.writableLength > MAX_BUFFERED) this.end('reset');
  }

  /** A 410 comes inside the stream, after a 200. */
  #gone(): void {
    const asked = this.#call.query.get('resourceVersion') ?? '';
    const told = `too old resource version: ${asked} (${this.#world.pods.versions.current()})`;
    this.#write(`${JSON.stringify({ type: 'ERROR', object: new ApiError(410, 'Expired', told).toStatus() })}\n`);
    this.end('clean');
  }

  #endByFault(): void {
    const { fault } = this.#call;
    if (fault?.kind === 'close-watch' && this.#sent >= fault.afterEvents) this.end(fault.how);
  }

  #stop(): void {
    for (const undo of this.#cleanUp) undo();
    this.#cleanUp = [];
  }
}
