import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Verdict } from '../../src/core/diagnosis/verdict.ts';
import type { Span } from '../../src/core/report/message.ts';
import {
  firstLineOf,
  headlineOf,
  leadingFinding,
  MAX_LINE_LENGTH,
  oneLine,
} from '../../src/core/report/parts/headline.ts';
import { RecordedTroubles } from './answers.ts';
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
  return [wordsOf(firstLineOf(name, headlineOf(verdict) ?? '')), oneLine(next, MAX_LINE_LENGTH)];
}

const sick = troubleNames()
  .map(readTrouble)
  .filter(({ healthy, unmet }) => !healthy && unmet === undefined);

/** Only the end of a program's own words has no room: what must stand there all the same. */
const CUT: Readonly<Record<string, RegExp>> = {
  'crash-all-replicas': /cart-cache:6379/,
  'crash-elasticsearch-map-count': /bootstrap check failure/,
  'crash-go-many-goroutines': /invalid memory address or nil pointer/,
  'crash-java-class-version': /Java is older than the one that the program was compiled for/,
  'crash-language': /Verbindung zur Datenbank lager-db:5432 fehlgeschlagen/,
  'crash-node-refused': /10\.96\.14\.20:5432 refuses connections/,
  'crash-postgres-version': /database files are incompatible with server/,
  'crash-rust': /a permission is denied, exit code 101/,
  'exec-format': /not for the node’s processor/,
  'exec-interpreter': /the program \/app\/start\.sh, or the shell that its first line names, is not in the image/,
  'init-waits': /the name shop-db is not known/,
  'job-failed': /exited with code 1: .*column "vat_rate" .* already exists/,
  'liveness-deadlock': /killed by its liveness probe on HTTP :8080\/healthz/,
  'log-disk-full': /no space is left on a disk, in its log/,
  'log-permission-denied': /a permission is denied, in its log: “mkdir\(\) "\/var\/cache\/avatars/,
  'log-rbac': /the ServiceAccount default in shop may not get leases/,
  'log-read-only': /the file system is read-only, in its log/,
  'rollout-stuck': /web cannot start: its image localhost\/shop-web:2\.0\.0 cannot be pulled/,
  'sidecar-failing': /the sidecar proxy exited with code 1: .*error initializing confi/,
  'waits-for-lock': /readiness probe fails on TCP :8080: connection refused/,
};

it.each(sick)('the card about $name is not cut before the cause', async (trouble) => {
  const recording = readRecording(trouble.name);
  if (!recording) throw new Error('not recorded');
  const { verdict, ...answered } = await recorded.answer(trouble, recording);
  const head = headOfCard(trouble, recording, verdict);
  const cut = CUT[trouble.name];
  if (cut) expect(head[0]).toMatch(cut);
  else expect(judge(trouble, { ...answered, head }).isNamed, head.join('\n')).toBe(true);
});
