import { beginStream, type Call, type Handler } from '../api/call.ts';
import { ApiError, badRequest } from '../api/status.ts';
import { type Clock, sleep } from '../clock.ts';
import type { ContainerLog } from '../log/container-log.ts';
import { type LogOptions, logOptions } from '../log/log-options.ts';
import { LogReader } from '../log/log-reader.ts';
import { NODE_ADDRESS } from '../objects/places.ts';
import type { ContainerStatus, PodObject } from '../objects/pod.ts';
import type { World } from '../world.ts';
import { existing } from './pods.ts';

/** The nodes' side of a log. */
export interface LogSource {
  isNodeDown(nodeName: string): boolean;
  /** The log of one container instance, while the node keeps it. */
  logOf(podUid: string, containerId: string): ContainerLog | undefined;
}

/** `pods/log`. `bytesPerSecond` slows every reading down, as an API server that is busy does. */
export function logHandlers(
  world: World,
  source: LogSource,
  bytesPerSecond: number | undefined,
): readonly (readonly [string, Handler])[] {
  return [
    [
      'get pods/log',
      async (call) => {
        const pod = existing(world, call);
        const options = logOptions(pod.metadata.name, call.query, world.clock.now());
        const container = containerOf(pod, call.query.get('container') ?? '');
        if (source.isNodeDown(pod.spec.nodeName ?? '')) throw nodeRefuses(pod, container);
        const status = statusOf(pod, container);
        const log = source.logOf(pod.metadata.uid, instanceOf(pod.metadata.name, status, options.previous));
        await new LogStream(call, world.clock, bytesPerSecond).run(log, options);
      },
    ],
  ];
}

function containerOf(pod: PodObject, asked: string): string {
  const { spec, metadata } = pod;
  const all = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].map(
    ({ name }) => name,
  );
  if (asked === '') {
    const [only, second] = spec.containers;
    if (only && !second) return only.name;
    const names = spec.containers.map(({ name }) => name).join(' ');
    throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names}]`);
  }
  if (!all.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`);
  return asked;
}

/** The API server cannot reach the kubelet: an error without a reason, as the real one answers. */
function nodeRefuses(pod: PodObject, container: string): ApiError {
  const { namespace, name } = pod.metadata;
  const url = `https://${NODE_ADDRESS}:10250/containerLogs/${namespace}/${name}/${container}`;
  return new ApiError(500, '', `Get "${url}": dial tcp ${NODE_ADDRESS}:10250: connect: connection refused`);
}

function statusOf(pod: PodObject, container: string): ContainerStatus {
  const { containerStatuses = [], initContainerStatuses = [], ephemeralContainerStatuses = [] } = pod.status;
  const found = [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses].find(
    ({ name }) => name === container,
  );
  if (!found) throw badRequest(`container "${container}" in pod "${pod.metadata.name}" is not available`);
  return found;
}

/** Which instance's log it is, by the status (kubelet validateContainerLogStatus). @throws ApiError 400 before the start */
function instanceOf(podName: string, status: ContainerStatus, previous: boolean): string {
  const where = `container "${status.name}" in pod "${podName}"`;
  const last = status.lastState.terminated?.containerID;
  if (previous) {
    if (last === undefined) throw badRequest(`previous terminated ${where} not found`);
    return last;
  }
  if (status.state.running && status.containerID !== undefined) return status.containerID;
  if (status.state.terminated) return status.state.terminated.containerID;
  if (last !== undefined) return last;
  const reason = status.state.waiting?.reason ?? '';
  const why: Record<string, string> = {
    ErrImagePull: "image can't be pulled",
    ImagePullBackOff: 'trying and failing to pull image',
  };
  throw badRequest(`${where} is waiting to start: ${why[reason] ?? reason}`);
}

/** One log answer. It follows the client's pace: it reads nothing ahead while the client does not read. */
class LogStream {
  readonly #call: Call;
  readonly #clock: Clock;
  readonly #bytesPerSecond: number | undefined;
  readonly #gone = new AbortController();
  #left: number = Number.POSITIVE_INFINITY;
  #untilCut: number;

  constructor(call: Call, clock: Clock, bytesPerSecond: number | undefined) {
    this.#call = call;
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
    this.#untilCut = call.fault?.kind === 'cut-log' ? call.fault.afterBytes : Number.POSITIVE_INFINITY;
    call.response.on('close', () => this.#gone.abort());
  }

  async run(log: ContainerLog | undefined, options: LogOptions): Promise<void> {
    const { response } = this.#call;
    beginStream(this.#call, 'text/plain');
    this.#left = options.limitBytes ?? Number.POSITIVE_INFINITY;
    if (log) {
      const reader = new LogReader(log, options);
      try {
        await this.#copy(reader);
      } finally {
        reader.close();
      }
    }
    response.end();
  }

  async #copy(reader: LogReader): Promise<void> {
    while (!this.#gone.signal.aborted && this.#left > 0) {
      const block = reader.next();
      if (block === undefined) return;
      if (block === 'wait') await reader.changed(this.#gone.signal);
      else await this.#send(block);
    }
  }

  async #send(block: Buffer): Promise<void> {
    const { response, request } = this.#call;
    const part = block.subarray(0, Math.min(this.#left, this.#untilCut));
    this.#left -= part.length;
    this.#untilCut -= part.length;
    const isTaken = response.write(part);
    if (this.#untilCut <= 0) {
      await new Promise((resolve) => setImmediate(resolve));
      request.socket.destroy();
      this.#gone.abort();
    }
    if (!isTaken && !this.#gone.signal.aborted) await drained(this.#call, this.#gone.signal);
    if (this.#bytesPerSecond !== undefined)
      await sleep(this.#clock, (part.length / this.#bytesPerSecond) * 1000, this.#gone.signal);
  }
}

function drained({ response }: Call, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      response.off('drain', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    response.on('drain', finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}
