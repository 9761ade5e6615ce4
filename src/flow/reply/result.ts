import { KdebugError, toKdebugError } from '../../core/errors.ts';
import { type ByFileName, type Landed, type SettledFiles, withSettled } from '../../core/run/delivery.ts';
import { isUnattended } from '../../core/run/life-cycle.ts';
import type { Run } from '../../core/run/run.ts';
import type { PostRef } from '../../core/run/run-state.ts';
import type { Message } from '../../core/say/message/message.ts';
import { fileMessage, secretFilesMessage } from '../../core/say/parts/file-parts.ts';
import { notifiesSomebody } from '../../core/say/run/notified.ts';
import { resultMessage } from '../../core/say/run/run-messages.ts';
import { defined } from '../../lib/object.ts';
import {
  fileDestinationOf,
  privateDestinationOf,
  requesterDirect,
  resultDestinationOf,
  whereOf,
} from '../context/destinations.ts';
import { isForGood, landedOf, onceAt } from '../context/post-once.ts';
import type { Shared } from '../ports/files.ts';
import type { Destination } from '../ports/slack.ts';
import { codes, type FileSource, filesOf, wantedFiles } from './files.ts';
import { renderContextOf } from './schedule.ts';
import type { Voice } from './voice.ts';

/** A result waits this long, or for this many tries, for its files before it is posted without them. */
const FILES_WITHIN_MS = 60_000;
const MAX_TRIES = 3;

