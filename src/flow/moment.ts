import type { Moment } from '../core/report/run-messages.ts';
import type { Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { isForRequesterAlone } from './slack-connect.ts';

/** What an anchor or a result is rendered with now, besides its run. @throws KdebugError as `isForRequesterAlone` */
export async function momentOf({ origin }: Run, deps: FlowDeps): Promise<Moment & { readonly isPrivate: boolean }> {
  const isPrivate = await isForRequesterAlone(origin, deps);
  return { nowMs: deps.clock.now(), approvers: deps.policies.current().approvers, isPrivate };
}
