import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { isSamePost, shownOnCopies, staleCopies } from '../../core/run/copies.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { Copy, Notice, SentCopies } from '../../core/run/sent-copies.ts';
import type { Message } from '../../core/say/message/message.ts';
import { copyMessage, reminderMessage } from '../../core/say/run/copy-messages.ts';
import { sleep } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { begunBy, destinationOfCopy, lost, whomToAsk, withFound } from '../approval/whom-to-ask.ts';
import type { FlowDeps } from '../context/deps.ts';
import type { HeldRun } from '../context/held-run.ts';
import { isForGood } from '../context/post-once.ts';
import type { PendingRun } from '../planning/approvers.ts';
import { withoutOwnLog } from '../planning/channel-check.ts';
import type { Destination, PostMeta } from '../ports/slack.ts';
import { renderContextOf, retryMs } from './schedule.ts';
import type { Voice } from './voice.ts';

/** Tries per message, and for the first look for its recipients. The run does not wait for them. */
const MAX_TRIES = 3;

/**
 * Sends a pending request to approvers who do not see its card (`whomToAsk`), looks again for those whom Slack did not tell, reminds them
 * once at half time, and edits the copies when votes arrive. Works in the background: no failure here delays the run. Stores the recipients
 * before the first message, and each message once posted, so any replica can continue. Searches for a possibly unrecorded message before it
 * sends it again.
 */
export class ApproverCopies {
  readonly #voice: Voice;
  readonly #held: HeldRun;
  readonly #deps: FlowDeps;
  #doubt: boolean;
  #failures = 0;
  readonly #tries = new Map<string, number>();
  readonly #links = new Map<string, Promise<string | undefined>>();
  #work: Promise<void> | undefined;
  #next: SentCopies | undefined;

  constructor(voice: Voice) {
    const { held, deps } = voice;
    this.#voice = voice;
    this.#held = held;
    this.#deps = deps;
    this.#doubt = held.recovered && (held.run.asked?.waiting.length ?? 0) > 0;
  }

  /** Starts what is due now. Does not wait for its messages. @throws as `HeldRun.apply` */
  async catchUp(): Promise<void> {
    await this.#begin();
    if (this.#nextRound()) this.#work ??= this.#workOff();
  }

  /** Resolves when nothing is left to do; bounded, whatever Slack does. Never rejects. */
  async done(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  /** Records what begins before it does, so each reminder is sent once. */
  async #begin(): Promise<void> {
    const begun = begunBy(this.#deps.clock.now(), this.#held.run);
    if (begun) await this.#record(begun);
  }

  async #workOff(): Promise<void> {
    try {
      for (let round = this.#nextRound(); round && !this.#held.isOver; round = this.#nextRound()) {
        await this.#try(round);
      }
    } finally {
      this.#work = undefined;
    }
  }

  #nextRound(): (() => Promise<void>) | undefined {
    const { run } = this.#held;
    const { asked: sent } = run;
    if (!run.delivery.anchor || this.#held.isOver) return undefined;
    if (!sent) return isPending(run) ? () => this.#plan(run) : undefined;
    if (sent.waiting.length > 0) return () => this.#each(sent.waiting, (notice) => this.#send(notice));
    const looksAgain = sent.again && sent.again.atMs === undefined;
    if (looksAgain && isPending(run)) return () => this.#plan(run);
    const stale = staleCopies(run);
    return stale.length > 0 ? () => this.#each(stale, (copy) => this.#edit(copy)) : undefined;
  }

  async #try(round: () => Promise<void>): Promise<void> {
    try {
      await round();
      this.#failures = 0;
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      if (code === 'lease_lost' || this.#held.isOver) return this.#held.abandon();
      this.#doubt = true;
      this.#failures += 1;
      this.#deps.log.warn('approvers not notified yet, will retry', {
        runId: this.#held.run.id,
        reason: code,
        detail,
      });
      await sleep(this.#deps.clock, retryMs(this.#failures, this.#deps.random));
    }
  }

  /** Runs all at once, which soon frees the run for clicks at other replicas. Throws the first failure after all have ended. */
  async #each<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
    const ends = await Promise.allSettled(items.map(act));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #plan(run: PendingRun): Promise<void> {
    // A further look is one try: between two of them the run is free for clicks at other replicas.
    const isLastTry = run.asked !== undefined || this.#isLastTry('plan');
    const found = await whomToAsk(run, this.#deps, isLastTry);
    const sent = this.#next ?? this.#held.run.asked;
    await this.#record(sent ? withFound(sent, found) : found);
  }

