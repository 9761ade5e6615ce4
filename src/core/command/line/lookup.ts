import { defined } from '../../../lib/object.ts';
import type { LogFilter, RunFilter } from '../../request/command.ts';
import { type Line, type Report, wholeOf } from './line.ts';
import { flagReader } from './request.ts';
import { readDuration, readLiteral, readOutcome, readPage, readPodPart, readTail } from './values.ts';
import { VERBS } from './verbs.ts';

/** The flags of `list`. */
export function readRunFilter(line: Line, report: Report): RunFilter {
  const flag = flagReader(line, report);
  const isSet = (name: 'mine' | 'all'): true | undefined => line.flags.has(name) || undefined;
  return defined({
    mine: isSet('mine'),
    all: isSet('all'),
    pod: flag('pod', readPodPart),
    outcome: flag('outcome', readOutcome),
    page: flag('page', readPage),
  });
}

/** The flags of `logs`. */
export function readLogFilter(line: Line, report: Report): LogFilter {
  const flag = flagReader(line, report);
  return defined({
    tail: flag('tail', readTail),
    sinceMs: flag('since', readDuration),
    grep: flag('grep', readLiteral),
  });
}

/** Reports a flag of a look-up in a request for a run, and names its verb. */
export function reportLookupFlags({ flags }: Line, report: Report): void {
  for (const [name, [given]] of flags) {
    if (given?.flag.group !== 'lookup') continue;
    const verb = VERBS.find((known) => known.flags.includes(name));
    const message = `--${name} has no meaning for a run.`;
    report({ code: 'flag_misplaced', message, hint: `It belongs to ${verb?.name}: ${verb?.usage}`, ...wholeOf(given) });
  }
}
