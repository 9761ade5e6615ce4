import { type KdebugError, toKdebugError } from '../../core/errors.ts';
import { canonicalJson } from '../../core/hash.ts';
import { isDiagnostic } from '../../core/planning/resolve.ts';
import { isFinal, isUnattended, type NextPost, nextPost } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import { rehearsalMessage } from '../../core/say/answers/explain-messages.ts';
import type { Message } from '../../core/say/message/message.ts';
import { resolvedMessage } from '../../core/say/run/alert-messages.ts';
import { approvedMessage } from '../../core/say/run/approved-message.ts';
import { anchorMessage } from '../../core/say/run/run-messages.ts';
import { defined } from '../../lib/object.ts';
import { refusalOrOffer } from '../again/same-again.ts';
import { record } from '../context/audit.ts';
import {
  destinationOf,
  privateDestinationOf,
  resultDestinationOf,
  threadOf,
  whereOf,
} from '../context/destinations.ts';
import { isForGood, landedOf, type Posted, postOnce } from '../context/post-once.ts';
import { refusal } from '../context/refusals.ts';
import { isForRequesterAlone, saysNotIn, withInvitation } from '../planning/channel-check.ts';
import type { Destination } from '../ports/slack.ts';
import { ApproverCopies } from './copies.ts';
import type { FileSource } from './files.ts';
import { ResultDelivery } from './result.ts';
import { renderContextOf, urgentPart } from './schedule.ts';
import type { Voice } from './voice.ts';

const TAIL_LINES = 15;

interface ShownCard {
  readonly json: string;
  readonly atMs: number;
}

/**
 * Makes the posts that a run's state needs (`nextPost`): one card, updated from state; one result with its files; a private answer.
 * Compares each with what Slack has (`Run.delivery`), so any call may be repeated.
 */
export class RunPosts {
  readonly #voice: Voice;
  readonly #source: FileSource;
  readonly #result: ResultDelivery;
  readonly #copies: ApproverCopies;
  readonly #beforeClosing: () => Promise<void>;
  #shown: ShownCard = { json: '', atMs: Number.NEGATIVE_INFINITY };
  #shownUrgent = '';
  #isEndSaved = false;
  #concluding: { readonly endedLate: boolean; readonly done: Promise<void> } | undefined;

  /** `beforeClosing` must end before the run is recorded as delivered: a replica that finds no record repeats it. */
  constructor(voice: Voice, source: FileSource, beforeClosing: () => Promise<void>) {
    this.#voice = voice;
    this.#source = source;
    this.#result = new ResultDelivery(voice, source);
    this.#copies = new ApproverCopies(voice);
    this.#beforeClosing = beforeClosing;
  }

  /** 0: never by this process. */
  get cardAtMs(): number {
    return this.#shown.atMs;
  }

  lacksUrgent(run: Run): boolean {
    return urgentPart(run) !== this.#shownUrgent;
  }

