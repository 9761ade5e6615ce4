import type { Difference } from './compare.ts';

/** A way in which the local cluster is not like the recorded one, and why that is well. Each must still happen. */
interface Allowed {
  readonly why: string;
  /** Of the difference's path. */
  readonly path: RegExp;
}

export const ALLOWED: readonly Allowed[] = [
  {
    why: 'containerd 1.6 does not tell as whom a container runs; newer ones do, and that is the case worth playing',
    path: /ontainerStatuses\[\d+\]\.user$|\.json\.status\[\d+\]\.user$/,
  },
];

export const isAllowed = ({ path }: Difference): boolean => ALLOWED.some((each) => each.path.test(path));
