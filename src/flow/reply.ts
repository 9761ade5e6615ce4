import { KdebugError, toKdebugError } from '../core/errors.ts';
import { canonicalJson } from '../core/hash.ts';
import { isActive } from '../core/policy/grant.ts';
import { isDiagnostic } from '../core/policy/resolve-image.ts';
import { rehearsalMessage } from '../core/report/explain-messages.ts';
import type { Message } from '../core/report/message.ts';
import { refusalMessage } from '../core/report/private-messages.ts';
import { anchorMessage, resultMessage } from '../core/report/run-messages.ts';
import { Rounds } from '../core/rounds.ts';
import { isFinal, isSettled, parkedUntilMs } from '../core/run/progress.ts';
import type { Delivery, PostRef, Run } from '../core/run/run.ts';
import { ApproverCopies } from './approver-copies.ts';
import type { BatchLogs } from './batch/batch-logs.ts';
import type { FlowDeps } from './deps.ts';
import { Latest, pause } from './latest.ts';
import type { LogReaders } from './log-readers.ts';
import { momentOf } from './moment.ts';
import { placeOf, resultPlaceOf } from './places.ts';
import type { Place, PostMeta } from './ports/slack.ts';
import { isForGood, type Posted, postOnce } from './post-once.ts';
import { gatherMs, lookAgainMs, retryMs, urgentPart } from './reply-pace.ts';
import type { RunSession } from './session.ts';
import { shareFiles } from './share-files.ts';
import { tellAlone } from './tell-alone.ts';

const TAIL_LINES = 15;
/** How long after the store last took a word of ours it is still certain that the run is ours: less than any lease. */
const SURE_MS = 2_000;

/**
 * Says in Slack what a run's state asks for: one anchor, updated from state; one result reply; the log as a file when it is
 * longer than its excerpt; a private refusal. Each is compared with what has been said (`delivery`), so it may be entered
 * again at any time. A post whose answer got lost is looked up by its metadata before it is posted again.
 */
export class Reply {
  readonly #session: RunSession;
  readonly #deps: FlowDeps;
  readonly #readers: LogReaders;
  readonly #batchLogs: BatchLogs;
  #shown = '';
  /** What of the run was urgent when it was last said. */
  #shownUrgent = '';
  #saidAtMs = 0;
  #failures = 0;
  #seq = 0;
  /** Set when a post of ours may stand in Slack without our knowing: after a crash, or an unanswered call. */
  #doubt: boolean;
  #sureAtMs: number;
  #isEndKept = false;
  readonly #copies: ApproverCopies;
  #isAdvanced = false;
  #wake: () => void = () => {};
  readonly #beforeClosing: () => Promise<void>;
  #concluding: { readonly late: boolean; readonly done: Promise<void> } | undefined;

  /** `beforeClosing` is waited for before the run is marked as told: whoever finds it unmarked does it again. */
  constructor(
    session: RunSession,
    deps: FlowDeps,
    context: {
      readonly readers: LogReaders;
      readonly batchLogs: BatchLogs;
      readonly beforeClosing: () => Promise<void>;
    },
  ) {
    this.#session = session;
    this.#deps = deps;
    this.#readers = context.readers;
    this.#batchLogs = context.batchLogs;
    this.#doubt = session.recovered;
    this.#sureAtMs = deps.clock.now();
    this.#beforeClosing = context.beforeClosing;
    this.#copies = new ApproverCopies(session, deps, () => this.#beSure());
  }

