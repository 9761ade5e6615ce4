import type { Moment } from '../core/report/run-messages.ts';
import type { FlowDeps } from './deps.ts';

/** What an anchor is rendered with now, besides its run. */
export function momentOf({ clock, policies }: FlowDeps): Moment {
  const { approvers, output } = policies.current();
  return { nowMs: clock.now(), approvers, isPrivate: output.deliverTo === 'requester' };
}
