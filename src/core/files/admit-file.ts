import { defined } from '../../lib/object.ts';
import { endingOf, type FileKind } from '../container/file-kinds.ts';
import type { Limits } from '../policy/policy.ts';
import type { FrameHeader } from './frame-lines.ts';
import type { FileProblem, RunFile } from './run-file.ts';

const NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const MAX_NAME_LENGTH = 64;

export interface FileTerms {
  /** The kinds that the plan and the policy name. */
  readonly kinds: readonly FileKind[];
  readonly limits: Pick<Limits, 'maxFileBytes' | 'maxFiles' | 'maxFilesBytes'>;
}

/** Decides on the files of one log, in their order, by what their begin lines announce. */
export class FileGate {
  readonly #terms: FileTerms;
  readonly #names = new Set<string>();
  #bytes = 0;

  constructor(terms: FileTerms) {
    this.#terms = terms;
  }

  /** The file as it will be if it comes whole; with a problem, none of it is taken. */
  admit(header: FrameHeader): RunFile {
    const { name, bytes, sha256 } = header;
    const { kind, isRedacted = false } = endingOf(name) ?? {};
    const problem = header.problem ?? this.#refusal(name, kind, bytes);
    if (problem === undefined) {
      this.#names.add(name);
      this.#bytes += bytes;
    }
    return { name: safeFileName(name), bytes, sha256, isRedacted, ...defined({ kind, problem }) };
  }

  #refusal(name: string, kind: FileKind | undefined, bytes: number): FileProblem | undefined {
    const { kinds, limits } = this.#terms;
    if (!NAME.test(name) || this.#names.has(name)) return 'bad-name';
    if (kind === undefined || !kinds.includes(kind)) return 'kind-not-allowed';
    if (this.#names.size >= limits.maxFiles) return 'too-many';
    const isTooLarge = bytes > limits.maxFileBytes || this.#bytes + bytes > limits.maxFilesBytes;
    return isTooLarge ? 'too-large' : undefined;
  }
}

/** A name that is safe to show, whatever the log says. */
const safeFileName = (name: string): string =>
  name.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, MAX_NAME_LENGTH) || 'unknown';

/**
 * The bytes of a log to read so that `maxTextBytes` of text and all allowed files fit: base64 takes 4 bytes for 3, and
 * each line its number. An image that may hand back no kind of file has no more to read than its text.
 */
export const bytesWithFrames = (
  maxTextBytes: number,
  { maxFilesBytes }: Pick<Limits, 'maxFilesBytes'>,
  kinds: readonly FileKind[] = [],
): number => (kinds.length === 0 ? maxTextBytes : maxTextBytes + Math.ceil(maxFilesBytes * 1.5) + 1_048_576);
