import { isSecretKind } from '../container/file-kinds.ts';
import type { RunFile } from '../files/run-file.ts';
import { isDirect } from '../ids.ts';
import type { Run } from './run.ts';

type Named = Pick<Run, 'id' | 'late'>;

/** A late end has its own log, beside the one shared before. */
export const logFileName = (run: Named): string => `${stemOf(run)}.log`;

/** The name of a run's file in Slack. No file can take the log's: a name with an ending follows the dot. */
export const sharedName = (run: Named, { name }: Pick<RunFile, 'name'>): string => `${stemOf(run)}.${name}`;

const stemOf = ({ id, late: endedLate }: Named): string => `kdebug-${id}${endedLate ? '-late' : ''}`;

/** A log that is too long for a message goes whole into a file. */
export const isLogShared = ({ log }: Pick<Run, 'log'>): boolean =>
  log !== undefined && log.omittedLines > 0 && log.bytes > 0;

/** The files of a run that are whole. */
export const wholeFiles = ({ log }: Pick<Run, 'log'>): readonly RunFile[] =>
  (log?.files ?? []).filter(({ problem }) => problem === undefined);

export interface AudienceOf {
  /** The container's output is for the requester alone. */
  readonly isPrivate: boolean;
}

/** If the requester alone reads the result, everything is posted with it. */
const isReadByRequesterAlone = ({ origin }: Pick<Run, 'origin'>, { isPrivate }: AudienceOf): boolean =>
  isPrivate || isDirect(origin.channelId);

/** A file that may hold secrets goes to the requester alone, in a message of its own. */
export const goesAlone = (run: Pick<Run, 'origin'>, { kind }: Pick<RunFile, 'kind'>, audience: AudienceOf): boolean =>
  (kind === undefined || isSecretKind(kind)) && !isReadByRequesterAlone(run, audience);
