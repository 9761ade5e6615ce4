import { toKdebugError } from '../core/errors.ts';
import { canonicalJson } from '../core/hash.ts';
import { isActive } from '../core/policy/grant.ts';
import { formatBytes } from '../core/report/duration.ts';
import { rehearsalMessage } from '../core/report/explain-messages.ts';
import type { Message } from '../core/report/message.ts';
import { refusalMessage } from '../core/report/private-messages.ts';
import { anchorMessage, resultMessage } from '../core/report/run-messages.ts';
import { isFinal, isSettled, parkedUntilMs } from '../core/run/progress.ts';
import type { Delivery, PostRef, Run } from '../core/run/run.ts';
import type { FlowDeps } from './deps.ts';
import { Latest, pause } from './latest.ts';
import type { LogReaders } from './log-readers.ts';
import type { Place, PostMeta } from './ports.ts';
import type { RunSession } from './session.ts';

/** Pauses between two looks at a running container, ever longer: nobody reads a tail that changes each second for long. */
const TAIL_EVERY_MS = [1_000, 2_000, 4_000, 8_000, 15_000];
const TAIL_LINES = 15;
/** The least time between two updates of one anchor, but for the last. */
const GATHER_MS = 1_500;
/** Pauses between tries while Slack does not take what must be said. */
const RETRY_MS = [1_000, 2_000, 5_000, 15_000, 30_000, 60_000];

/**
 * Says in Slack what a run's state asks for: one anchor, updated from state; one result reply; the log as a file when it is
 * longer than its excerpt; a private refusal. Each is compared with what has been said (`delivery`), so it may be entered
 * again at any time. A post whose answer got lost is looked up by its metadata before it is posted again.
 */
export class Reply {
  readonly #session: RunSession;
  readonly #deps: FlowDeps;
  readonly #readers: LogReaders;
  #shown = '';
  #saidAtMs = 0;
  #failures = 0;
  #seq = 0;
  /** Set when a post of ours may stand in Slack without our knowing: after a crash, or an unanswered call. */
  #doubt: boolean;

  constructor(
    session: RunSession,
    deps: FlowDeps,
    context: { readonly readers: LogReaders; readonly recovered: boolean },
  ) {
    this.#session = session;
    this.#deps = deps;
    this.#readers = context.readers;
    this.#doubt = context.recovered;
  }

