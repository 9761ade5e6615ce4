import { decideSnapshot } from '../../core/batch/decide-batch.ts';
import { batchPlanHash } from '../../core/batch/new-batch.ts';
import type { ReasonCode } from '../../core/errors.ts';
import { isRunId } from '../../core/ids.ts';
import { mayGrant } from '../../core/policy/grant.ts';
import type { Decision } from '../../core/policy/policy.ts';
import { asksTheSame, judgeVote, withoutVotesOf } from '../../core/policy/vote.ts';
import { unseenOnCard } from '../../core/report/parts/power-parts.ts';
import { reasonMessage } from '../../core/report/private-messages.ts';
import { isCardOf } from '../../core/run/copies.ts';
import type { Run } from '../../core/run/run.ts';
import { record } from '../audit.ts';
import type { FlowDeps } from '../deps.ts';
import type { RunChanger } from '../held-run.ts';
import type { BoundedRefusals } from '../inbox/refusals.ts';
import type { AuditEntry } from '../ports/machine.ts';
import type { Actor, Answer, Click, Submission, SubmitAnswer } from '../ports/slack.ts';
import { planOrRefusal } from '../stages/plan.ts';
import { grantFacts, type PendingRun, reasonForm, type VoteInput, votedOf } from './approvers.ts';
import { endGrant } from './grants.ts';

/** The buttons by which people decide. */
export const DECISIONS = ['approve', 'approve-grant', 'reject', 'cancel', 'end-grant'] as const;
export type DecisionAction = (typeof DECISIONS)[number];

type VoteAction = VoteInput['action'];
const isVote = (action: DecisionAction): action is VoteAction => action !== 'cancel' && action !== 'end-grant';

type VotedEvent = Awaited<ReturnType<typeof votedOf>>;

/** How the audit log calls them. */
const KIND = { approve: 'approve', 'approve-grant': 'approve', reject: 'reject', cancel: 'cancel', 'end-grant': 'end' };

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
  readonly #refusals: BoundedRefusals;

  constructor(deps: FlowDeps, runs: RunChanger, refusals: BoundedRefusals) {
    this.#refusals = refusals;
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
    if (!run || !isCardOf(run, { channelId: click.channelId, ts: click.messageTs }))
      return run && isBeingTold(run) ? 'button_early' : 'button_stale';
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
    if (run) await this.#keep(run, action, { actorId: userId, clickedIn: channelId, verdict: result });
    else
      await this.#refusals.record({
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

  async #vote(run: Run, actor: Actor, asked: Omit<VoteInput, 'userId'>): Promise<Result> {
    const { approval } = run;
    if (run.state !== 'pending-approval' || !approval) return 'approval_decided';
    const pending = { ...run, approval };
    const given = { ...asked, userId: actor.userId };
    const notOffered = notOfferedOn(pending, given);
    if (notOffered) return notOffered;
    const sinceMs = this.#deps.clock.now();
    // By what is known of the groups first: who is in none of them does not use up what we may ask of Slack.
    const no = verdictOn(pending, given, await votedOf(pending, given, this.#deps));
    if (no) return no;
    const event = await votedOf(pending, given, this.#deps, sinceMs);
    return verdictOn(pending, given, event) ?? this.#count(pending, given, { event, clickedIn: actor.channelId });
  }

  async #count(
    run: PendingRun,
    { action }: VoteInput,
    { event, clickedIn }: { readonly event: VotedEvent; readonly clickedIn: string },
  ): Promise<Result> {
    const { vote, lapsed } = event;
    if (vote.kind === 'approve' && (await this.#hasChanged(run))) return 'approval_changed';
    const facts = { actorId: vote.userId, clickedIn, lapsed: lapsed.join(' ') || undefined };
    const keep = (next: Run) => this.#keep(run, action, { ...facts, ...grantFacts(next), verdict: verdictOf(next) });
    const moved = await this.#runs.change(run.id, (session) => session.tryApply(event, keep));
    if (moved !== 'moved') return whyNot(moved);
    // The card shows what counts by now, which is not what the voter saw.
    return lapsed.length > 0 ? said('vote_lapsed') : NOTHING;
  }

  /** Any drift of pod, image, policy or rule, or of the rule's terms, voids what is on the card. */
  async #hasChanged(run: Run): Promise<boolean> {
    const decision = await this.#decisionNow(run);
    return !decision || !run.approval || !asksTheSame(decision, run.approval);
  }

  /** Undefined: the plan is another one now. Of a batch, each pod is looked at again right before its launch. */
  async #decisionNow(run: Run): Promise<Decision | undefined> {
    if (run.batch) {
      const isWhole = batchPlanHash(run.batch) === run.planHash;
      return isWhole ? decideSnapshot(run.batch, this.#deps.policies.current()) : undefined;
    }
    const made = await planOrRefusal(run, this.#deps);
    return 'refusal' in made || made.planHash !== run.planHash ? undefined : made.decision;
  }

  async #cancel(run: Run, { userId, channelId: clickedIn }: Actor): Promise<Result> {
    if (run.state !== 'pending-approval') return 'approval_decided';
    if (userId !== run.origin.requesterId) return 'not_your_request';
    const event = { kind: 'cancelled', byUserId: userId, atMs: this.#deps.clock.now() } as const;
    const keep = () => this.#keep(run, 'cancel', { actorId: userId, clickedIn, verdict: 'cancelled' });
    const moved = await this.#runs.change(run.id, (session) => session.tryApply(event, keep));
    return moved === 'moved' ? NOTHING : whyNot(moved);
  }
}

/** A copy of the card is shown a moment before it is on record. */
const isBeingTold = ({ state, asked }: Run): boolean =>
  state === 'pending-approval' && (!asked || asked.waiting.length > 0);

const whyNot = (moved: string): ReasonCode => (moved === 'elsewhere' ? 'run_elsewhere' : 'approval_decided');

/** Undefined: the vote counts, as far as `event` tells. */
function verdictOn(run: PendingRun, { action }: VoteInput, { vote, voter, lapsed }: VotedEvent): Result | undefined {
  const verdict = judgeVote(withoutVotesOf(run.approval, lapsed), voter, vote);
  if (verdict.kind === 'ignored') return verdict.code;
  return verdict.kind === 'reason-missing' ? { kind: 'form', form: reasonForm(run, action) } : undefined;
}

/** Why the card offers no such button. */
function notOfferedOn(run: PendingRun, { action }: VoteInput): ReasonCode | undefined {
  if (action === 'reject') return undefined;
  // Asked for by an older kdebug, which showed a part of it.
  const unseen = unseenOnCard(run);
  if (unseen) return unseen;
  if (action === 'approve') return undefined;
  if (run.approval.count > 1) return 'grant_of_several';
  // A grant counts single runs.
  return run.batch || !mayGrant(run.approval) ? 'grant_not_allowed' : undefined;
}

/** What a vote came to, by the run after it. */
function verdictOf({ state }: Run): string {
  if (state === 'approved') return 'granted';
  return state === 'rejected' ? 'rejected' : 'counted';
}
