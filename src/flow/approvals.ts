import { decideSnapshot } from '../core/batch/decide-batch.ts';
import type { ReasonCode } from '../core/errors.ts';
import { asUserId, isRunId } from '../core/ids.ts';
import type { Decision } from '../core/policy/decision.ts';
import { GRANT_MS, GRANT_RUNS, type Grant, grantPlace, grantScope, mayGrant } from '../core/policy/grant.ts';
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
import { record, recordRefusal } from './audit.ts';
import type { FlowDeps } from './deps.ts';
import { endGrant } from './end-grant.ts';
import type { AuditEntry } from './ports/machine.ts';
import type { Actor, Answer, Click, Submission, SubmitAnswer } from './ports/slack.ts';
import { planOrRefusal } from './request.ts';
import type { RunChanger } from './session.ts';

/** The buttons by which people decide. */
export const DECISIONS = ['approve', 'approve-grant', 'reject', 'cancel', 'end-grant'] as const;
export type DecisionAction = (typeof DECISIONS)[number];

type VoteAction = Extract<DecisionAction, 'approve' | 'approve-grant' | 'reject'>;
const isVote = (action: DecisionAction): action is VoteAction => action !== 'cancel' && action !== 'end-grant';

interface Given {
  readonly action: VoteAction;
  readonly reason?: string;
}

/** How the audit log calls them. */
const KIND = { approve: 'approve', 'approve-grant': 'approve', reject: 'reject', cancel: 'cancel', 'end-grant': 'end' };

/** The form that asks for the reason of a vote. */
export const VOTE_REASON = 'vote-reason';

const NOTHING: Answer = { kind: 'nothing' };
const said = (code: ReasonCode): Answer => ({ kind: 'message', message: reasonMessage(code) });

/** What came of a deed: an answer, or why it was refused. */
type Result = Answer | ReasonCode;

/** What somebody set out to do; `run` is the one that they named, where there is one. */
interface Deed {
  readonly run: Run | undefined;
  readonly runId: string;
  readonly action: DecisionAction;
}

