import { type KdebugError, toKdebugError } from '../../core/errors.ts';
import type { Message } from '../../core/report/message.ts';
import { fileMessage } from '../../core/report/parts/result-parts.ts';
import { resultMessage } from '../../core/report/run-messages.ts';
import type { SharedFiles } from '../../core/run/delivery.ts';
import type { PostRef, Run } from '../../core/run/run.ts';
import type { Destination, Shared } from '../ports/slack.ts';
import { fallbackDestination, fileDestinationOf, privateDestinationOf, resultDestinationOf } from './destinations.ts';
import { type FileSource, filesOf, sharedFiles, wantedFiles } from './files.ts';
import { isForGood } from './post-once.ts';
import { renderContextOf } from './schedule.ts';
import type { Voice } from './voice.ts';

/** The words of a result wait for its files so long, and for so many tries, before they go alone. */
const PATIENCE_MS = 60_000;
const MAX_TRIES = 3;

/**
 * Says the result of a run that has ended, with what is too long for it as files: one message. A late end changes the result that is
 * there, and its own log follows with a few words. May be entered again at any time.
 */
export class ResultDelivery {
  readonly #voice: Voice;
  readonly #source: FileSource;
  #sharing: { readonly sinceMs: number; readonly failures: number } | undefined;

  constructor(voice: Voice, source: FileSource) {
    this.#voice = voice;
    this.#source = source;
  }

  /** Resolves when all of it is said, or on record as lost. @throws what may pass */
  async say(): Promise<void> {
    if (this.#voice.run.delivery.lost !== undefined) return;
    try {
      await this.#say();
    } catch (thrown) {
      const error = toKdebugError(thrown);
      if (!this.#voice.refused.isOver('result', error)) throw error;
      await this.#giveUp(error);
    }
  }

  async #say(): Promise<void> {
    const { run, deps } = this.#voice;
    const { result } = run.delivery;
    const { isPrivate } = await renderContextOf(run, deps);
    // A late end is output too: it is not added to a result that people of another company can read by now.
    const isElsewhere = run.late === true && isPrivate && result?.channelId === run.origin.channelId;
    if (!result || isElsewhere) await this.#sayWhole({ isPrivate, isFirst: true });
    else if (run.late && !(await this.#update(result, isPrivate))) await this.#sayWhole({ isPrivate, isFirst: false });
    await this.#sayFiles(isPrivate);
  }

  /** The words with their files; the words alone when there are none, or Slack does not take them. */
  async #sayWhole({ isPrivate, isFirst }: { readonly isPrivate: boolean; readonly isFirst: boolean }): Promise<void> {
    const voice = this.#voice;
    const { run, deps } = voice;
    const place = await resultDestinationOf(run, isPrivate, deps.thread);
    // What is found there would be the words of the earlier end.
    const doubt = voice.doubt && isFirst;
    const said = await this.#share(place, resultMessage(run, { isPrivate }), doubt);
    if (said && 'ref' in said) return voice.record({ kind: 'result-posted', ...said });
    const message = resultMessage(withLoss(run, said?.fileLost), { isPrivate });
    const { ref, found } = await voice.post('result', place, message, { doubt });
    // What was found may have been said before its files were lost: they are tried once more by themselves.
    await voice.record({ kind: 'result-posted', ref, ...(said && !found && said) });
  }

  /** The files that a result is still without: of a late end, or of words that were found again. */
  async #sayFiles(isPrivate: boolean): Promise<void> {
    const voice = this.#voice;
    const { run, deps } = voice;
    if (wantedFiles(run).length === 0) return;
    await voice.assertHeld();
    const place = await fileDestinationOf(run, isPrivate, deps.thread);
    const said = await this.#share(place, fileMessage(run), voice.doubt);
    if (!said) return;
    await voice.record(
      'ref' in said ? { kind: 'files-shared', files: said.files } : { kind: 'files-lost', code: said.fileLost },
    );
    const { result } = run.delivery;
    if ('fileLost' in said && result) await this.#update(result, isPrivate);
  }

  /** Undefined: there are no files to share. */
  async #share(place: Destination, message: Message, doubt: boolean): Promise<SaidWithFiles | Lost | undefined> {
    const { run, deps } = this.#voice;
    const names = wantedFiles(run);
    if (names.length === 0) return undefined;
    try {
      const shared = (doubt && (await this.#findShared(place))) || (await this.#shareNow(place, message));
      return 'fileLost' in shared ? shared : { ref: shared.ref, files: sharedFiles(run, names, shared) };
    } catch (thrown) {
      const error = toKdebugError(thrown);
      const elsewhere = await fallbackDestination(place, error.code, run, deps.thread);
      if (elsewhere) return this.#share(elsewhere, message, doubt);
      if (!isForGood(error.code) && !this.#isTooLong(error)) throw error;
      deps.log.warn('files could not be shared', { runId: run.id, reason: error.code, detail: error.detail });
      return { fileLost: error.code };
    }
  }

  #findShared(place: Destination): Promise<Shared | undefined> {
    const { run, deps } = this.#voice;
    return deps.thread.findShared(place, wantedFiles(run), run.origin.receivedAtMs);
  }

  async #shareNow(place: Destination, message: Message): Promise<Shared | Lost> {
    const { deps, assertHeld: sure } = this.#voice;
    const files = await filesOf(this.#source);
    if ('lost' in files) return { fileLost: files.lost };
    this.#sharing ??= { sinceMs: deps.clock.now(), failures: 0 };
    try {
      return await deps.thread.share(place, message, files.files, sure);
    } catch (thrown) {
      this.#sharing = { ...this.#sharing, failures: this.#sharing.failures + 1 };
      // The words must not stand there twice.
      const shown = this.#isTooLong(toKdebugError(thrown)) ? await this.#findShared(place) : undefined;
      if (shown) return shown;
      throw thrown;
    }
  }

  /** Whether people have waited long enough for files that Slack neither takes nor refuses. */
  #isTooLong({ code }: KdebugError): boolean {
    if (code !== 'slack_unanswered' || !this.#sharing) return false;
    const { sinceMs, failures } = this.#sharing;
    return failures >= MAX_TRIES || this.#voice.deps.clock.now() - sinceMs >= PATIENCE_MS;
  }

  async #update(result: PostRef, isPrivate: boolean): Promise<boolean> {
    return this.#voice.update('result', result, resultMessage(this.#voice.run, { isPrivate }));
  }

  /** Nobody can be given it where people would find it again: the requester is told privately, and it is on record as lost. */
  async #giveUp({ code, detail }: KdebugError): Promise<void> {
    const { run, deps } = this.#voice;
    const fields = { runId: run.id, reason: code, detail };
    try {
      await deps.thread.tell(privateDestinationOf(run), resultMessage(withLoss(run, code), { isPrivate: true }));
      deps.log.error('the result could be said privately only', fields);
    } catch (thrown) {
      if (!isForGood(toKdebugError(thrown).code)) throw thrown;
      deps.log.error('the result could not be delivered', fields);
    }
    await this.#voice.record({ kind: 'result-lost', code });
  }
}

interface Lost {
  readonly fileLost: string;
}

interface SaidWithFiles {
  readonly ref: PostRef;
  readonly files: SharedFiles;
}

/** The run as its words say it when its files are lost. */
const withLoss = (run: Run, fileLost: string | undefined): Run =>
  fileLost === undefined || wantedFiles(run).length === 0 ? run : { ...run, delivery: { ...run.delivery, fileLost } };
