import type { FileKind } from './file-kinds.ts';

/** Why a file that a run announced is not there. */
export type FileProblem =
  | 'incomplete'
  | 'wrong-hash'
  | 'too-large'
  | 'too-many'
  | 'kind-not-allowed'
  | 'bad-name'
  | 'spool-full';

/** A file that a run brought back through its log. */
export interface RunFile {
  readonly name: string;
  readonly kind: FileKind;
  /** Of the file itself, as its frame says. */
  readonly bytes: number;
  readonly sha256: string;
  readonly isRedacted: boolean;
  /** It is not whole, or not wanted: it is never posted. */
  readonly problem?: FileProblem;
}
