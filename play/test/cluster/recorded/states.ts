import { at, listAt } from './json.ts';

/** A pod in one line: phase, readiness, and each container's state with its reason; what a level-triggered client sees. */
export function podState(pod: unknown): string {
  const conditions = listAt(pod, 'status', 'conditions');
  const ready = conditions.find((each) => at(each, 'type') === 'Ready');
  const kinds = ['containerStatuses', 'ephemeralContainerStatuses'];
  const containers = kinds.flatMap((kind) => listAt(pod, 'status', kind).map(containerState));
  const wanted = listAt(pod, 'spec', 'ephemeralContainers').length;
  const deleting = at(pod, 'metadata', 'deletionTimestamp') === undefined ? [] : ['deleting'];
  const head = [`${at(pod, 'status', 'phase')}`, ...deleting, `ready=${at(ready, 'status')}`, `debug=${wanted}`];
  return [...head, ...containers].join(', ');
}

function containerState(status: unknown): string {
  const state = at(status, 'state');
  const kind = Object.keys(typeof state === 'object' && state !== null ? state : {})[0] ?? 'none';
  const detail = [at(state, kind, 'reason'), at(state, kind, 'exitCode')].filter((each) => each !== undefined);
  return `${at(status, 'name')} ${[kind, ...detail].join(' ')}`;
}

/** Whether a container, ephemeral or not, is in a state, with a reason if one is given. */
export function isIn(name: string, kind: 'waiting' | 'running' | 'terminated', reason?: string) {
  return (pod: unknown): boolean => {
    const kinds = ['containerStatuses', 'ephemeralContainerStatuses'];
    const status = kinds.flatMap((each) => listAt(pod, 'status', each)).find((each) => at(each, 'name') === name);
    const state = at(status, 'state', kind);
    return state !== undefined && (reason === undefined || at(state, 'reason') === reason);
  };
}
