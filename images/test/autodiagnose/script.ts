import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'vitest';
import type { Diagnosis, Finding } from '../../../src/core/diagnosis/facts/report.ts';
import { parseDiagnosis } from '../../../src/core/diagnosis/marked-report.ts';
import { directory } from './targets.ts';

/** The program run on real processes; every document that it writes is held against the schema. */

const TOOLS = fileURLToPath(new URL('../../tools', import.meta.url));

/** Whether the program can be run here; says why not. */
export const canLook = (() => {
  if (!existsSync('/proc/self/status')) {
    console.warn('skipped: autodiagnose needs /proc, which this machine does not have');
    return false;
  }
  const isThere = spawnSync('go', ['version'], { stdio: 'ignore' }).status === 0;
  if (!isThere) console.warn('skipped: there is no go to build autodiagnose with');
  return isThere;
})();

let built: string | undefined;

/** The program, built once for all files of tests; it may be run and not read, as in the image. */
function program(): string {
  if (built !== undefined) return built;
  const kept = fileURLToPath(new URL('../../../node_modules/.cache/kdebug/autodiagnose', import.meta.url));
  const env = { ...process.env, CGO_ENABLED: '0' };
  // Go links it again only where something has changed.
  const { status, stderr } = spawnSync('go', ['build', '-o', kept, './cmd/autodiagnose'], { cwd: TOOLS, env });
  if (status !== 0) throw new Error(`autodiagnose was not built: ${stderr.toString()}`);
  const folder = mkdtempSync(path.join(tmpdir(), 'kdebug-autodiagnose-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'autodiagnose');
  copyFileSync(kept, file);
  // Another user runs it too.
  chmodSync(folder, 0o755);
  chmodSync(file, 0o111);
  built = file;
  return file;
}

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

/** Runs it, with one reading instead of a sample unless `env` asks for one; `before` are words in front of it, as of timeout(1). */
export async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  before: readonly string[] = [],
): Promise<Report> {
  const file = path.join(await directory(), 'termination-log');
  const quick = { PATH: process.env.PATH ?? '', AUTODIAGNOSE_TERMINATION_LOG: file, AUTODIAGNOSE_SAMPLE: '0' };
  const ended = await new Promise<Omit<Report, 'message'>>((resolve) => {
    const [command = '', ...first] = [...before, program()];
    execFile(command, [...first, ...args], { env: { ...quick, ...env } }, (error, out, err) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
  });
  const message = existsSync(file) ? await readFile(file, 'utf8') : '';
  await rm(file, { force: true });
  return { ...ended, message };
}

/** A look at a process; both documents must be valid, and the short one short. */
export async function diagnose(env: Readonly<Record<string, string>>, before?: readonly string[]): Promise<Report> {
  const report = await run([], env, before);
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
