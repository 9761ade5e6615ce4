import type { Pod } from '../../core/container/pod.ts';
import type { ClusterFacts, LastWords, NotRead, TargetLog } from '../../core/diagnosis/facts/facts.ts';
import { ErrorShapes } from '../../core/diagnosis/logs/error-shapes.ts';
import { LogTail, lastWordsSteps } from '../../core/diagnosis/logs/last-words.ts';
import { containersQuoted } from '../../core/diagnosis/rules/endings.ts';
import type { LogSource } from '../../core/lookup/first-sources.ts';
import { identityFor } from '../../core/planning/identity.ts';
import { targetLogOf } from '../../core/planning/target-log.ts';
import type { TargetLogRight } from '../../core/policy/policy.ts';
import { withDeadline } from '../../lib/clock.ts';
import { defined } from '../../lib/object.ts';
import { inTurns } from '../../lib/turns.ts';
import { record } from '../context/audit.ts';
import type { FlowDeps } from '../context/deps.ts';
import { isSharedChannel } from '../planning/channel-check.ts';
import type { LogReader } from '../planning/question.ts';
import type { TargetLogRequest } from '../ports/cluster.ts';
import { FIRST_ANSWER_MS, readSource } from './source.ts';

/** The lines in the logs of a pod's own containers, chosen and redacted. */
export interface ReadLogs {
  readonly lastWords: readonly LastWords[];
  readonly logs: readonly TargetLog[];
  readonly notRead: readonly NotRead[];
}

/** True if words of the log of one of these pods are in the answer, or may be (`Verdict.ownLog`). */
export const ownLogIn = (all: readonly ClusterFacts[]): true | undefined =>
  all.some((facts) => [facts.lastWords, facts.logs, containersQuoted(facts)].some((read) => read?.length)) || undefined;

/** Whose request reads the logs of a namespace, and what it may read of all of them. */
export interface LogAccess extends LogReader {
  readonly right: Promise<TargetLogRight>;
}

/** A channel that Slack does not describe in time counts as shared with another company. */
export const logAccess = (namespace: string, reader: LogReader, deps: FlowDeps): LogAccess => {
  const { subject, cluster } = reader;
  const isShared = withDeadline(deps.clock, FIRST_ANSWER_MS, isSharedChannel(subject.origin, deps), () => true);
  const right = isShared.then((shared) =>
    targetLogOf(deps.policies.current(), subject.origin, { cluster, namespace }, { isShared: shared }),
  );
  return { ...reader, right };
};

/** The dump of a program with many threads is long, and says why at its start. */
const LAST_WORDS = { tailLines: 1_000, limitBytes: 128 * 1_024 };
const ERROR_LINES = { tailLines: 5_000, limitBytes: 4 * 1_024 * 1_024 };

/**
 * Reads the logs as the policy's `targetLog` allows, as the person, within a second in all. Whatever is not read is
 * named. @throws KdebugError audit_unavailable: then nobody may see what was read
 */
export async function readTargetLogs(
  pod: Pod,
  sources: readonly LogSource[],
  reader: LogAccess,
  deps: FlowDeps,
): Promise<ReadLogs> {
  if (sources.length === 0) return { lastWords: [], logs: [], notRead: [] };
  const untilMs = deps.clock.elapsed() + FIRST_ANSWER_MS;
  const right = await reader.right;
  if (right === 'none')
    return { lastWords: [], logs: [], notRead: sources.map((source) => missingLog(source, 'policy')) };
  const found = await Promise.all(sources.map((source) => readLog(pod, source, { reader, deps, untilMs, right })));
  const lines = found.reduce((sum, one) => sum + one.lines, 0);
  await record(deps, reader.subject, 'target-log', {
    cluster: reader.cluster,
    pod: `${pod.metadata.namespace}/${pod.metadata.name}`,
    containers: [...new Set(found.flatMap(({ read }) => read))].join(', '),
    lines,
  });
  return {
    lastWords: found.flatMap(({ lastWords }) => lastWords ?? []),
    logs: found.flatMap(({ log }) => log ?? []),
    notRead: found.flatMap(({ notRead }) => notRead),
  };
}

