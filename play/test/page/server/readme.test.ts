import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MAIN_JOB } from '../../../app/examples.ts';
import { openPage, type PageBed, SHOP } from './open-page.ts';

let page: PageBed;
beforeAll(async () => {
  page = await openPage();
});
afterAll(() => page?.stop());

/** Run ids, durations and sizes differ from run to run. */
const withoutChance = (line: string): string =>
  line
    .trim()
    .replace(/\b([Rr]un |kdebug-)[a-z2-7]{10}\b/g, '$1ID')
    .replace(/\b(under a second|\d+(\.\d+)? s)\b/g, 'TIME')
    .replace(/\d+(\.\d+)? KiB/g, 'SIZE');

it('the README begins with what play answers, and that finds something', async () => {
  await page.type(MAIN_JOB);
  const { slack } = page.bed;
  await slack.until(() => slack.transcript(SHOP).includes('[file '));
  const answered = slack.transcript(SHOP, { times: false }).split('\n').map(withoutChance);
  const readme = readFileSync('README.md', 'utf8');
  const [asked, ...shown] = (readme.split('transcript -->')[1]?.replace('<!-- end: ', '') ?? '')
    .split('\n')
    .map(withoutChance)
    .filter((line) => line !== '');
  expect(asked).toBe(`> Roy types in #shop-oncall: ${MAIN_JOB}`);
  // It leaves lines out, and shows no other ones.
  expect(answered.filter((line) => shown.includes(line))).toEqual(shown);
  expect(shown[1]).toMatch(/^(⚠️|❌) pod-1234: /);
});