  /**
   * Resolves when all is said of the run, and only people or the clock can bring more to say: with the run as it was said.
   * @throws KdebugError lease_lost
   */
  async keepSaying(): Promise<Run> {
    const changes = new Latest<true>(this.#deps.clock);
    this.#isAdvanced = false;
    this.#wake = () => changes.put(true);
    const stop = this.#session.onChange((kept) => {
      if (kept) this.#sureAtMs = this.#deps.clock.now();
      changes.put(true);
    });
    try {
      const rounds = new Rounds(this.#deps.clock);
      let looks = 0;
      for (;;) {
        await rounds.next();
        if (this.#isLeft()) return this.#session.run;
        const before = this.#session.run;
        if ((await this.#sayAll()) && this.#isQuiet(before)) return before;
        looks = (await this.#rest(changes, looks)) ? 0 : looks + 1;
      }
    } finally {
      stop();
    }
  }

  /** Nobody moves the run on until this has returned: a vote may come while approvers are still being told. */
  advanced(): void {
    this.#isAdvanced = true;
    if (this.#isLeft()) this.#wake();
  }

  #isLeft(): boolean {
    const { state } = this.#session.run;
    return this.#isAdvanced && state !== 'pending-approval' && !isFinal(state);
  }

  /**
   * Nothing will change but by people or the clock, and nobody has changed anything since the run was `before`, as it was said. When
   * the time of a parked run is over, whoever holds it takes it up again.
   */
  #isQuiet(before: Run): boolean {
    const { run } = this.#session;
    const isSaid = run.state === before.state && run.approval === before.approval && run.grant === before.grant;
    return isSaid && (isSettled(run) || parkedUntilMs(run) !== undefined);
  }

  /** Until there may be something to say; resolves with whether there was news. */
  async #rest(changes: Latest<true>, looks: number): Promise<boolean> {
    if (this.#failures === 0) return this.#nextLook(changes, lookAgainMs(this.#session.run, looks));
    const waitMs = retryMs(this.#failures);
    // A run that has ended brings no more news: only time helps.
    if (!isFinal(this.#session.run.state)) return this.#nextLook(changes, waitMs);
    await pause(this.#deps.clock, waitMs);
    return false;
  }

  /** Waits for news, or `ms`. News that an update soon follows is gathered: a quick run costs three calls in all. */
  async #nextLook(changes: Latest<true>, ms: number): Promise<boolean> {
    const { clock } = this.#deps;
    const untilMs = clock.now() + ms;
    const settledMs = this.#saidAtMs + gatherMs(this.#session.run, clock.now());
    let changed = (await changes.next(untilMs)) !== undefined;
    const anyNews = changed;
    while (
      changed &&
      !this.#session.isOver &&
      !this.#isLeft() &&
      clock.now() < settledMs &&
      this.#session.run.delivery.anchor &&
      !isFinal(this.#session.run.state) &&
      // Who clicks elsewhere must not wait for us.
      parkedUntilMs(this.#session.run) === undefined &&
      urgentPart(this.#session.run) === this.#shownUrgent
    ) {
      changed = (await changes.next(settledMs)) !== undefined;
    }
    return anyNews;
  }

  /** Resolves with whether Slack took all of it. */
  async #sayAll(): Promise<boolean> {
    try {
      await this.#beSure();
      await this.#say(this.#session.run);
      this.#failures = 0;
      return true;
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (error.code === 'lease_lost') throw error;
      if (this.#session.isOver) throw new KdebugError('lease_lost', { cause: thrown });
      // Whatever failed, it may have been the recording of what Slack took.
      this.#doubt = true;
      this.#failures += 1;
      // It may have ended while its last word failed.
      this.#concludeEnd(this.#session.run);
      this.#complain(error);
      return false;
    }
  }

  /** A process that stood still for a while may have lost the run to another. @throws KdebugError lease_lost */
  async #beSure(): Promise<void> {
    const nowMs = this.#deps.clock.now();
    if (this.#session.isOver) throw new KdebugError('lease_lost');
    if (nowMs - this.#sureAtMs < SURE_MS) return;
    await this.#session.save();
    this.#sureAtMs = nowMs;
  }

  #complain({ code, detail }: KdebugError): void {
    const fields = { runId: this.#session.run.id, reason: code, detail };
    // Only an operator can mend a token; runs are kept and told once there is a good one.
    if (code === 'slack_token_rejected') this.#deps.log.error('Slack refuses the token, nothing can be said', fields);
    else this.#deps.log.warn('not said yet', fields);
  }

  async #say(run: Run): Promise<void> {
    if (run.state === 'received') return;
    await this.#keepEnd(run);
    this.#concludeEnd(run);
    if (run.state === 'denied') {
      if (run.delivery.anchor) await this.#sayAnchor(run);
      await this.#copies.keepUp();
      return run.refusal && this.#tellOnce(run, refusalMessage(run, run.refusal));
    }
    if (run.rehearsal) return this.#tellOnce(run, rehearsalMessage(run, run.rehearsal));
    await this.#sayAnchor(run);
    await this.#copies.keepUp();
    if (!isFinal(run.state)) return;
    await this.#sayResult();
    await this.#sayFiles();
    const grantClosed = run.grant && !isActive(run.grant, this.#deps.clock.now());
    await this.#concluding?.done;
    await this.#copies.done();
    await this.#record({ closed: true, ...(grantClosed && { grantClosed }) });
  }

  /** A batch at work is ahead of the store; what its last card offers must hold for who clicks at once, at whichever replica. */
  async #keepEnd({ batch, state }: Run): Promise<void> {
    if (!batch || !isFinal(state) || this.#isEndKept) return;
    await this.#session.save();
    this.#isEndKept = true;
  }

  /** What happened is on record whether or not Slack can be told of it. */
  #concludeEnd(run: Run): void {
    const { closed, told } = run.delivery;
    if (isFinal(run.state) && !closed && !told) this.#conclude(run);
  }

  /** Each end once: one that came late is another than the one that was given up. */
  #conclude({ late = false }: Run): void {
    if (this.#concluding?.late !== late) this.#concluding = { late, done: this.#beforeClosing() };
  }

  async #tellOnce(run: Run, message: Message): Promise<void> {
    if (run.delivery.told) return;
    const post = { run, message, meta: this.#meta('result'), doubt: this.#doubt };
    await tellAlone({ ...post, sure: () => this.#beSure() }, this.#deps);
    await this.#concluding?.done;
    await this.#copies.done();
    await this.#record({ told: true });
  }

  async #sayAnchor(run: Run): Promise<void> {
    const hidesReport = run.plan !== undefined && isDiagnostic(run.plan, this.#deps.policies.current());
    const tail = this.#readers.of(run.id)?.tail(TAIL_LINES, hidesReport);
    const message = anchorMessage(run, { ...(await momentOf(run, this.#deps)), ...(tail !== undefined && { tail }) });
    const { anchor } = run.delivery;
    this.#shownUrgent = urgentPart(run);
    if (!anchor) {
      const { ref, found } = await this.#postOnce('anchor', placeOf(run), message);
      this.#shown = found ? '' : canonicalJson(message);
      this.#saidAtMs = this.#deps.clock.now();
      await this.#record({ anchor: ref });
      // What was found says what was true then.
      if (found) await this.#sayAnchor(this.#session.run);
      return;
    }
    const now = canonicalJson(message);
    if (now === this.#shown || run.delivery.anchorGone) return;
    const isUpdated = await this.#update('anchor', anchor, message, isFinal(run.state) ? 'final' : 'progress');
    // The result then stands alone.
    if (!isUpdated) await this.#record({ anchorGone: true });
    this.#shown = now;
    this.#saidAtMs = this.#deps.clock.now();
  }

  /** False: it stays as it is, deleted, in a closed channel, or not ours to change since the app was installed anew. */
  async #update(kind: PostMeta['kind'], ref: PostRef, message: Message, lane: 'progress' | 'final'): Promise<boolean> {
    const { thread, log } = this.#deps;
    try {
      await thread.update(ref, message, this.#meta(kind), lane);
      return true;
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      if (!isForGood(code)) throw thrown;
      log.warn(`the ${kind} stays as it is`, { runId: this.#session.run.id, reason: code, detail });
      return false;
    }
  }

  async #sayResult(): Promise<void> {
    const { run } = this.#session;
    const { result } = run.delivery;
    if (result && !run.late) return;
    const moment = await momentOf(run, this.#deps);
    // A late end is output too: it is not added to a result that people of another company can read by now.
    if (result && (!moment.isPrivate || result.channelId !== run.origin.channelId)) return this.#updateResult(result);
    const place = await resultPlaceOf(run, moment.isPrivate, this.#deps.thread);
    const { ref } = await this.#postOnce('result', place, resultMessage(run, moment));
    await this.#record({ result: ref });
  }

  async #sayFiles(): Promise<void> {
    const session = this.#session;
    const share = { session, deps: this.#deps, readers: this.#readers, batchLogs: this.#batchLogs, doubt: this.#doubt };
    const wasLost = session.run.delivery.fileLost;
    await shareFiles({ ...share, sure: () => this.#beSure() }, (said) => this.#record(said));
    const { result, fileLost } = session.run.delivery;
    if (fileLost !== wasLost && result) await this.#updateResult(result);
  }

  async #updateResult(result: PostRef): Promise<void> {
    const { run } = this.#session;
    await this.#update('result', result, resultMessage(run, await momentOf(run, this.#deps)), 'final');
  }

  async #postOnce(kind: PostMeta['kind'], place: Place, message: Message): Promise<Posted> {
    await this.#beSure();
    const { run } = this.#session;
    const post = { run, place, message, meta: this.#meta(kind), doubt: this.#doubt };
    return postOnce(this.#deps.thread, { ...post, sure: () => this.#beSure() });
  }

  #meta(kind: PostMeta['kind']): PostMeta {
    this.#seq += 1;
    return { run: this.#session.run.id, kind, seq: this.#seq };
  }

  /** What is on record already is no news: it would end the wait of the very loop that says it. */
  async #record(said: Delivery): Promise<void> {
    const { delivery } = this.#session.run;
    const next = { ...delivery, ...said };
    if (canonicalJson(next) !== canonicalJson(delivery)) await this.#session.apply({ kind: 'said', delivery: next });
  }
}
