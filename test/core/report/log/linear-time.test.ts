import { expect, it } from 'vitest';
import { parseDiagnosis } from '../../../../src/core/diagnosis/marked-report.ts';
import { cleanText, foldRewrites, unfinishedEscapeStart } from '../../../../src/core/report/log/clean-text.ts';
import { createExcerpt } from '../../../../src/core/report/log/excerpt.ts';
import { findSecrets } from '../../../../src/core/report/log/find-secrets.ts';
import { LineRedactor } from '../../../../src/core/report/log/line-redactor.ts';
import { createLogFilter } from '../../../../src/core/report/log/log-filter.ts';
import { alphabetOf, type Hostile, slowTexts, textsOver } from '../../../support/linear-time.ts';
import { inFullOr } from '../../../support/sample.ts';

/** Found by a review: each took quadratic time once. */
const HOSTILE: readonly (string | Hostile)[] = [
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
  'bearer      ',
  { start: 'curl', repeat: ' -u a:1' },
  { start: 'curl ', repeat: ' -u ' },
  { start: '\x90', repeat: 'x' },
  { start: 'pwd="/', repeat: 'pwd=`/' },
  { start: '\ufeff', repeat: 'token=/etc/' },
];

const FILES = ['clean-text', 'named-value', 'secret-tokens', 'secret-forms', 'line-redactor'].map(
  (name) => `src/core/report/log/${name}.ts`,
);

const find = (text: string) => findSecrets({ text, from: 0, to: text.length, startsLine: true }, []);

function filtered(text: string): void {
  const filter = createLogFilter({ redact: ['CUST-\\d{6}'] });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 16_384) filter.push(bytes.subarray(at, at + 16_384));
  filter.end();
}

const SEEN: readonly (readonly [string, (text: string) => unknown])[] = [
  ['cleaning', cleanText],
  ['folding', foldRewrites],
  ['looking for an unfinished escape', unfinishedEscapeStart],
  ['finding secrets', find],
  ['redacting a line', (text) => new LineRedactor([/CUST-\d{6}/g]).line(text)],
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
  ['looking for a report', (text) => parseDiagnosis(text, text)],
];

it.each(SEEN)('%s takes linear time for what once took quadratic time', (_name, run) => {
  expect(slowTexts(run, HOSTILE, { longest: 20_000 })).toEqual([]);
});

it.each(FILES)('everything takes linear time for what the expressions of %s name', { timeout: 120_000 }, (file) => {
  const texts = textsOver(alphabetOf([file]), { pairs: inFullOr(250, 25), chains: inFullOr(60, 6) });

  expect(slowTexts(filtered, texts, { shortest: 2500, longest: 20_000 })).toEqual([]);
});

it('a credential of many colons takes linear time', () => {
  const basic = (colons: string): string => `Basic ${Buffer.from(`${colons}\0`).toString('base64')}`;

  expect(slowTexts((colons) => find(basic(colons)), [':'], { longest: 40_000 })).toEqual([]);
});

it('a log takes linear time also where its lines are longer than a piece', () => {
  expect(slowTexts(filtered, HOSTILE, { shortest: 128 * 1024, longest: 512 * 1024 })).toEqual([]);
});

it('a log full of rewrites is cleaned about as fast as any other', () => {
  const msOf = (repeated: string): number => {
    const text = `${repeated.repeat(60_000)}\x1b[m`;
    const times = Array.from({ length: 7 }, () => {
      const beganMs = performance.now();
      cleanText(text);
      return performance.now() - beganMs;
    });
    return Math.min(...times);
  };

  expect(msOf('12 %\r13 %\r14 %\r')).toBeLessThan(2.5 * msOf('12 % 13 % 14 % '));
});
