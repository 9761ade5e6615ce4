import type { ContainerStatus, PodObject } from '../objects/pod.ts';
import type { LogSource } from '../resources/logs.ts';
import { LogReader } from './log-reader.ts';

export interface FollowOptions {
  /** With how many of the newest lines it begins. */
  readonly tailLines: number;
  /** Ends the reading. */
  readonly signal: AbortSignal;
}

/**
 * What a container writes, without stamps, until it has ended or `signal` aborts: the log as somebody sees who stands
 * beside the node. It asks no API, so no fault of the API touches it. @throws Error a sentence: not started, node away
 */
export function followLog(
  source: LogSource,
  pod: PodObject,
  options: FollowOptions & { readonly name: string },
): AsyncIterable<Buffer> {
  const { nodeName = '' } = pod.spec;
  if (source.isNodeDown(nodeName)) throw new Error(`The node ${nodeName} is away, and the logs with it.`);
  const id = instanceOf(pod, options.name);
  const log = id === undefined ? undefined : source.logOf(pod.metadata.uid, id);
  if (log === undefined) throw new Error(`The container ${options.name} has not started yet.`);
  return blocksOf(new LogReader(log, { ...options, follow: true, timestamps: false, previous: false }), options.signal);
}

/** The instance that runs, else the last one that did. */
function instanceOf({ status }: PodObject, name: string): string | undefined {
  const all: readonly ContainerStatus[] = [
    ...(status.containerStatuses ?? []),
    ...(status.ephemeralContainerStatuses ?? []),
  ];
  const found = all.find((each) => each.name === name);
  if (found?.state.running) return found.containerID;
  return found?.state.terminated?.containerID ?? found?.lastState.terminated?.containerID;
}

async function* blocksOf(reader: LogReader, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    while (!signal.aborted) {
      const block = reader.next();
      if (block === undefined) return;
      if (block === 'wait') await reader.changed(signal);
      else yield block;
    }
  } finally {
    reader.close();
  }
}
