import { explainFailure } from './failure.ts';

/** One line of the doctor's report. */
export interface Check {
  readonly state: 'ok' | 'warn' | 'fail';
  readonly area: string;
  /** The subject of the check, in a few words. */
  readonly what: string;
  /** The finding; never a secret. */
  readonly result: string;
  /** The fix: commands to copy, or where to click; empty for `ok`. */
  readonly fix: readonly string[];
}

/** Makes the checks of one area. */
export interface Area {
  readonly ok: (what: string, result: string) => Check;
  readonly warn: (what: string, result: string, ...fix: string[]) => Check;
  readonly fail: (what: string, result: string, ...fix: string[]) => Check;
  /** An error as a check, with its cause and remedy in words; `host` is what was called. */
  readonly broken: (what: string, thrown: unknown, host?: string) => Check;
}

export const areaOf = (area: string): Area => ({
  ok: (what, result) => ({ state: 'ok', area, what, result, fix: [] }),
  warn: (what, result, ...fix) => ({ state: 'warn', area, what, result, fix }),
  fail: (what, result, ...fix) => ({ state: 'fail', area, what, result, fix }),
  broken: (what, thrown, host) => {
    const { cause, fix } = explainFailure(thrown, host);
    return { state: 'fail', area, what, result: cause, fix: [fix] };
  },
});

const WORDS: Readonly<Record<Check['state'], string>> = { ok: 'ok', warn: 'warn', fail: 'FAIL' };

/** `ok|warn|FAIL  area  what: result`, and an indented arrow for each step that fixes it. */
export const printCheck = ({ state, area, what, result, fix }: Check): readonly string[] => [
  `${WORDS[state].padEnd(4)}  ${area}  ${oneLine(what)}: ${oneLine(result)}`,
  ...fix.map((step) => `      → ${oneLine(step)}`),
];

/** For machines; where its text is shown after all, it controls no terminal either. */
export const printJson = ({ checks, exitCode }: Report): string =>
  JSON.stringify({
    checks: checks.map(({ what, result, fix, ...check }) => ({
      ...check,
      what: oneLine(what),
      result: oneLine(result),
      fix: fix.map(oneLine),
    })),
    exitCode,
  });

/** Names come from outside: no line of theirs may look like one of ours. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();

/** 2: the environment or the policy cannot be read; 1: something fails; 0: all is fine, warnings allowed. */
export type ExitCode = 0 | 1 | 2;

export interface Report {
  readonly checks: readonly Check[];
  readonly exitCode: ExitCode;
}

export const reportOf = (checks: readonly Check[], isReadable: boolean): Report => ({
  checks,
  exitCode: isReadable ? (checks.some(({ state }) => state === 'fail') ? 1 : 0) : 2,
});

/** The last line of the report. */
export function summaryOf(checks: readonly Check[]): string {
  const count = (wanted: Check['state']): number => checks.filter(({ state }) => state === wanted).length;
  return `${checks.length} checks: ${count('ok')} ok, ${count('warn')} warn, ${count('fail')} FAIL`;
}
