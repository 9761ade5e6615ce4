import { AUDITED_AS } from '../../core/actions.ts';
import { batchPlanHash } from '../../core/batch/new-batch.ts';
import type { ReasonCode } from '../../core/errors.ts';
import { isRunId } from '../../core/ids.ts';
import { decideSnapshot } from '../../core/planning/decide-batch.ts';
import { mayGrant } from '../../core/planning/grant.ts';
import { asksTheSame, judgeVote, withoutVotesOf } from '../../core/planning/vote.ts';
import type { Decision } from '../../core/policy/policy.ts';
import { isCardOf } from '../../core/run/copies.ts';
import type { Run } from '../../core/run/run.ts';
import { unseenOnCard } from '../../core/say/parts/power-parts.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { readRun } from '../context/find-run.ts';
import type { RunChanger } from '../context/held-run.ts';
import { answerReason, type BoundedRefusals, closeForm, NOTHING } from '../context/refusals.ts';
import { grantFacts, type PendingRun, type VoteInput, votedOf, voteForm } from '../planning/approvers.ts';
import { endGrant } from '../planning/grants.ts';
import type { AuditEntry } from '../ports/machine.ts';
import type { Actor, Answer, Click, Submission, SubmitAnswer } from '../ports/slack.ts';
import { planOrRefusal } from '../run/plan.ts';

export type DecisionAction = VoteInput['action'] | 'cancel' | 'end-grant';

const VOTES: readonly VoteInput['action'][] = ['approve', 'approve-grant', 'reject'];

type VotedEvent = Awaited<ReturnType<typeof votedOf>>;

/** The result of a decision: an answer, or a refusal to record and to answer. */
type Result = { readonly answer: Answer } | { readonly refused: ReasonCode };

const refused = (code: ReasonCode): Result => ({ refused: code });
const DONE: Result = { answer: NOTHING };

/** `run`: the run that they named, if it exists. */
interface Attempt {
  readonly run: Run | undefined;
  readonly runId: string;
  readonly action: DecisionAction;
}

interface RefusedVote {
  readonly userId: string;
  readonly clickedIn: string;
  readonly code: ReasonCode;
}

/**
 * People's decisions. A click proves nothing, so this looks up the person, their rights, the request's state, and whether the card still
 * shows what would run. The decision is one atomic event of the run, recorded just before it happens. Refusals are recorded too.
 */
export class Approvals {
  readonly #deps: FlowDeps;
  readonly #runs: RunChanger;
  readonly #refusals: BoundedRefusals;

  constructor(deps: FlowDeps, runs: RunChanger, refusals: BoundedRefusals) {
    this.#refusals = refusals;
    this.#deps = deps;
    this.#runs = runs;
  }

  async click(click: Click, action: DecisionAction): Promise<Answer> {
    const run = await readRun(click.value, this.#deps);
    const result = await this.#decide(run, click, action);
    return this.#answer(result, click, { run, runId: click.value, action });
  }

  async #decide(run: Run | undefined, click: Click, action: DecisionAction): Promise<Result> {
    // The store was emptied, or deleted the run by age.
    if (!run && isRunId(click.value)) return refused('request_forgotten');
    const anchor = run?.delivery.anchor;
    // The store was unreachable after the card was posted, so it does not know the card yet.
    if (run?.state === 'pending-approval' && !anchor) return refused('button_early');
    if (!run || !isCardOf(run, { channelId: click.channelId, ts: click.messageTs }))
      return refused(run && isBeingPosted(run) ? 'button_early' : 'button_stale');
    if (action === 'cancel') return this.#cancel(run, click);
    if (action === 'end-grant') return this.#endGrant(run, click);
    return this.#vote(run, click, { action });
  }

  async #endGrant(run: Run, { userId }: Actor): Promise<Result> {
    const code = await endGrant(run, userId, { deps: this.#deps, runs: this.#runs });
    return code ? refused(code) : DONE;
  }

  /** Judges the vote again from the start. */
  async submit(submission: Submission): Promise<SubmitAnswer> {
    const [name = '', runId = ''] = submission.value.split(':');
    const action = VOTES.find((candidate) => candidate === name);
    if (!action) return closeForm(answerReason('button_stale'));
    const run = await readRun(runId, this.#deps);
    const reason = submission.fields.reason?.trim() ?? '';
    if (run && reason === '') return { kind: 'errors', errors: { reason: 'A reason is needed.' } };
    const result = run ? await this.#vote(run, submission, { action, reason }) : refused('button_stale');
    return closeForm(await this.#answer(result, submission, { run, runId, action }));
  }

  async #answer(result: Result, { userId, channelId }: Actor, { run, runId, action }: Attempt): Promise<Answer> {
    if ('answer' in result) return result.answer;
    const code = result.refused;
    if (run) await this.#recordRefused(run, action, { userId, clickedIn: channelId, code });
    else
      await this.#refusals.record({
        userId,
        channelId,
        handler: action,
        code,
        runId: isRunId(runId) ? runId : '',
      });
    return answerReason(code);
  }

  #record(run: Run, action: DecisionAction, facts: AuditEntry['facts']): Promise<void> {
    const { step, kind } = AUDITED_AS[action];
    return record(this.#deps, run, step, { kind, ...facts, planHash: run.planHash });
  }