/**
 * People's decisions. A click is only a hint: who it is, whether they may, whether it is still pending, whether what was shown is
 * what would run, are all looked up at the click; the decision itself is one atomic event of the run's state machine, on record
 * right before it happens. A refusal is on record too.
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
    const result = await this.#decide(run, click, action);
    return this.#answer(result, click, { run, runId: click.value, action });
  }

  async #decide(run: Run | undefined, click: Click, action: DecisionAction): Promise<Result> {
    // The store was emptied, or had it long enough.
    if (!run && isRunId(click.value)) return 'request_forgotten';
    const anchor = run?.delivery.anchor;
    // The store was out of reach when the card was posted, and does not know of it yet.
    if (run?.state === 'pending-approval' && !anchor) return 'button_early';
    // A button of another message, channel or run was not put there by us.
    if (!run || anchor?.channelId !== click.channelId || anchor.ts !== click.messageTs) return 'button_stale';
    if (action === 'cancel') return this.#cancel(run, click);
    if (action === 'end-grant')
      return (await endGrant(run, click.userId, { deps: this.#deps, runs: this.#runs })) ?? NOTHING;
    return this.#vote(run, click, { action });
  }

  /** The reason came in its form: the vote is judged from the start. */
  async submit(submission: Submission): Promise<SubmitAnswer> {
    const [name = '', runId = ''] = submission.value.split(':');
    const action = DECISIONS.find((candidate) => candidate === name);
    if (!action || !isVote(action)) return { kind: 'taken', message: reasonMessage('button_stale') };
    const run = isRunId(runId) ? await this.#deps.store.read(runId) : undefined;
    const reason = submission.fields.reason?.trim() ?? '';
    if (run && reason === '') return { kind: 'errors', errors: { reason: 'A reason is needed.' } };
    const result = run ? await this.#vote(run, submission, { action, reason }) : 'button_stale';
    const answer = await this.#answer(result, submission, { run, runId, action });
    return { kind: 'taken', ...(answer.kind === 'message' && { message: answer.message }) };
  }

  async #answer(result: Result, { userId, channelId }: Actor, { run, runId, action }: Deed): Promise<Answer> {
    if (typeof result !== 'string') return result;
    if (run) await this.#keep(run, action, { actorId: userId, verdict: result });
    else
      await recordRefusal(this.#deps, {
        userId,
        channelId,
        handler: action,
        code: result,
        runId: isRunId(runId) ? runId : '',
      });
    return said(result);
  }

  #keep(run: Run, action: DecisionAction, facts: AuditEntry['facts']): Promise<void> {
    const step = action === 'end-grant' ? 'grant' : 'vote';
    return record(this.#deps, run, step, { kind: KIND[action], ...facts, planHash: run.planHash });
  }

  async #vote(run: Run, actor: Actor, given: Given): Promise<Result> {
    if (run.state !== 'pending-approval' || !run.approval) return 'approval_decided';
    // The card does not offer it.
    if (given.action === 'approve-grant' && !mayGrant(run.approval))
      return run.approval.count > 1 ? 'grant_of_several' : 'grant_not_allowed';
    // A grant counts single runs.
    if (given.action === 'approve-grant' && run.batch) return 'grant_not_allowed';
    const event = await this.#voted(run, run.approval, { ...given, userId: actor.userId });
    const { vote, voter, lapsed } = event;
    const verdict = judgeVote(withoutVotesOf(run.approval, lapsed), voter, vote);
    if (verdict.kind === 'ignored') return verdict.code;
    if (verdict.kind === 'reason-missing') return { kind: 'form', form: reasonForm(run, given.action) };
    if (vote.kind === 'approve' && (await this.#hasChanged(run))) return 'approval_changed';
    const facts = { actorId: actor.userId, lapsed: lapsed.join(' ') || undefined };
    const keep = (next: Run) =>
      this.#keep(run, given.action, { ...facts, ...grantFacts(next), verdict: verdictOf(next) });
    const moved = await this.#runs.change(run.id, (session) => session.tryApply(event, keep));
    if (moved !== 'moved') return whyNot(moved);
    // The card shows what counts by now, which is not what the voter saw.
    return lapsed.length > 0 ? said('vote_lapsed') : NOTHING;
  }

  /** The vote with all that has to be looked up to judge it. */
  async #voted(run: Run, approval: PendingApproval, given: Given & { readonly userId: string }) {
    const { action, userId } = given;
    const vote = this.#voteOf(userId, given);
    const voter = await this.#voter(run, userId);
    const lapsed = vote.kind === 'approve' ? await lapsedVoters(approval, this.#deps) : [];
    const grant = action === 'approve-grant' ? this.#grantOf(run, userId) : undefined;
    return { kind: 'voted', vote, voter, lapsed, ...(grant && { grant }) } as const;
  }

  #voteOf(userId: string, { action, reason }: Given): Vote {
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

  #grantOf({ plan, approval }: Run, userId: string): Grant | undefined {
    if (!plan || !approval) return undefined;
    const expiresAtMs = this.#deps.clock.now() + GRANT_MS;
    const scope = grantScope(plan);
    return { byUserId: userId, rule: approval.rule, scope, expiresAtMs, maxRuns: GRANT_RUNS, uses: [] };
  }

  async #cancel(run: Run, { userId }: Actor): Promise<Result> {
    if (run.state !== 'pending-approval') return 'approval_decided';
    if (userId !== run.origin.requesterId) return 'not_your_request';
    const event = { kind: 'cancelled', byUserId: userId, atMs: this.#deps.clock.now() } as const;
    const keep = () => this.#keep(run, 'cancel', { actorId: userId, verdict: 'cancelled' });
    const moved = await this.#runs.change(run.id, (session) => session.tryApply(event, keep));
    return moved === 'moved' ? NOTHING : whyNot(moved);
  }
}

const whyNot = (moved: string): ReasonCode => (moved === 'elsewhere' ? 'run_elsewhere' : 'approval_decided');

/** What exactly was granted, for the record. */
function grantFacts({ grant, plan }: Run): AuditEntry['facts'] {
  if (!grant || !plan) return {};
  const { scope: grantScope, maxRuns: grantRuns, expiresAtMs } = grant;
  const grantUntil = new Date(expiresAtMs).toISOString();
  return { grantTo: plan.requesterId, grantPlace: grantPlace(plan), grantScope, grantRuns, grantUntil };
}

/** What a vote came to, by the run after it. */
function verdictOf({ state }: Run): string {
  if (state === 'approved') return 'granted';
  return state === 'rejected' ? 'rejected' : 'counted';
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
