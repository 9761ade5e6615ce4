import type { FileKind } from '../container/file-kinds.ts';

/** The reasons why a file of an image is missing; such a file is never delivered, not even in part. */
export const FILE_PROBLEMS = [
  /** Lines are missing: the log was cut, rotated away or interrupted, or the image ended in the middle. */
  'incomplete',
  /** Every line is there, but they do not hold the announced bytes. */
  'wrong-hash',
  /** Over `limits.maxFileBytes`, or with the files before it over `limits.maxFilesBytes`. */
  'too-large',
  /** Over `limits.maxFiles`. */
  'too-many',
  /** The alias does not name the kind, or its ending has none. */
  'kind-not-allowed',
  /** Not a name, or the name of an earlier file of the run. */
  'bad-name',
  /** kdebug's own disk or its limit. */
  'spool-full',
] as const;
export type FileProblem = (typeof FILE_PROBLEMS)[number];

/** A file that a diagnostic image handed back through its log (docs/diagnostic-images.md, "Files"). */
export interface RunFile {
  /**
   * `[a-z0-9][a-z0-9._-]{0,63}`, once in a run. With a problem: cleaned and cut to this length, and perhaps not alone
   * in its run; `unknown` where the log says none.
   */
  readonly name: string;
  /** Absent only with a problem: the ending has none. */
  readonly kind?: FileKind;
  /** As delivered, so after redaction; with a problem as announced, 0 where the log says none. */
  readonly bytes: number;
  /** As `bytes`, in hexadecimal; empty where the log says none. */
  readonly sha256: string;
  /** It went through the redaction of logs: of `bytes` and `sha256` the redacted file's are given. */
  readonly isRedacted: boolean;
  readonly problem?: FileProblem;
}