  /** Resolves when the run has ended and everything about it has been said. */
  async keepSaying(): Promise<void> {
    const changes = new Latest<true>(this.#deps.clock);
    const stop = this.#session.onChange(() => changes.put(true));
    try {
      let looks = 0;
      while (!(await this.#sayAll()) || !this.#isQuiet()) {
        looks = (await this.#rest(changes, looks)) ? 0 : looks + 1;
      }
    } finally {
      stop();
    }
  }

  /** All is said, and nothing will change but by people or the clock. */
  #isQuiet(): boolean {
    const { run } = this.#session;
    return isSettled(run) || (parkedUntilMs(run) ?? 0) > this.#deps.clock.now();
  }

  /** Until there may be something to say; resolves with whether there was news. */
  async #rest(changes: Latest<true>, looks: number): Promise<boolean> {
    if (this.#failures === 0) return this.#nextLook(changes, this.#pace(looks));
    const retryMs = step(RETRY_MS, this.#failures - 1);
    // A run that has ended brings no more news: only time helps.
    if (!isFinal(this.#session.run.state)) return this.#nextLook(changes, retryMs);
    await pause(this.#deps.clock, retryMs);
    return false;
  }

  /** Waits for news, or `ms`. News that an update soon follows is gathered: a quick run costs three calls in all. */
  async #nextLook(changes: Latest<true>, ms: number): Promise<boolean> {
    const { clock } = this.#deps;
    const untilMs = clock.now() + ms;
    const settledMs = this.#saidAtMs + GATHER_MS;
    let changed = (await changes.next(untilMs)) !== undefined;
    const anyNews = changed;
    while (
      changed &&
      clock.now() < settledMs &&
      this.#session.run.delivery.anchor &&
      !isFinal(this.#session.run.state)
    ) {
      changed = (await changes.next(settledMs)) !== undefined;
    }
    return anyNews;
  }

  #pace(looks: number): number {
    return this.#session.run.state === 'running' || this.#session.run.state === 'collecting'
      ? step(TAIL_EVERY_MS, looks)
      : 60_000;
  }

  /** Resolves with whether Slack took all of it. */
  async #sayAll(): Promise<boolean> {
    try {
      await this.#say(this.#session.run);
      this.#failures = 0;
      return true;
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (error.code === 'lease_lost') throw error;
      if (error.code === 'slack_unanswered') this.#doubt = true;
      this.#failures += 1;
      this.#deps.log.warn('not said yet', { runId: this.#session.run.id, reason: error.code, detail: error.detail });
      return false;
    }
  }

  async #say(run: Run): Promise<void> {
    if (run.state === 'received') return;
    if (run.state === 'denied') {
      if (run.delivery.anchor) await this.#sayAnchor(run);
      return run.refusal && this.#tellOnce(run, refusalMessage(run, run.refusal));
    }
    if (run.rehearsal) return this.#tellOnce(run, rehearsalMessage(run, run.rehearsal));
    await this.#sayAnchor(run);
    if (!isFinal(run.state)) return;
    await this.#sayResult();
    await this.#sayFile();
    const grantClosed = run.grant && !isActive(run.grant, this.#deps.clock.now());
    await this.#record({ closed: true, ...(grantClosed && { grantClosed }) });
  }

  async #tellOnce(run: Run, message: Message): Promise<void> {
    if (run.delivery.told) return;
    const { channelId, requesterId, threadTs, responseUrl } = run.origin;
    const person = {
      channelId,
      userId: requesterId,
      ...(threadTs !== undefined && { threadTs }),
      ...(responseUrl !== undefined && { responseUrl }),
    };
    await this.#deps.thread.tell(person, message);
    await this.#record({ told: true });
  }

  async #sayAnchor(run: Run): Promise<void> {
    const tail = this.#readers.of(run.id)?.tail(TAIL_LINES);
    const message = anchorMessage(run, {
      nowMs: this.#deps.clock.now(),
      approvers: this.#deps.policies.current().approvers,
      ...(tail !== undefined && { tail }),
    });
    const { anchor } = run.delivery;
    if (!anchor) {
      const posted = await this.#postOnce('anchor', placeOf(run), message);
      this.#shown = canonicalJson(message);
      this.#saidAtMs = this.#deps.clock.now();
      await this.#record({ anchor: posted });
      return;
    }
    const now = canonicalJson(message);
    if (now === this.#shown || run.delivery.anchorGone) return;
    await this.#updateAnchor(anchor, message, isFinal(run.state) ? 'final' : 'progress');
    this.#shown = now;
    this.#saidAtMs = this.#deps.clock.now();
  }

  async #updateAnchor(anchor: PostRef, message: Message, lane: 'progress' | 'final'): Promise<void> {
    try {
      await this.#deps.thread.update(anchor, message, this.#meta('anchor'), lane);
    } catch (thrown) {
      // Somebody deleted it: the result then stands alone.
      if (toKdebugError(thrown).code !== 'slack_message_gone') throw thrown;
      await this.#record({ anchorGone: true });
    }
  }

  async #sayResult(): Promise<void> {
    const { run } = this.#session;
    const { result } = run.delivery;
    if (result && run.late) return this.#deps.thread.update(result, resultMessage(run), this.#meta('result'), 'final');
    if (result) return;
    const posted = await this.#postOnce('result', this.#threadOf(run), resultMessage(run));
    await this.#record({ result: posted });
  }

  async #sayFile(): Promise<void> {
    const { run } = this.#session;
    const { log, delivery } = run;
    if (!log || log.omittedLines === 0 || log.bytes === 0 || delivery.fileId !== undefined) return;
    const reader = this.#readers.of(run.id);
    if (!reader) return;
    const { spool } = await reader.result;
    const fileId = await this.#deps.thread.upload(this.#threadOf(run), {
      filename: `kdebug-${run.id}.log`,
      title: `Log of run ${run.id} (${formatBytes(log.bytes)})`,
      bytes: spool.bytes,
      open: () => spool.read(),
    });
    await this.#record({ fileId });
  }

  /** Posts, unless a post of this kind is already there; a closed channel sends it to the requester. */
  async #postOnce(kind: PostMeta['kind'], place: Place, message: Message): Promise<PostRef> {
    const { thread } = this.#deps;
    try {
      if (this.#doubt) {
        const found = await thread.find(
          place,
          { run: this.#session.run.id, kind },
          this.#session.run.origin.receivedAtMs,
        );
        if (found) return found;
      }
      return await thread.post(place, message, this.#meta(kind));
    } catch (thrown) {
      if (toKdebugError(thrown).code !== 'slack_channel_closed') throw thrown;
      const direct = await thread.openDirect(this.#session.run.origin.requesterId);
      return thread.post(direct, message, this.#meta(kind));
    }
  }

  /** Where the result goes: the anchor's thread, or the thread that the request stood in. */
  #threadOf(run: Run): Place {
    const { anchor, anchorGone } = run.delivery;
    if (run.origin.threadTs !== undefined || !anchor || anchorGone) return placeOf(run);
    return { channelId: anchor.channelId, threadTs: anchor.ts };
  }

  #meta(kind: PostMeta['kind']): PostMeta {
    this.#seq += 1;
    return { run: this.#session.run.id, kind, seq: this.#seq };
  }

  async #record(said: Delivery): Promise<void> {
    await this.#session.apply({ kind: 'said', delivery: { ...this.#session.run.delivery, ...said } });
  }
}

const placeOf = (run: Run): Place => ({
  channelId: run.origin.channelId,
  ...(run.origin.threadTs !== undefined && { threadTs: run.origin.threadTs }),
});

const step = (steps: readonly number[], index: number): number => steps[Math.min(index, steps.length - 1)] ?? 0;