  /** @throws KdebugError lease_lost, or a failure that may pass */
  async makeAll(): Promise<void> {
    const { run } = this.#voice;
    if (run.state === 'received') return;
    await this.#saveEnd(run);
    this.concludeEnd(run);
    const done = new Set<NextPost['kind']>();
    const isWithheld = isUnattended(run) && (await isForRequesterAlone(run, this.#voice.deps));
    for (;;) {
      // Fix the state, so that the last card is never behind the result; add what has been delivered since.
      const asOf = { ...run, delivery: this.#voice.run.delivery };
      const post = nextPost(asOf, { done, nowMs: this.#voice.deps.clock.now() });
      if (post.kind === 'nothing') return;
      if (isWithheld && post.kind !== 'completion') await this.#withhold(post.kind);
      else await this.#make(post, run);
      done.add(post.kind);
    }
  }

  /** Records the end of a run whether or not Slack is reachable. Once per end: a late end is another one. */
  concludeEnd({ state, delivery, late: endedLate = false }: Run): void {
    if (!isFinal(state) || delivery.closed || delivery.told || this.#concluding?.endedLate === endedLate) return;
    this.#concluding = { endedLate, done: this.#beforeClosing() };
  }

  /** Another company reads the channel by now, and nobody asked who could read this elsewhere. It is never made up for. */
  async #withhold(kind: NextPost['kind']): Promise<void> {
    const { run, deps } = this.#voice;
    if (kind === 'card' && run.delivery.anchorGone) return;
    deps.log.error('a channel is shared, nobody was told', { runId: run.id, kind, ...whereOf(run) });
    deps.metrics.deliveryLost();
    if (kind === 'result') await this.#voice.record({ kind: 'result-lost', code: 'channel_shared' });
    else if (kind === 'card') await this.#voice.record({ kind: 'anchor-lost' });
    else await this.#voice.record({ kind: kind === 'resolved' ? 'resolved-posted' : 'approval-posted' });
  }

  async #make(post: NextPost, run: Run): Promise<void> {
    switch (post.kind) {
      case 'nothing':
        return;
      case 'card':
        await this.#showCard(run);
        return this.#copies.catchUp();
      case 'approval':
        return this.#postApproval();
      case 'refusal':
        return this.#answerPrivately(run, await refusalOrOffer(run, post.refusal, this.#voice.deps));
      case 'dry-run': {
        const { deps } = this.#voice;
        const message = rehearsalMessage(run, post.rehearsal, deps.policies.current().output.redact);
        return this.#answerPrivately(run, await withInvitation(message, run.origin, deps));
      }
      case 'result':
        return this.#result.deliver();
      case 'resolved': {
        const posted = await this.#postReply('resolved', threadOf(run), resolvedMessage(run));
        return this.#voice.record({ kind: 'resolved-posted', ...landedOf(posted) });
      }
      case 'completion': {
        const { kind: _, ...completed } = post;
        await this.#allDone();
        return this.#voice.record({ kind: 'completed', ...completed });
      }
    }
  }

  /** Posts the approval where the result will be. If Slack refuses the post for good, the card shows the approval. */
  async #postApproval(): Promise<void> {
    const { run, deps } = this.#voice;
    const { isPrivate } = await renderContextOf(run, deps);
    const destination = await resultDestinationOf(run, isPrivate, deps.thread);
    const posted = await this.#postReply('approval', destination, approvedMessage(run));
    await this.#voice.record({ kind: 'approval-posted', ...landedOf(posted) });
  }

  /** A reply that the run can do without. Undefined: Slack refuses it for good. */
  async #postReply(
    kind: 'approval' | 'resolved',
    destination: Destination,
    message: Message,
  ): Promise<Posted | undefined> {
    const { run, deps } = this.#voice;
    try {
      return await this.#voice.post(kind, destination, message);
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      if (!isForGood(code)) throw thrown;
      deps.log.warn('Slack refused a reply', { runId: run.id, kind, reason: code, detail });
      return undefined;
    }
  }

  /** A running batch is ahead of the store. Save it first: the buttons of its last card must work at once at every replica. */
  async #saveEnd({ batch, state }: Run): Promise<void> {
    if (!batch || !isFinal(state) || this.#isEndSaved) return;
    await this.#voice.held.save();
    this.#isEndSaved = true;
  }

  async #allDone(): Promise<void> {
    await this.#concluding?.done;
    await this.#copies.done();
  }

  async #showCard(run: Run): Promise<void> {
    const { deps } = this.#voice;
    const hidesReport = run.plan !== undefined && isDiagnostic(run.plan, deps.policies.current());
    const tail = this.#source.readers.of(run.id)?.tail(TAIL_LINES, hidesReport);
    const message = anchorMessage(run, { ...(await renderContextOf(run, deps)), ...defined({ tail }) });
    const { anchor, anchorGone } = run.delivery;
    this.#shownUrgent = urgentPart(run);
    if (anchorGone) return;
    if (!anchor) return this.#postCard(message);
    const json = canonicalJson(message);
    if (json === this.#shown.json) return;
    const isUpdated = await this.#voice.update('anchor', anchor, message, isFinal(run.state) ? 'final' : 'progress');
    // The result then stands without a card.
    if (!isUpdated) await this.#voice.record({ kind: 'anchor-lost' });
    this.#shown = { json, atMs: deps.clock.elapsed() };
  }

  /**
   * Posts the card. If its channel refuses, nobody could decide or watch, so a run that has not been launched is denied. A card that asks
   * for approval never goes to the requester's direct message. After a launch the card may go there, and without any card the run
   * continues.
   */
  async #postCard(message: Message): Promise<void> {
    const posted = await this.#cardPosted(message);
    if (!posted) return;
    this.#shown = { json: posted.found ? '' : canonicalJson(message), atMs: this.#voice.deps.clock.elapsed() };
    await this.#voice.record({ kind: 'anchor-posted', ref: posted.ref, ...landedOf(posted) });
    if (posted.found) await this.#showCard(this.#voice.run);
  }

