import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { canonicalJson } from '../../core/hash.ts';
import { isActive } from '../../core/policy/grant.ts';
import { isDiagnostic } from '../../core/policy/resolve.ts';
import { rehearsalMessage } from '../../core/report/explain-messages.ts';
import type { Message } from '../../core/report/message.ts';
import { refusalMessage } from '../../core/report/private-messages.ts';
import { anchorMessage } from '../../core/report/run-messages.ts';
import { dueAtMs, isFinal } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { sleep } from '../../lib/clock.ts';
import { defined } from '../../lib/defined.ts';
import { LatestValue } from '../../lib/latest-value.ts';
import { Rounds } from '../../lib/rounds.ts';
import { ApproverCopies } from '../approval/copies.ts';
import type { BatchLogs } from '../batch/logs.ts';
import type { FlowDeps } from '../deps.ts';
import type { HeldRun } from '../held-run.ts';
import type { LogReaders } from '../stages/logs.ts';
import { postAnchor, tellAlone } from './anchor.ts';
import { ResultDelivery } from './result.ts';
import { gatherMs, lookAgainMs, renderContextOf, retryMs, urgentPart } from './schedule.ts';
import { withInvitation } from './slack-connect.ts';
import { Voice } from './voice.ts';

const TAIL_LINES = 15;

/**
 * Says in Slack what a run's state asks for: one anchor, updated from state; one result reply; the log as a file when it is
 * longer than its excerpt; a private refusal. Each is compared with what has been said (`delivery`), so it may be entered
 * again at any time. A post whose answer got lost is looked up by its metadata before it is posted again.
 */
export class Reply {
  readonly #session: HeldRun;
  readonly #deps: FlowDeps;
  readonly #readers: LogReaders;
  readonly #voice: Voice;
  readonly #result: ResultDelivery;
  #shown = '';
  /** What of the run was urgent when it was last said. */
  #shownUrgent = '';
  #saidAtMs = 0;
  #failures = 0;
  #isEndKept = false;
  readonly #copies: ApproverCopies;
  #isAdvanced = false;
  #wake: () => void = () => {};
  readonly #beforeClosing: () => Promise<void>;
  #concluding: { readonly late: boolean; readonly done: Promise<void> } | undefined;

  /** `beforeClosing` is waited for before the run is marked as told: whoever finds it unmarked does it again. */
  constructor(
    session: HeldRun,
    deps: FlowDeps,
    context: {
      readonly readers: LogReaders;
      readonly batchLogs: BatchLogs;
      readonly beforeClosing: () => Promise<void>;
    },
  ) {
    const { readers, batchLogs, beforeClosing } = context;
    this.#session = session;
    this.#deps = deps;
    this.#readers = readers;
    this.#voice = new Voice(session, deps);
    this.#result = new ResultDelivery(this.#voice, { session, deps, readers, batchLogs });
    this.#beforeClosing = beforeClosing;
    this.#copies = new ApproverCopies(this.#voice);
  }

  /**
   * Resolves when all is said of the run, and only people or the clock can bring more to say: with the run as it was said.
   * @throws KdebugError lease_lost
   */
  async keepUp(): Promise<Run> {
    const changes = new LatestValue<true>(this.#deps.clock);
    this.#isAdvanced = false;
    this.#wake = () => changes.put(true);
    const stop = this.#session.onChange(() => changes.put(true));
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
    return isSaid && dueAtMs(run) > 0;
  }

  /** Until there may be something to say; resolves with whether there was news. */
  async #rest(changes: LatestValue<true>, looks: number): Promise<boolean> {
    if (this.#failures === 0) return this.#nextLook(changes, lookAgainMs(this.#session.run, looks));
    const waitMs = retryMs(this.#failures, this.#deps.random);
    // A run that has ended brings no more news: only time helps.
    if (!isFinal(this.#session.run.state)) return this.#nextLook(changes, waitMs);
    await sleep(this.#deps.clock, waitMs);
    return false;
  }

  /** Waits for news, or `ms`. News that an update soon follows is gathered: a quick run costs three calls in all. */
  async #nextLook(changes: LatestValue<true>, ms: number): Promise<boolean> {
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
      dueAtMs(this.#session.run) === 0 &&
      urgentPart(this.#session.run) === this.#shownUrgent
    ) {
      changed = (await changes.next(settledMs)) !== undefined;
    }
    return anyNews;
  }

  /** Resolves with whether Slack took all of it. */
  async #sayAll(): Promise<boolean> {
    try {
      await this.#voice.assertHeld();
      await this.#say(this.#session.run);
      this.#failures = 0;
      return true;
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (error.code === 'lease_lost') throw error;
      if (this.#session.isOver) throw new KdebugError('lease_lost', { cause: thrown });
      // Whatever failed, it may have been the recording of what Slack took.
      this.#voice.doubt = true;
      this.#failures += 1;
      // It may have ended while its last word failed.
      this.#concludeEnd(this.#session.run);
      this.#complain(error);
      return false;
    }
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
    if (run.rehearsal) {
      const message = rehearsalMessage(run, run.rehearsal);
      return this.#tellOnce(run, await withInvitation(message, run.origin, this.#deps));
    }
    await this.#sayAnchor(run);
    await this.#copies.keepUp();
    if (!isFinal(run.state)) return;
    await this.#result.say();
    const grantClosed = run.grant !== undefined && !isActive(run.grant, this.#deps.clock.now());
    await this.#concluding?.done;
    await this.#copies.done();
    await this.#voice.record({ kind: 'completed', grantClosed });
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
    const { doubt, assertHeld: sure } = this.#voice;
    const lost = await tellAlone({ run, message, meta: this.#voice.meta('result'), doubt, sure }, this.#deps);
    await this.#concluding?.done;
    await this.#copies.done();
    await this.#voice.record({ kind: 'private-answer-sent', ...defined({ lost }) });
  }

  async #sayAnchor(run: Run): Promise<void> {
    const hidesReport = run.plan !== undefined && isDiagnostic(run.plan, this.#deps.policies.current());
    const tail = this.#readers.of(run.id)?.tail(TAIL_LINES, hidesReport);
    const message = anchorMessage(run, { ...(await renderContextOf(run, this.#deps)), ...defined({ tail }) });
    const { anchor, anchorGone } = run.delivery;
    this.#shownUrgent = urgentPart(run);
    if (anchorGone) return;
    if (!anchor) return this.#postAnchor(message);
    const now = canonicalJson(message);
    if (now === this.#shown) return;
    const isUpdated = await this.#voice.update('anchor', anchor, message, isFinal(run.state) ? 'final' : 'progress');
    // The result then stands alone.
    if (!isUpdated) await this.#voice.record({ kind: 'anchor-lost' });
    this.#shown = now;
    this.#saidAtMs = this.#deps.clock.now();
  }

  async #postAnchor(message: Message): Promise<void> {
    const posted = await postAnchor(this.#voice, message);
    if (!posted) return;
    this.#shown = posted.found ? '' : canonicalJson(message);
    this.#saidAtMs = this.#deps.clock.now();
    await this.#voice.record({ kind: 'anchor-posted', ref: posted.ref });
    // What was found says what was true then.
    if (posted.found) await this.#sayAnchor(this.#session.run);
  }
}
