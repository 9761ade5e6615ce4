import type { Diagnosis } from '../../../src/core/diagnosis/facts/report.ts';
import { verdictOf } from '../../../src/core/diagnosis/report-verdict.ts';
import type { Run } from '../../../src/core/run/run.ts';
import type { Span, Tone } from '../../../src/core/say/message/message.ts';
import { cardLine, firstLine, headOf } from '../../../src/core/say/parts/run-lines.ts';
import { aPlan, aPod, aRun, START_MS } from '../../support/builders.ts';
import { type ImageName, podOf, type State } from './states.ts';

/** What a person reads first, and how the mark before it looks. */
export interface Read {
  readonly tone: Tone;
  readonly lines: readonly [string, string];
  /** Whether a finding is told there. */
  readonly isFinding: boolean;
}

export type Judgement = 'true and useful' | 'silent' | 'misleading' | 'false alarm';

const wordsOf = (spans: readonly Span[]): string => spans.map((span) => ('text' in span ? span.text : '')).join('');

/**
 * The first two lines of the card that kdebug posts for a report on a pod that is ready, whose log says nothing and of
 * which the API knows nothing wrong.
 */
export function readOf(diagnosis: Diagnosis, image: ImageName, podName: string): Read {
  const plan = aPlan({ podName, targetContainerName: 'app', imageAlias: image });
  const container = { name: 'app', image: 'app:1', securityContext: {}, memoryLimit: '1Gi', hasRequests: true };
  const facts = {
    pod: aPod({ metadata: { name: podName }, spec: { containers: [container] } }),
    targetContainerName: 'app',
    versionedPods: [],
    events: [],
    node: { name: 'node-a', conditions: [{ type: 'Ready', status: 'True' }] },
    nowMs: START_MS,
  };
  const first = { line: 'Nothing found', findings: [], healthy: true, readAtMs: START_MS } as const;
  const verdict = verdictOf(diagnosis, plan, facts, { images: {}, channels: {} }, first);
  const run: Run = aRun({ state: 'finished', plan, outcome: { kind: 'succeeded' }, verdict });
  const { tone, headline } = headOf(run, START_MS, false);
  return {
    tone,
    lines: [wordsOf(firstLine(run, headline)), wordsOf(cardLine(run))],
    isFinding: diagnosis.findings.length > 0,
  };
}

/** Sends people to a place. On a healthy program there is none to go to. */
const POINTER = /most(ly)? (of the time )?in |% of (the|its) CPU time goes|itself takes|hottest/i;

/** The clients of the bed are in the pod's own network, so that their waiting is seen there too, and is true. */
const CLIENTS_WAIT = /connections? to 127\.0\.0\.1:(8080|6379|5432)/;

/** On a full node a program that computes gets less than it could use. */
const LACKS_CPU = /had no CPU for|throttled/;

/** Words that call a pod well. */
const CALLS_WELL = /no problems|no thread computes|no deadlock|has time left|is (healthy|idle)/i;

/** Judges the first two lines of one look at one state. */
export function judge(state: State, image: ImageName, { tone, lines, isFinding }: Read): Judgement {
  // The pod's name is the state's, which may be the cause's word too.
  const words = lines.join('\n').replaceAll(podOf(state).metadata?.name ?? '', '');
  if (state.what === undefined) {
    const isAlarm = (isFinding && !state.also?.test(words)) || POINTER.test(words);
    return isAlarm ? 'false alarm' : 'true and useful';
  }
  const cause = state.looks[image];
  const causes = Object.values(state.looks).filter((each) => each !== null);
  if ((cause ?? causes.find((each) => each.test(words)))?.test(words))
    return tone === 'success' ? 'misleading' : 'true and useful';
  const isTrue = CLIENTS_WAIT.test(words) || LACKS_CPU.test(words) || state.also?.test(words) === true;
  const isWrong = (isFinding && !isTrue) || POINTER.test(words) || (tone === 'success' && CALLS_WELL.test(words));
  if (isWrong || tone === 'success') return 'misleading';
  return cause == null ? 'true and useful' : 'silent';
}