  #recordRefused(run: Run, action: DecisionAction, { userId, clickedIn, code }: RefusedVote): Promise<void> {
    const { step, kind } = AUDITED_AS[action];
    const facts = { kind, clickedIn, verdict: code, planHash: run.planHash };
    return this.#refusals.recordOnRun(run, { userId, code, step, facts });
  }

  async #vote(run: Run, actor: Actor, input: Omit<VoteInput, 'userId'>): Promise<Result> {
    const { approval } = run;
    if (run.state !== 'pending-approval' || !approval) return refused('approval_decided');
    const pending = { ...run, approval };
    const vote = { ...input, userId: actor.userId };
    const notOffered = notOfferedOn(pending, vote);
    if (notOffered) return refused(notOffered);
    if (input.action !== 'reject' && !(await this.#deps.token.confirm())) return refused('slack_token_rejected');
    const sinceMs = this.#deps.clock.elapsed();
    // Check cached groups first: an outsider must not use up our budget of Slack calls.
    const no = refusalOf(pending, vote, await votedOf(pending, vote, this.#deps));
    if (no) return no;
    const event = await votedOf(pending, vote, this.#deps, sinceMs);
    return refusalOf(pending, vote, event) ?? this.#count(pending, vote, { event, clickedIn: actor.channelId });
  }

  async #count(
    run: PendingRun,
    { action }: VoteInput,
    { event, clickedIn }: { readonly event: VotedEvent; readonly clickedIn: string },
  ): Promise<Result> {
    const { vote, lapsed } = event;
    const change = vote.kind === 'approve' ? await this.#changeOf(run) : undefined;
    if (change) return refused(change);
    const facts = { actorId: vote.userId, clickedIn, lapsed: lapsed.join(' ') || undefined };
    const recordVote = (next: Run) =>
      this.#record(run, action, { ...facts, ...grantFacts(next), verdict: resultOf(next) });
    const moved = await this.#runs.change(run.id, (held) => held.tryApply(event, recordVote));
    if (moved !== 'moved') return refused(whyNot(moved));
    // The card now shows fewer votes than the voter saw.
    return lapsed.length > 0 ? { answer: answerReason('vote_lapsed') } : DONE;
  }

  /** Any drift of pod, image, policy, rule or the rule's terms voids the card. */
  async #changeOf(run: Run): Promise<ReasonCode | undefined> {
    const decision = await this.#decisionNow(run);
    if (typeof decision === 'string') return decision;
    return run.approval && asksTheSame(decision, run.approval) ? undefined : 'approval_changed';
  }

  /** A code: the plan has changed. A batch's pods are checked one by one before their launch. */
  async #decisionNow(run: Run): Promise<Decision | ReasonCode> {
    if (run.batch) {
      const isWhole = batchPlanHash(run.batch) === run.planHash;
      return isWhole ? decideSnapshot(run.batch, this.#deps.policies.current()) : 'approval_changed';
    }
    const made = await planOrRefusal(run, this.#deps);
    // A container in a crash loop runs for a moment now and then; a moment later the same card can be approved.
    if ('refusal' in made) return made.refusal.code === 'once_more_running' ? 'once_more_running' : 'approval_changed';
    return made.planHash === run.planHash ? made.decision : 'approval_changed';
  }

  async #cancel(run: Run, { userId, channelId: clickedIn }: Actor): Promise<Result> {
    if (run.state !== 'pending-approval') return refused('approval_decided');
    if (userId !== run.origin.requesterId) return refused('not_your_request');
    const event = { kind: 'cancelled', byUserId: userId, atMs: this.#deps.clock.now() } as const;
    const recordCancel = () => this.#record(run, 'cancel', { actorId: userId, clickedIn, verdict: 'cancelled' });
    const moved = await this.#runs.change(run.id, (held) => held.tryApply(event, recordCancel));
    return moved === 'moved' ? DONE : refused(whyNot(moved));
  }
}

/** People see a copy of the card shortly before the store knows it. */
const isBeingPosted = ({ state, asked: sent }: Run): boolean =>
  state === 'pending-approval' && (!sent || sent.waiting.length > 0);

const whyNot = (moved: string): ReasonCode => (moved === 'elsewhere' ? 'run_elsewhere' : 'approval_decided');

/** Undefined: the vote counts, as far as `event` knows. */
function refusalOf(run: PendingRun, { action }: VoteInput, { vote, voter, lapsed }: VotedEvent): Result | undefined {
  const verdict = judgeVote(withoutVotesOf(run.approval, lapsed), voter, vote);
  if (verdict.kind === 'ignored') return refused(verdict.code);
  return verdict.kind === 'reason-missing' ? { answer: { kind: 'form', form: voteForm(run, action) } } : undefined;
}

function notOfferedOn(run: PendingRun, { action }: VoteInput): ReasonCode | undefined {
  if (action === 'reject') return undefined;
  // An older kdebug posted the card and showed only part of the request.
  const unseen = unseenOnCard(run);
  if (unseen) return unseen;
  if (action === 'approve') return undefined;
  if (run.approval.count > 1) return 'grant_of_several';
  // A grant counts runs, and a batch is many.
  return run.batch || !mayGrant(run.approval) ? 'grant_not_allowed' : undefined;
}

function resultOf({ state }: Run): string {
  if (state === 'approved') return 'granted';
  return state === 'rejected' ? 'rejected' : 'counted';
}
