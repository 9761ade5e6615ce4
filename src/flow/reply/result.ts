import { type KdebugError, toKdebugError } from '../../core/errors.ts';
import type { Message } from '../../core/report/message.ts';
import { fileMessage } from '../../core/report/parts/result-parts.ts';
import { resultMessage } from '../../core/report/run-messages.ts';
import type { SharedFiles } from '../../core/run/delivery.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { Destination, Shared } from '../ports/slack.ts';
import { fileDestinationOf, privateDestinationOf, resultDestinationOf } from './destinations.ts';
import { type FileSource, filesOf, sharedFiles, wantedFiles } from './files.ts';
import { isForGood, onceAt } from './post-once.ts';
import { renderContextOf } from './schedule.ts';
import type { Voice } from './voice.ts';

/** How long, or how many tries, a result waits for its files before it is posted without them. */
const PATIENCE_MS = 60_000;
const MAX_TRIES = 3;

/**
 * Posts the result of a finished run together with its files: one message. A late end updates the existing result and shares its own log in
 * a second message. Any call may be repeated.
 */
export class ResultDelivery {
  readonly #voice: Voice;
  readonly #source: FileSource;
  #sharing: { readonly sinceMs: number; readonly failures: number } | undefined;

  constructor(voice: Voice, source: FileSource) {
    this.#voice = voice;
    this.#source = source;
  }

  /** Resolves when Slack has everything, or the result is recorded as lost. @throws failures that may pass */
  async deliver(): Promise<void> {
    if (this.#voice.run.delivery.lost !== undefined) return;
    try {
      await this.#deliver();
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (!this.#voice.refused.isOver('result', error)) throw error;
      await this.#postPrivately(error);
    }
  }

  async #deliver(): Promise<void> {
    const { run, deps } = this.#voice;
    const { result } = run.delivery;
    const { isPrivate } = await renderContextOf(run, deps);
    // A late end is output too: do not add it to a result that people of another company can read by now.
    const isElsewhere = run.late === true && isPrivate && result?.channelId === run.origin.channelId;
    if (!result || isElsewhere) await this.#postWhole({ isPrivate, isFirst: true });
    else if (run.late && !(await this.#update(result, isPrivate))) await this.#postWhole({ isPrivate, isFirst: false });
    await this.#postFiles(isPrivate);
  }

  /** Posts the result with its files, or alone if there are none or Slack refuses them. */
  async #postWhole({ isPrivate, isFirst }: { readonly isPrivate: boolean; readonly isFirst: boolean }): Promise<void> {
    const voice = this.#voice;
    const { run, deps } = voice;
    const destination = await resultDestinationOf(run, isPrivate, deps.thread);
    // A search would find the result of the earlier end.
    const doubt = voice.doubt && isFirst;
    const shared = await this.#share(destination, resultMessage(run, { isPrivate }), doubt);
    if (shared && 'ref' in shared) return voice.record({ kind: 'result-posted', ...shared });
    const message = resultMessage(withLoss(run, shared?.fileLost), { isPrivate });
    const { ref, found } = await voice.post('result', destination, message, { doubt });
    // A found result may predate the loss of its files, so they are shared again in their own message.
    await voice.record({ kind: 'result-posted', ref, ...(found ? {} : shared) });
  }

  /** Shares the files that a result still lacks: of a late end, or of a result found by search. */
  async #postFiles(isPrivate: boolean): Promise<void> {
    const voice = this.#voice;
    const { run, deps } = voice;
    if (wantedFiles(run).length === 0) return;
    await voice.assertHeld();
    const destination = await fileDestinationOf(run, isPrivate, deps.thread);
    const shared = await this.#share(destination, fileMessage(run), voice.doubt);
    if (!shared) return;
    await voice.record(
      'ref' in shared ? { kind: 'files-shared', files: shared.files } : { kind: 'files-lost', code: shared.fileLost },
    );
    const { result } = run.delivery;
    if ('fileLost' in shared && result) await this.#update(result, isPrivate);
  }

  async #share(
    destination: Destination,
    message: Message,
    doubt: boolean,
  ): Promise<PostedWithFiles | Lost | undefined> {
    const { run, deps } = this.#voice;
    const names = wantedFiles(run);
    if (names.length === 0) return undefined;
    const find = (at: Destination) => this.#findShared(at);
    const make = (at: Destination) => this.#shareNow(at, message);
    try {
      const shared = await onceAt(destination, { run, thread: deps.thread, find: doubt ? find : undefined, make });
      return 'fileLost' in shared ? shared : { ref: shared.ref, files: sharedFiles(run, names, shared) };
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (!isForGood(error.code) && !this.#isTooLong(error)) throw error;
      deps.log.warn('Slack refused the files', { runId: run.id, reason: error.code, detail: error.detail });
      return { fileLost: error.code };
    }
  }

  #findShared(destination: Destination): Promise<Shared | Lost | undefined> {
    const { run, deps } = this.#voice;
    return deps.thread.findShared(destination, wantedFiles(run), run.origin.receivedAtMs);
  }

  async #shareNow(destination: Destination, message: Message): Promise<Shared | Lost> {
    const { deps, assertHeld } = this.#voice;
    const files = await filesOf(this.#source);
    if ('lost' in files) return { fileLost: files.lost };
    this.#sharing ??= { sinceMs: deps.clock.now(), failures: 0 };
    try {
      return await deps.thread.share(destination, message, files.files, assertHeld);
    } catch (thrown) {
      this.#sharing = { ...this.#sharing, failures: this.#sharing.failures + 1 };
      // Slack must not show the result twice.
      const shown = this.#isTooLong(toKdebugError(thrown)) ? await this.#findShared(destination) : undefined;
      if (shown) return shown;
      throw thrown;
    }
  }

  /** Whether people have waited long enough for files that Slack neither accepts nor refuses. */
  #isTooLong({ code }: KdebugError): boolean {
    if (code !== 'slack_unanswered' || !this.#sharing) return false;
    const { sinceMs, failures } = this.#sharing;
    return failures >= MAX_TRIES || this.#voice.deps.clock.now() - sinceMs >= PATIENCE_MS;
  }

  async #update(result: PostRef, isPrivate: boolean): Promise<boolean> {
    return this.#voice.update('result', result, resultMessage(this.#voice.run, { isPrivate }));
  }

  /** Slack refuses the result everywhere: send it privately to the requester and record it as lost. */
  async #postPrivately({ code, detail }: KdebugError): Promise<void> {
    const { run, deps } = this.#voice;
    const fields = { runId: run.id, reason: code, detail };
    try {
      await deps.thread.tell(privateDestinationOf(run), resultMessage(withLoss(run, code), { isPrivate: true }));
      deps.log.error('Slack refused the result, sent privately', fields);
    } catch (thrown) {
      if (!isForGood(toKdebugError(thrown).code)) throw thrown;
      deps.log.error('Slack refused the result everywhere', fields);
      deps.metrics.deliveryLost();
    }
    await this.#voice.record({ kind: 'result-lost', code });
  }
}

interface Lost {
  readonly fileLost: string;
}

interface PostedWithFiles {
  readonly ref: PostRef;
  readonly files: SharedFiles;
}

const withLoss = (run: Run, fileLost: string | undefined): Run =>
  fileLost === undefined || wantedFiles(run).length === 0 ? run : { ...run, delivery: { ...run.delivery, fileLost } };
