import { decideSnapshot } from '../core/batch/decide-batch.ts';
import { KdebugError, type ReasonCode } from '../core/errors.ts';
import { asUserId, isRunId } from '../core/ids.ts';
import type { Decision } from '../core/policy/decision.ts';
import { GRANT_MS, GRANT_RUNS, type Grant, mayGrant } from '../core/policy/grant.ts';
import { isSamePerson } from '../core/policy/identity.ts';
import {
  asksTheSame,
  judgeVote,
  type PendingApproval,
  type Vote,
  type Voter,
  withoutVotesOf,
} from '../core/policy/vote.ts';
import type { Form } from '../core/report/form.ts';
import { reasonMessage } from '../core/report/private-messages.ts';
import type { Run } from '../core/run/run.ts';
import { isApprover, lapsedVoters } from './approvers.ts';
import { record } from './audit.ts';
import type { FlowDeps } from './deps.ts';
import type { Actor, Answer, Click, Submission, SubmitAnswer } from './ports/slack.ts';
import { planOrRefusal } from './request.ts';
import type { RunChanger } from './session.ts';

/** The buttons by which people decide. */
export const DECISIONS = ['approve', 'approve-grant', 'reject', 'cancel', 'end-grant'] as const;
export type DecisionAction = (typeof DECISIONS)[number];

type VoteAction = Extract<DecisionAction, 'approve' | 'approve-grant' | 'reject'>;
const isVote = (action: DecisionAction): action is VoteAction => action !== 'cancel' && action !== 'end-grant';

interface Said {
  readonly action: VoteAction;
  readonly reason?: string;
}

/** The form that asks for the reason of a vote. */
export const VOTE_REASON = 'vote-reason';

const refuse = (code: ReasonCode): Answer => ({ kind: 'message', message: reasonMessage(code) });
const NOTHING: Answer = { kind: 'nothing' };

/**
 * People's decisions. A click is only a hint: who it is, whether they may, whether it is still pending, whether what was shown is
 * what would run, are all looked up at the click; the decision itself is one atomic event of the run's state machine.
 */
export class Approvals {
  readonly #deps: FlowDeps;
  readonly #runs: RunChanger;

  constructor(deps: FlowDeps, runs: RunChanger) {
    this.#deps = deps;
    this.#runs = runs;
  }

  async click(click: Click, action: DecisionAction): Promise<Answer> {
    const run = isRunId(click.value) ? await this.#deps.store.read(click.value) : undefined;
    // The store was emptied, or had it long enough.
    if (!run && isRunId(click.value)) return refuse('request_forgotten');
    const anchor = run?.delivery.anchor;
    // The store was out of reach when the card was posted, and does not know of it yet.
    if (run?.state === 'pending-approval' && !anchor) return refuse('button_early');
    // A button of another message, channel or run was not put there by us.
    if (!run || anchor?.channelId !== click.channelId || anchor.ts !== click.messageTs) return refuse('button_stale');
    if (action === 'cancel') return this.#cancel(run, click);
    if (action === 'end-grant') return this.#endGrant(run, click);
    return this.#vote(run, click, { action });
  }

  /** The reason came in its form: the vote is judged from the start. */
  async submit(submission: Submission): Promise<SubmitAnswer> {
    const [action = '', id = ''] = submission.value.split(':');
    const known = DECISIONS.find((candidate) => candidate === action);
    const run = isRunId(id) ? await this.#deps.store.read(id) : undefined;
    if (!run || !known || !isVote(known)) return { kind: 'taken', message: reasonMessage('button_stale') };
    const reason = submission.fields.reason?.trim() ?? '';
    if (reason === '') return { kind: 'errors', errors: { reason: 'A reason is needed.' } };
    const answer = await this.#vote(run, submission, { action: known, reason });
    return { kind: 'taken', ...(answer.kind === 'message' && { message: answer.message }) };
  }

