import { ErrorShapes } from '../../src/core/diagnosis/logs/error-shapes.ts';
import { lastWordsOf } from '../../src/core/diagnosis/logs/last-words.ts';
import { runtimeMessage } from '../../src/core/diagnosis/logs/runtime-message.ts';
import { parseDiagnosis } from '../../src/core/diagnosis/marked-report.ts';
import { LineSelector } from '../../src/core/lookup/select-lines.ts';
import { cleanText, foldRewrites, unfinishedEscapeStart } from '../../src/core/redact/clean-text.ts';
import { createExcerpt } from '../../src/core/redact/excerpt.ts';
import { findSecrets } from '../../src/core/redact/find-secrets.ts';
import { LineRedactor } from '../../src/core/redact/line-redactor.ts';
import { createLogFilter } from '../../src/core/redact/log-filter.ts';
import { searchFor } from '../../src/core/redact/secret-range.ts';
import type { Hostile } from './slow-texts.ts';

/** Found by a review: each took quadratic time once. */
export const HOSTILE_LOGS: readonly (string | Hostile)[] = [
  '\x90',
  '\x1b]\x9d\x90',
  'pwd=/',
  'token=/etc/',
  ',a=authorization:b',
  'PWD=/pwd="/',
  'authorization:b, a=',
  "password '",
  'curl -u a:',
  'mysql -p',
  'cookie:a;',
  'x_key=aB3',
  'identified by ',
  'login a password ',
  '://a:',
  'eyJ',
  'Oi8vQUtJQ',
  'password="\\',
  '-----BEGIN PRIVATE KEY-----',
  'token\\\\\\',
  '\r',
  'a\b',
  '$6$',
  '\x1b]',
  'token-----BEGIN ',
  'pwd=a,&;)',
  'bearer      ',
  { start: 'curl', repeat: ' -u a:1' },
  { start: 'curl ', repeat: ' -u ' },
  { start: '\x90', repeat: 'x' },
  { start: 'pwd="/', repeat: 'pwd=`/' },
  { start: '\ufeff', repeat: 'token=/etc/' },
];

/** Whose expressions the filter of a log uses. */
export const LOG_FILES = ['clean-text', 'named-value', 'secret-tokens', 'secret-forms', 'line-redactor'].map(
  (name) => `src/core/redact/${name}.ts`,
);

/** Whose expressions read the log of a pod's own containers, and what a runtime says. */
export const DIAGNOSIS_FILES = [
  'error-shapes',
  'last-words',
  'log-entries',
  'log-level',
  'log-line',
  'runtime-message',
  'structured-line',
].map((name) => `src/core/diagnosis/logs/${name}.ts`);

/** The text as one line, and as many: a trace goes on over lines. */
export function diagnosed(text: string): void {
  const lines = text.match(/[^\n]{1,60}/g) ?? [];
  for (const log of [[text], lines]) {
    const shapes = new ErrorShapes([]);
    for (const line of log) shapes.add({ atMs: 0, text: line });
    shapes.result();
    lastWordsOf(log, []);
  }
  runtimeMessage(text);
}

const find = (text: string) => findSecrets({ text, from: 0, to: text.length, startsLine: true }, searchFor([]));

/** As a log comes: in pieces. */
export function filtered(text: string): void {
  const filter = createLogFilter({ redact: ['CUST-\\d{6}'] });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 16_384) filter.push(bytes.subarray(at, at + 16_384));
  filter.end();
}

/** Every function that is given the text of a log. */
export const LOG_READERS: readonly (readonly [string, (text: string) => unknown])[] = [
  ['cleaning', cleanText],
  ['folding', foldRewrites],
  ['looking for an unfinished escape', unfinishedEscapeStart],
  ['finding secrets', find],
  ['redacting a line', (text) => new LineRedactor(searchFor(['CUST-\\d{6}'])).line(text)],
  ['filtering a log', filtered],
  [
    'an excerpt',
    (text) => {
      const excerpt = createExcerpt({ headLines: 15, tailLines: 25, maxBytes: 2_500 });
      excerpt.push(Buffer.from(text));
      excerpt.finish();
      return excerpt.tail(5);
    },
  ],
  ['diagnosing by a log', diagnosed],
  ['looking for a report', (text) => parseDiagnosis(text, text)],
  [
    'a credential of many colons',
    (text) => find(`Basic ${Buffer.from(`${':'.repeat(text.length)}\0`).toString('base64')}`),
  ],
  [
    'looking for words in a log',
    (text) => {
      const selector = new LineSelector({ grep: `${'a'.repeat(49)}b`, tail: 10, maxBytes: 16_384 });
      selector.push(Buffer.from(`${'a'.repeat(50)}\n`.repeat(text.length)));
      selector.end();
    },
  ],
];