  /** Undefined: there will be no card. @throws failures that may pass */
  async #cardPosted(message: Message): Promise<Posted | undefined> {
    const { run, refused } = this.#voice;
    const canBeDenied = run.state === 'pending-approval' || (run.state === 'approved' && !run.batch);
    try {
      return await this.#voice.post('anchor', destinationOf(run), message, { toDirect: !canBeDenied });
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (!refused.isOver('anchor', error)) throw error;
      this.#tellLoss(error);
      if (canBeDenied) await this.#deny(saysNotIn(error.facts.error) ? 'bot_not_in_channel' : 'channel_takes_no_posts');
      else await this.#voice.record({ kind: 'anchor-lost' });
      return undefined;
    }
  }

  #tellLoss({ code, detail }: KdebugError): void {
    const { run, deps } = this.#voice;
    deps.log.error('Slack refused the card everywhere', { runId: run.id, reason: code, detail, ...whereOf(run) });
    // Of a run that nobody asked for, the card is what people get.
    if (isUnattended(run)) deps.metrics.deliveryLost();
  }

  /** Changes nothing if the run was launched meanwhile; its card is then posted as a running run's. */
  async #deny(code: 'bot_not_in_channel' | 'channel_takes_no_posts'): Promise<void> {
    const { held, deps } = this.#voice;
    await record(deps, held.run, 'decision', { kind: 'deny', code, at: 'post' });
    await held.apply({ kind: 'unheard', refusal: refusal(code), atMs: deps.clock.now() });
  }

  /**
   * Answers only the requester: where they asked, else by direct message. If Slack refuses both, logs it: nothing was started, so the run
   * need not wait.
   */
  async #answerPrivately(run: Run, message: Message): Promise<void> {
    let lost: string | undefined;
    try {
      await this.#answerSomewhere(run, message);
    } catch (thrown) {
      const { code, detail } = toKdebugError(thrown);
      if (!isForGood(code)) throw thrown;
      this.#voice.deps.log.error('could not notify requester', { runId: run.id, reason: code, detail });
      lost = code;
    }
    await this.#allDone();
    await this.#voice.record({ kind: 'private-answer-sent', ...defined({ lost }) });
  }

  async #answerSomewhere(run: Run, message: Message): Promise<void> {
    const { doubt, assertHeld, deps } = this.#voice;
    const { thread } = deps;
    const meta = this.#voice.meta('result');
    try {
      await thread.tell(privateDestinationOf(run), message);
    } catch (thrown) {
      if (!isForGood(toKdebugError(thrown).code)) throw thrown;
      const destination = await thread.openDirect(run.origin.requesterId);
      await postOnce(thread, { run, message, meta, doubt, assertHeld, destination });
    }
  }
}