  async #vote(run: Run, actor: Actor, said: Said): Promise<Answer> {
    if (run.state !== 'pending-approval' || !run.approval) return refuse('approval_decided');
    // The card does not offer it.
    if (said.action === 'approve-grant' && !mayGrant(run.approval)) return refuse('grant_of_several');
    const event = await this.#voted(run, run.approval, { ...said, userId: actor.userId });
    const { vote, voter, lapsed } = event;
    const verdict = judgeVote(withoutVotesOf(run.approval, lapsed), voter, vote);
    await this.#recordVote(run, vote, verdict.kind === 'ignored' ? verdict.code : verdict.kind);
    if (verdict.kind === 'ignored') return refuse(verdict.code);
    if (verdict.kind === 'reason-missing') return { kind: 'form', form: reasonForm(run, said.action) };
    if (vote.kind === 'approve' && (await this.#hasChanged(run))) return refuse('approval_changed');
    const moved = await this.#runs.change(run.id, (session) => session.tryApply(event));
    if (moved !== 'moved') return refuse('approval_decided');
    // The card shows what counts by now, which is not what the voter saw.
    return lapsed.length > 0 ? refuse('vote_lapsed') : NOTHING;
  }

  /** The vote with all that has to be looked up to judge it. */
  async #voted(run: Run, approval: PendingApproval, said: Said & { readonly userId: string }) {
    const { action, userId } = said;
    const vote = this.#voteOf(userId, said);
    const voter = await this.#voter(run, userId);
    const lapsed = vote.kind === 'approve' ? await lapsedVoters(approval, this.#deps) : [];
    const grant = action === 'approve-grant' && !run.batch ? this.#grantOf(run, userId) : undefined;
    return { kind: 'voted', vote, voter, lapsed, ...(grant && { grant }) } as const;
  }

  #voteOf(userId: string, { action, reason }: Said): Vote {
    const kind = action === 'reject' ? 'reject' : 'approve';
    return { userId, kind, atMs: this.#deps.clock.now(), ...(reason !== undefined && { reason }) };
  }

  async #voter(run: Run, userId: string): Promise<Voter> {
    const { identity } = this.#deps.policies.current();
    return {
      userId,
      isRequester: isSamePerson(identity, run.origin, userId),
      isAlso: (other) => isSamePerson(identity, { ...run.origin, requesterId: asUserId(other) }, userId),
      isApprover: await this.#isApprover(run, userId),
    };
  }

  #isApprover(run: Run, userId: string): Promise<boolean> {
    return isApprover(run.approval?.from ?? [], userId, this.#deps);
  }

  /** Any drift of pod, image, policy or rule, or of the rule's terms, voids what is on the card. */
  async #hasChanged(run: Run): Promise<boolean> {
    const decision = await this.#decisionNow(run);
    return !decision || !run.approval || !asksTheSame(decision, run.approval);
  }

  /** Undefined: the plan is another one now. Of a batch, each pod is looked at again right before its launch. */
  async #decisionNow(run: Run): Promise<Decision | undefined> {
    if (run.batch) return decideSnapshot(run.batch, this.#deps.policies.current());
    const made = await planOrRefusal(run, this.#deps);
    return 'refusal' in made || made.planHash !== run.planHash ? undefined : made.decision;
  }

  #grantOf(run: Run, userId: string): Grant | undefined {
    const { plan, approval } = run;
    if (!plan || !approval) return undefined;
    return {
      byUserId: userId,
      rule: approval.rule,
      channelId: plan.channelId,
      cluster: plan.cluster,
      namespace: plan.namespace,
      class: plan.class,
      profile: plan.profile,
      expiresAtMs: this.#deps.clock.now() + GRANT_MS,
      maxRuns: GRANT_RUNS,
      uses: [],
    };
  }

  async #cancel(run: Run, { userId }: Actor): Promise<Answer> {
    if (run.state !== 'pending-approval') return refuse('approval_decided');
    if (userId !== run.origin.requesterId) return refuse('not_your_request');
    await record(this.#deps, run, 'vote', { actorId: userId, kind: 'cancel', verdict: 'cancelled' });
    const event = { kind: 'cancelled', byUserId: userId, atMs: this.#deps.clock.now() } as const;
    const moved = await this.#runs.change(run.id, (session) => session.tryApply(event));
    return moved === 'moved' ? NOTHING : refuse('approval_decided');
  }

  async #endGrant(run: Run, { userId }: Actor): Promise<Answer> {
    if (!run.grant) return refuse('grant_ended');
    if (!(await this.#isApprover(run, userId))) return refuse('vote_by_outsider');
    await record(this.#deps, run, 'grant', { actorId: userId, kind: 'end' });
    const event = { kind: 'grant-ended', byUserId: userId, atMs: this.#deps.clock.now() } as const;
    const moved = await this.#runs.change(run.id, (session) => session.tryApply(event));
    return moved === 'moved' ? NOTHING : refuse('grant_ended');
  }

  async #recordVote(run: Run, vote: Vote, verdict: string): Promise<void> {
    if (!run.planHash) throw new KdebugError('internal_error', { detail: 'a pending run has no plan' });
    await record(this.#deps, run, 'vote', { actorId: vote.userId, kind: vote.kind, verdict, planHash: run.planHash });
  }
}

const reasonForm = (run: Run, action: VoteAction): Form => ({
  name: VOTE_REASON,
  value: `${action}:${run.id}`,
  title: action === 'reject' ? 'Reject' : 'Approve',
  submit: action === 'reject' ? 'Reject' : 'Approve',
  intro: `Run ${run.id}: /kdebug ${run.commandLine}`,
  fields: [
    {
      id: 'reason',
      label: 'Reason',
      kind: 'lines',
      optional: false,
      maxLength: 500,
      hint: 'It is shown on the card and kept.',
    },
  ],
});
