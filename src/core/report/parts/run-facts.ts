import type { Run } from '../../run/run.ts';
import { code, type Fact, type Part, person, type Span, text, time } from '../message.ts';

/** What `show` adds to result and plan: until when votes count, when it started, the grant, the container and its log. */
export function runFacts(run: Run): readonly Part[] {
  const facts = [...approvalFacts(run), ...timeFacts(run), ...grantFacts(run), ...containerFacts(run)];
  return facts.length === 0 ? [] : [{ kind: 'facts', facts }];
}

function approvalFacts({ state, approval }: Run): readonly Fact[] {
  if (state !== 'pending-approval' || !approval) return [];
  return [{ label: 'Expires', value: [time(approval.expiresAtMs)] }];
}

/** A container that ended quickly was never seen running; its end has the time. */
function timeFacts({ startedAtMs, termination }: Run): readonly Fact[] {
  const atMs = startedAtMs ?? (termination && Date.parse(termination.startedAt));
  return atMs === undefined || Number.isNaN(atMs) ? [] : [{ label: 'Started', value: [time(atMs)] }];
}

function grantFacts({ grant }: Run): readonly Fact[] {
  if (!grant) return [];
  const { byUserId, uses, maxRuns, expiresAtMs, endedBy } = grant;
  const end: readonly Span[] =
    endedBy === undefined ? [text(', until '), time(expiresAtMs)] : [text(', ended by '), person(endedBy)];
  return [
    { label: 'Grant', value: [text('by '), person(byUserId), text(`, ${uses.length} of ${maxRuns} used`), ...end] },
  ];
}

function containerFacts({ id, containerName }: Run): readonly Fact[] {
  if (containerName === undefined) return [];
  return [
    { label: 'Container', value: [code(containerName)] },
    { label: 'Its log', value: [code(`/kdebug logs ${id}`), text(', also with --tail, --since and --grep')] },
  ];
}