/**
 * Posts the result of a finished run. Where it notifies nobody, its files are in the same message; else they follow in a second one, as do
 * those of a late end, which updates the existing result. Any call may be repeated.
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

  /** Posts the result with its files, or alone if there are none, Slack refuses them, or it notifies somebody. */
  async #postWhole({ isPrivate, isFirst }: { readonly isPrivate: boolean; readonly isFirst: boolean }): Promise<void> {
    const voice = this.#voice;
    const { run, deps } = voice;
    // A search would find the result of the earlier end.
    const doubt = voice.doubt && isFirst;
    const destination = await resultDestinationOf(run, isPrivate, deps.thread);
    // A message with files has no `text`, and a phone shows nothing else.
    const names = notifiesSomebody(run, { isPrivate }) ? [] : wantedFiles(run, { isPrivate }).withResult;
    const messageOf = (lost: ByFileName) => this.#messageOf(withLoss(run, lost), isPrivate);
    const shared = await this.#share({ names, messageOf, doubt, to: async () => destination });
    if (shared.ref)
      return voice.record({ kind: 'result-posted', ref: shared.ref, settled: shared.settled, ...landedOf(shared) });
    const message = messageOf(shared.settled.filesLost ?? {});
    const { ref, found, ...landed } = await voice.post('result', destination, message, { doubt });
    // A found result may predate the loss of its files, so they are shared again in their own message.
    const settled = found ? undefined : shared.settled;
    await voice.record({ kind: 'result-posted', ref, ...defined({ settled }), ...landedOf(landed) });
  }

  /**
   * Shares the files that a result still lacks: one that notifies, one found by search, a late end; and, to the requester
   * alone, those that may hold secrets.
   */
  async #postFiles(isPrivate: boolean): Promise<void> {
    const voice = this.#voice;
    for (;;) {
      const { run, deps } = voice;
      const { withResult, alone } = wantedFiles(run, { isPrivate });
      if (withResult.length > 0) {
        const to = () => fileDestinationOf(run, isPrivate, deps.thread);
        await this.#postSome({ names: withResult, messageOf: () => fileMessage(run, withResult), to }, isPrivate);
      } else if (alone.length > 0) {
        const to = () => requesterDirect(run, deps.thread);
        await this.#postSome({ names: alone, messageOf: () => secretFilesMessage(run), to }, isPrivate);
      } else return;
    }
  }

  async #postSome(files: Omit<FilesToPost, 'doubt'>, isPrivate: boolean): Promise<void> {
    const voice = this.#voice;
    await voice.assertHeld();
    const { settled, ...landed } = await this.#share({ ...files, doubt: voice.doubt });
    const { run } = voice;
    // Before the record: after a crash in between, the loss is found again and said again.
    if (settled.filesLost && run.delivery.result)
      await this.#update(run.delivery.result, isPrivate, withLoss(run, settled.filesLost));
    await voice.record({ kind: 'files-settled', settled, ...landedOf(landed) });
  }

  /** `ref`: the message that shares them. Whatever it does not share is in `filesLost`, or in no answer: to be tried again. */
  async #share({ names, messageOf, to, doubt }: FilesToPost): Promise<PostedFiles> {
    const { run, deps } = this.#voice;
    if (names.length === 0) return { settled: {} };
    const find = (at: Destination) => this.#findShared(at, names);
    const make = (at: Destination) => this.#shareNow(at, names, messageOf);
    try {
      const shared = await onceAt(await to(), { run, thread: deps.thread, find: doubt ? find : undefined, make });
      const filesLost = Object.keys(shared.refused).length === 0 ? undefined : shared.refused;
      const settled = defined({ files: shared.files, filesLost });
      return { ...defined({ ref: shared.ref }), settled, ...landedOf(shared) };
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (!isForGood(error.code) && !this.#isTooLong(error)) throw error;
      this.#sharing = undefined;
      deps.log.warn('Slack refused the files', { runId: run.id, reason: error.code, detail: error.detail });
      return { settled: { filesLost: codes(names, error.code) } };
    }
  }

  #findShared(destination: Destination, names: readonly string[]): Promise<Shared | undefined> {
    const { run, deps } = this.#voice;
    return deps.thread.findShared(destination, names, run.origin.receivedAtMs);
  }

  async #shareNow(
    destination: Destination,
    names: readonly string[],
    messageOf: FilesToPost['messageOf'],
  ): Promise<Shared | AllLost> {
    const { deps, assertHeld } = this.#voice;
    const { files, lost } = await filesOf(this.#source, names);
    if (files.length === 0) return { refused: lost };
    const sharing = this.#sharing ?? { sinceMs: deps.clock.elapsed(), failures: 0 };
    this.#sharing = sharing;
    try {
      const withLost = (refused: ByFileName) => messageOf({ ...lost, ...refused });
      const shared = await deps.thread.share(destination, withLost, files, assertHeld);
      // The next files have their own time.
      this.#sharing = undefined;
      return { ...shared, refused: { ...lost, ...shared.refused } };
    } catch (thrown) {
      this.#sharing = { ...sharing, failures: sharing.failures + 1 };
      // Slack must not show the result twice.
      const shown = this.#isTooLong(toKdebugError(thrown)) ? await this.#findShared(destination, names) : undefined;
      if (shown) return shown;
      throw thrown;
    }
  }

  /** People have waited long enough for files that Slack neither accepts nor refuses. */
  #isTooLong({ code }: KdebugError): boolean {
    if (code !== 'slack_unanswered' || !this.#sharing) return false;
    const { sinceMs, failures } = this.#sharing;
    return failures >= MAX_TRIES || this.#voice.deps.clock.elapsed() - sinceMs >= FILES_WITHIN_MS;
  }

  async #update(result: PostRef, isPrivate: boolean, run = this.#voice.run): Promise<boolean> {
    return this.#voice.update('result', result, this.#messageOf(run, isPrivate));
  }

  #messageOf(run: Run, isPrivate: boolean): Message {
    const { links } = this.#voice.deps.policies.current();
    return resultMessage(run, { isPrivate, ...defined({ links }) });
  }

  /** Slack refuses the result everywhere: send it privately to the requester, if there is one, and record it as lost. */
  async #postPrivately({ code, detail }: KdebugError): Promise<void> {
    const { run, deps } = this.#voice;
    const fields = { runId: run.id, reason: code, detail };
    try {
      if (isUnattended(run)) throw new KdebugError(code);
      const lost = codes(wantedFiles(run, { isPrivate: true }).withResult, code);
      await deps.thread.tell(privateDestinationOf(run), this.#messageOf(withLoss(run, lost), true));
      deps.log.error('Slack refused the result, sent privately', fields);
    } catch (thrown) {
      if (!isForGood(toKdebugError(thrown).code)) throw thrown;
      deps.log.error('Slack refused the result everywhere', { ...fields, ...whereOf(run) });
      deps.metrics.deliveryLost();
    }
    await this.#voice.record({ kind: 'result-lost', code });
  }
}

interface FilesToPost {
  /** In Slack. */
  readonly names: readonly string[];
  /** For the files that will not be shared, by their names: codes. */
  readonly messageOf: (lost: ByFileName) => Message;
  readonly to: () => Promise<Destination>;
  readonly doubt: boolean;
}

/** None of the files is there to be shared: codes by name. */
interface AllLost extends Landed {
  readonly ref?: undefined;
  readonly files?: undefined;
  readonly refused: ByFileName;
}

interface PostedFiles extends Landed {
  readonly ref?: PostRef;
  readonly settled: SettledFiles;
}

const withLoss = (run: Run, filesLost: ByFileName): Run => ({
  ...run,
  delivery: { ...run.delivery, ...withSettled(run.delivery, { filesLost }) },
});
