import type { RunRequest } from '../../core/command/command.ts';
import type { Origin, Run } from '../../core/run/run.ts';
import type { Answer } from '../ports/slack.ts';

/** What a run may have from its birth besides its request. */
export type Extra = Partial<Pick<Run, 'commandLine' | 'job' | 'rerunOf'>>;

/** The one way in for a request: kept in the store, within the limits, and started. */
export type Take = (origin: Origin, request: RunRequest, extra?: Extra) => Promise<Answer>;
