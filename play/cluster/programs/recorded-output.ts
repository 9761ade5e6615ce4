import { createHash } from 'node:crypto';
import type { RunAs } from './process.ts';

/** What a recording must say of another run: who looks at whom, when, and for which comparison. */
export interface Viewer {
  readonly env: ReadonlyMap<string, string>;
  readonly now: Date;
  readonly user: RunAs;
  readonly owner: RunAs;
}

const HEAD = /^(kdebug [a-z]+, run )\S+, \d{4}-\d\d-\d\dT[\d:]+Z$/m;
const SELF = /("self":\{"uid":)\d+(,"gid":)\d+/;
const TARGET = /("target":\{[^{}]*?"uid":)(\d+)(,"gid":)(\d+)/;
const REPORT_WITH_FACTS = /^\{"kdebug":1,.*"facts":\[.*\}$/m;
const DIGEST = /^#[0-9a-f]{4}$/;

/** A log or a termination message as this run would have written it. */
export function asOf(text: string, { env, now, user, owner }: Viewer): string {
  const recordedTarget = TARGET.exec(text);
  const recordedSelf = /"self":\{"uid":(\d+),"gid":(\d+)/.exec(text);
  const time = `${now.toISOString().slice(0, 19)}Z`;
  const said = text
    .replace(HEAD, (_, before: string) => `${before}${env.get('KDEBUG_RUN') ?? 'none'}, ${time}`)
    .replace(SELF, `$1${user.uid}$2${user.gid}`)
    .replace(TARGET, `$1${owner.uid}$3${owner.gid}`)
    .replace(REPORT_WITH_FACTS, (report) => withFactsFor(report, env.get('KDEBUG_COMPARE')));
  return renamed(said, [
    [recordedTarget && `${recordedTarget[2]}:${recordedTarget[4]}`, `${owner.uid}:${owner.gid}`],
    [recordedSelf && `${recordedSelf[1]}:${recordedSelf[2]}`, `${user.uid}:${user.gid}`],
  ]);
}

function renamed(text: string, pairs: readonly (readonly [string | null, string])[]): string {
  const names = new Map(pairs.flatMap(([from, to]) => (from === null ? [] : [[from, to] as const])).reverse());
  return text.replace(/\b\d+:\d+\b/g, (found) => names.get(found) ?? found);
}

/** Told only for a comparison; hashed under its key, so that equal stays equal, and no other run has the same hashes. */
function withFactsFor(report: string, key: string | undefined): string {
  const { facts, factsCut, ...rest }: { facts: unknown[][]; factsCut?: unknown } = JSON.parse(report);
  if (key === undefined || key === '') return JSON.stringify(rest);
  const told = facts.map(([value, ...names]) => [
    typeof value === 'string' && DIGEST.test(value) ? hashed(key, value) : value,
    ...names,
  ]);
  return JSON.stringify({ ...rest, facts: told, factsCut });
}

const hashed = (key: string, digest: string): string =>
  `#${createHash('sha256').update(`${key} ${digest}`).digest('hex').slice(0, 4)}`;