  /** Sends one message, unless Slack already has it or the request is decided. */
  async #send(notice: Notice): Promise<void> {
    const key = JSON.stringify(notice);
    const copies: Copy[] = [];
    let isLost = false;
    try {
      const copy = await this.#copyOf(notice);
      if (copy) copies.push(copy);
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      if (code === DECIDED) return;
      if (code === 'lease_lost' || !(isForGood(code) || this.#isLastTry(key))) throw thrown;
      this.#deps.log.warn('approver not notified, giving up', { runId: this.#held.run.id, reason: code, detail });
      isLost = true;
    }
    await this.#change((sent) => {
      const rest = { ...sent, waiting: sent.waiting.filter((each) => JSON.stringify(each) !== key) };
      return isLost ? lost(rest, notice) : { ...rest, copies: [...rest.copies, ...copies] };
    });
  }

  /** Undefined: nothing to record. */
  async #copyOf(notice: Notice): Promise<Copy | undefined> {
    const { thread } = this.#deps;
    const { run } = this.#held;
    if (!isPending(run) && (notice.kind === 'reminder' || !this.#doubt)) return undefined;
    const destination = 'userId' in notice ? await thread.openDirect(notice.userId) : destinationOfCopy(notice);
    const meta = this.#voice.meta(notice.kind);
    const found = this.#doubt ? await thread.find(destination, meta, run.origin.receivedAtMs) : undefined;
    const ref = found ?? (await this.#post(destination, notice, meta));
    if (!ref) return undefined;
    if (notice.kind === 'reminder')
      return notice.threadTs === undefined ? { ...ref, shows: '', isReminder: true } : undefined;
    // A message found by search may show an older state.
    return {
      ...ref,
      shows: found ? '' : shownOnCopies(run),
      ...defined({ userId: 'userId' in notice ? notice.userId : undefined }),
    };
  }

  /** Undefined: the request is already decided. */
  async #post(destination: Destination, notice: Notice, meta: PostMeta): Promise<PostRef | undefined> {
    const { run } = this.#held;
    if (!isPending(run)) return undefined;
    const message = await this.#messageOf(notice, run, destination);
    return this.#deps.thread.post(destination, message, meta, () => this.#sureOpen());
  }

  async #sureOpen(): Promise<void> {
    await this.#voice.assertHeld();
    if (!isPending(this.#held.run)) throw new KdebugError(DECIDED);
  }

  async #card(run: Run, { channelId }: Pick<Copy, 'channelId'>): Promise<Message> {
    const shown = await withoutOwnLog(run, channelId, this.#deps);
    return copyMessage(shown, await renderContextOf(run, this.#deps), await this.#linkTo(run.delivery.anchor));
  }

  async #messageOf(notice: Notice, run: Run, destination: Destination): Promise<Message> {
    if (notice.kind === 'copy') return this.#card(run, destination);
    const { approvers } = this.#deps.policies.current();
    const context = { approvers, nowMs: this.#deps.clock.now() };
    if (notice.threadTs === undefined) {
      const card = run.asked?.copies.find((copy) => copy.channelId === notice.channelId && !copy.isReminder);
      return reminderMessage(run, { ...context, url: await this.#linkTo(card) });
    }
    return reminderMessage(run, { ...context, mentionsThem: notice.channelId === run.delivery.anchor?.channelId });
  }

  async #edit(copy: Copy): Promise<void> {
    const { run } = this.#held;
    const shows = shownOnCopies(run);
    const key = `${copy.channelId}:${copy.ts}:${shows}`;
    const meta = this.#voice.meta(copy.isReminder ? 'reminder' : 'copy');
    try {
      const message = await this.#card(run, copy);
      await this.#voice.assertHeld();
      await this.#deps.thread.update(copy, message, meta, laneOf(run));
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      if (code === 'lease_lost' || !(isForGood(code) || this.#isLastTry(key))) throw thrown;
      this.#deps.log.warn('copy of card not updated, giving up', { runId: run.id, reason: code, detail });
    }
    await this.#change((sent) => ({
      ...sent,
      copies: sent.copies.map((each) => (isSamePost(each, copy) ? { ...each, shows } : each)),
    }));
  }

  /** Best effort. */
  async #linkTo(ref: PostRef | undefined): Promise<string | undefined> {
    if (!ref) return undefined;
    const known = this.#links.get(ref.ts) ?? this.#deps.thread.permalink(ref).catch(() => undefined);
    this.#links.set(ref.ts, known);
    return known;
  }

  #isLastTry(key: string): boolean {
    const tries = (this.#tries.get(key) ?? 0) + 1;
    this.#tries.set(key, tries);
    return tries >= MAX_TRIES;
  }

  /** Changes from concurrent sends build on each other, whenever each is saved. */
  async #change(next: (sent: SentCopies) => SentCopies): Promise<void> {
    const sent = this.#next ?? this.#held.run.asked;
    if (sent) await this.#record(next(sent));
  }

  async #record(sent: SentCopies): Promise<void> {
    this.#next = sent;
    try {
      await this.#held.apply({ kind: 'asked', asked: sent });
    } finally {
      if (this.#next === sent) this.#next = undefined;
    }
  }
}

/**
 * While votes count, this replica holds the run until the copies show them. After the decision nobody waits, and someone who repeatedly
 * asks and withdraws must not delay the final updates of other cards.
 */
const laneOf = ({ state }: Run) => (state === 'pending-approval' ? 'final' : 'progress');

const DECIDED = 'approval_decided';

const isPending = (run: Run): run is PendingRun => run.state === 'pending-approval' && run.approval !== undefined;
