import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Verdict } from '../../src/core/diagnosis/facts/verdict.ts';
import type { Span } from '../../src/core/say/message/message.ts';
import { firstLineOf, headlineOf, leadingFinding, sentencesIn } from '../../src/core/say/parts/headline.ts';
import { RecordedTroubles } from './answers.ts';
import { isNamedOnCard } from './cards.ts';
import { judge } from './judge.ts';
import { podNamed, type Recording, readRecording, readTrouble, type Trouble, troubleNames } from './trouble.ts';

let recorded: RecordedTroubles;

beforeAll(async () => {
  recorded = await RecordedTroubles.open();
});

afterAll(() => recorded?.close());

const wordsOf = (spans: readonly Span[]): string => spans.map((span) => ('text' in span ? span.text : '')).join('');

/** What stands on a phone before anybody opens the thread. */
function headOfCard({ ask, askPod = '' }: Trouble, recording: Recording, verdict: Verdict): readonly string[] {
  const name = ask ?? podNamed(recording, askPod) ?? '';
  const next = leadingFinding(verdict)?.next ?? '';
  return [wordsOf(firstLineOf(name, headlineOf(verdict) ?? '')), sentencesIn(next)];
}

const sick = troubleNames()
  .map(readTrouble)
  .filter(({ healthy, unmet }) => !healthy && unmet === undefined);

it.each(sick)('the card about $name is not cut before the cause, nor in its advice', async (trouble) => {
  const recording = readRecording(trouble.name);
  if (!recording) throw new Error('not recorded');
  const { verdict, ...answered } = await recorded.answer(trouble, recording);
  const head = headOfCard(trouble, recording, verdict);
  const judgement = judge(trouble, { ...answered, head });
  expect(isNamedOnCard(trouble, judgement, head), head.join('\n')).toBe(true);
  expect(head[1]).not.toMatch(/…$/);
});