/**
 * Records the termination messages that an answer quotes in place of a log. @throws KdebugError audit_unavailable: then nobody may
 * see them
 */
export async function recordMessages(
  facts: ClusterFacts,
  reader: LogReader | undefined,
  deps: FlowDeps,
): Promise<void> {
  const quoted = containersQuoted(facts);
  const { namespace, name } = facts.pod.metadata;
  if (!reader || quoted.length === 0) return;
  await record(deps, reader.subject, 'target-log', {
    cluster: reader.cluster,
    pod: `${namespace}/${name}`,
    containers: quoted.map((each) => `${each} (termination message)`).join(', '),
    lines: quoted.length,
  });
}

const missingLog = ({ kind, containerName }: LogSource, why: NotRead['why']): NotRead => ({
  what: kind === 'errors' ? 'log' : 'last-words',
  why,
  containerName,
});

interface OneLog {
  /** The sources that were asked for, as the audit log names them. */
  readonly read: readonly string[];
  readonly lastWords?: LastWords;
  readonly log?: TargetLog;
  readonly lines: number;
  readonly notRead: readonly NotRead[];
}

interface Reading {
  readonly right: TargetLogRight;
  readonly reader: LogReader;
  readonly deps: FlowDeps;
  readonly untilMs: number;
}

/** The API gives times of an end without their fraction. */
const SECOND_MS = 1_000;

async function readLog(pod: Pod, source: LogSource, reading: Reading): Promise<OneLog> {
  const { reader, deps, untilMs, right } = reading;
  const { containerName, kind, previous, endedAtMs = Number.POSITIVE_INFINITY } = source;
  const { redact } = deps.policies.current().output;
  const { identity } = deps.policies.current();
  const abort = new AbortController();
  const request: TargetLogRequest = {
    pod: pod.metadata,
    containerName,
    previous,
    ...(kind === 'errors' ? ERROR_LINES : LAST_WORDS),
    signal: abort.signal,
    ...defined({ actingAs: identityFor(identity, reader.subject.origin) }),
  };
  const ofThis = [previous ? `${containerName} (previous)` : containerName];
  const turns = deps.turns.of(reader.subject.origin.requesterId);
  const shapes = new ErrorShapes(redact);
  const tail = right === 'tail' ? new LogTail(redact) : undefined;
  const texts: string[] = [];
  let lines = 0;
  let later = 0;
  const allRead = deps.clusters.get(reader.cluster).readTargetLog(request, (line) => {
    if (abort.signal.aborted) return;
    lines += 1;
    if (kind === 'errors') shapes.add(line);
    else if (line.atMs > endedAtMs + SECOND_MS) later += 1;
    else texts.push(line.text);
    tail?.add(line.text);
  });
  const named = missingLog(source, 'late');
  const read = await readSource(deps, named, {
    reading: allRead.then(() => true),
    waitMs: untilMs - deps.clock.elapsed(),
  });
  abort.abort();
  const isWhole = read.value === true;
  // It runs again since the watch said that it ended.
  if (isWhole && later > 0 && texts.length === 0) {
    const again = await readLog(pod, { containerName, kind, previous: true }, reading);
    return { ...again, read: [...ofThis, ...again.read], lines: again.lines + lines };
  }
  if (kind === 'last-words')
    return {
      read: ofThis,
      lines,
      notRead: read.notRead,
      ...(isWhole ? { lastWords: { containerName, ...(await inTurns(lastWordsSteps(texts, redact), turns)) } } : {}),
    };
  // Lines of a log whose end is missing are not its newest.
  const newest = isWhole && tail ? await inTurns(tail.resultSteps(), turns) : undefined;
  const log = { containerName, ...(await inTurns(shapes.resultSteps(), turns)), ...defined({ tail: newest }) };
  // Errors that were seen are true, also where the rest of the log is missing.
  return { read: ofThis, lines, notRead: read.notRead, ...(isWhole || log.shapes.length > 0 ? { log } : {}) };
}
