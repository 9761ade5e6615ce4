import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import { parseDiagnosis } from '../../../src/core/diagnosis/marked-report.ts';
import type { Diagnosis, Finding } from '../../../src/core/diagnosis/report.ts';
import { sampleOf } from '../../support/sample.ts';
import { directory } from './targets.ts';

/** The script run on real processes; every document that it writes is held against the schema. */

export const SCRIPT = fileURLToPath(new URL('../../../images/autodiagnose/autodiagnose.sh', import.meta.url));

export const hasProc = existsSync('/proc/self/status');
if (!hasProc) console.warn('skipped: autodiagnose needs /proc, which this machine does not have');

/** What a program is asked to know whether it is here; shells run `true`. */
const PROBES: Readonly<Record<string, readonly string[]>> = {
  busybox: ['true'],
  shellcheck: ['--version'],
  openssl: ['version'],
  python3: ['--version'],
};

/** Whether a program is here; says so when it is not. */
export function has(program: string): boolean {
  const { error } = spawnSync(program, PROBES[program] ?? ['-c', 'true'], { stdio: 'ignore' });
  if (error !== undefined) console.warn(`skipped: there is no ${program}`);
  return error === undefined;
}

/** The shells of this machine that the script must run under. */
export const SHELLS = sampleOf(
  'shells of autodiagnose',
  [['sh'], ['dash'], ['bash'], ['busybox', 'sh']].filter(([program = '']) => hasProc && has(program)),
  1,
);

const schema: object = JSON.parse(
  readFileSync(new URL('../../../schema/diagnostic-report.schema.json', import.meta.url), 'utf8'),
);
const ajv = new Ajv2020({ allErrors: true });
const isReport = ajv.compile(schema);

/** Holds one document against the published schema. */
export function expectValid(json: string): void {
  const isValid = isReport(JSON.parse(json));
  expect(isReport.errors ?? [], json).toEqual([]);
  expect(isValid).toBe(true);
}

export interface Report {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
  /** What the termination file holds. */
  readonly message: string;
}

/** Runs the script, with one reading instead of a sample unless `env` asks for one. */
export async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  [program = 'sh', ...first]: readonly string[] = ['sh'],
): Promise<Report> {
  const file = path.join(await directory(), 'termination-log');
  const quick = { PATH: process.env.PATH ?? '', AUTODIAGNOSE_TERMINATION_LOG: file, AUTODIAGNOSE_SAMPLE: '0' };
  const ended = await new Promise<Omit<Report, 'message'>>((resolve) => {
    execFile(program, [...first, SCRIPT, ...args], { env: { ...quick, ...env } }, (error, out, err) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
  const message = existsSync(file) ? await readFile(file, 'utf8') : '';
  await rm(file, { force: true });
  return { ...ended, message };
}

/** A look at a process; both documents must be valid, and the short one short. */
export async function diagnose(env: Readonly<Record<string, string>>, shell?: readonly string[]): Promise<Report> {
  const report = await run([], env, shell);
  const marked = /-----BEGIN KDEBUG REPORT-----\n(.*)\n-----END KDEBUG REPORT-----\n$/.exec(report.out)?.[1];
  if (marked === undefined) throw new Error(`no report in: ${report.out}${report.err}`);
  expectValid(marked);
  if (env.AUTODIAGNOSE_TERMINATION_LOG === undefined) {
    expectValid(report.message);
    expect(Buffer.byteLength(report.message)).toBeLessThanOrEqual(Number(env.AUTODIAGNOSE_MESSAGE ?? 1024));
  }
  return report;
}

export function diagnosisOf({ out }: Report): Diagnosis {
  const diagnosis = parseDiagnosis(out, '');
  if (diagnosis === undefined) throw new Error(`no report in: ${out}`);
  return diagnosis;
}

export const codesOf = ({ findings }: Diagnosis): readonly string[] => findings.map(({ code }) => code);
export const findingOf = ({ findings }: Diagnosis, code: string): Finding | undefined =>
  findings.find((finding) => finding.code === code);
export const sectionOf = ({ sections }: Diagnosis, name: string) => sections.find((section) => section.name === name);
