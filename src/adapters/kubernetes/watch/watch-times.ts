import type { BackOff } from '../api/delays.ts';

/** Every duration of the shared watch in one place, so that tests can make them short. */
export interface WatchTimes {
  /** Each WATCH is asked to last a random time between these two, so that replicas never reconnect together. */
  readonly shortestSeconds: number;
  readonly longestSeconds: number;
  /** More than the minute between two bookmarks. */
  readonly silenceMs: number;
  readonly backOff: BackOff;
  /** An unused watch is kept this long: the next command often names the same namespace. */
  readonly lingerMs: number;
  readonly mostNamespaces: number;
}

export const WATCH_TIMES: WatchTimes = {
  shortestSeconds: 300,
  longestSeconds: 600,
  silenceMs: 95_000,
  backOff: { firstMs: 250, mostMs: 30_000 },
  lingerMs: 600_000,
  mostNamespaces: 200,
};
