import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILE_ENDINGS, FILE_KINDS } from '../../src/core/container/file-kinds.ts';
import { parseDiagnosis } from '../../src/core/diagnosis/marked-report.ts';
import { verdictOf } from '../../src/core/diagnosis/report-verdict.ts';
import { FrameParser } from '../../src/core/files/frame-parser.ts';
import { FILE_PROBLEMS } from '../../src/core/files/run-file.ts';
import { RunFiles } from '../../src/flow/log/run-files.ts';
import { Turns } from '../../src/lib/turns.ts';
import { FakeSpools } from '../flow/support/fakes.ts';
import { aPlan, aPolicy } from '../support/builders.ts';

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/diagnostic-images.md', import.meta.url)), 'utf8');
const EXAMPLE = /<!-- example -->\s+```sh\n(.*?)```/s.exec(PAGE)?.[1] ?? '';

describe.skipIf(process.platform !== 'linux')('the example of docs/diagnostic-images.md', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kdebug-example-'));
    writeFileSync(join(folder, 'example.sh'), EXAMPLE);
    for (const [name, jobs] of [['few', 3] as const, ['many', 140] as const]) {
      mkdirSync(join(folder, name));
      for (let job = 0; job < jobs; job += 1) writeFileSync(join(folder, name, `job ${job}`), '');
    }
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function verdict(spool: string) {
    const env = { PATH: process.env.PATH ?? '', SPOOL: join(folder, spool) };
    const log = execFileSync('sh', [join(folder, 'example.sh')], { env, encoding: 'utf8' });
    const diagnosis = parseDiagnosis(log, '');
    return diagnosis && verdictOf(diagnosis, aPlan({ imageAlias: 'spool' }), undefined);
  }

  it('is about twenty lines', () => {
    expect(EXAMPLE.trim().split('\n').length).toBeLessThanOrEqual(24);
  });

  it('gets its own verdict, with what was fine', () => {
    expect(verdict('few')).toMatchObject({ line: '3 jobs wait.', findings: [], fine: 'spool', by: 'spool' });
  });

  it('gets its own finding, with its number, its threshold and its next step', () => {
    expect(verdict('many')).toMatchObject({
      line: '140 jobs wait.',
      findings: [{ text: '140 jobs wait', limit: '100', next: 'Look at the worker.' }],
    });
  });

  it('says what it could not see, and gets the button that helps', () => {
    const blind = verdict('missing');
    expect(blind?.unseen?.[0]).toContain('spool: the files of the target');
    expect(blind?.lookAgain).toBeDefined();
  });
});

it('the file of the page is one', async () => {
  const marked = / {4}-----BEGIN KDEBUG FILE(?:.*\n)+? {4}-----END KDEBUG FILE.*\n/.exec(PAGE)?.[0] ?? '';
  const parser = new FrameParser(0);
  const files = new RunFiles({
    kinds: ['text'],
    limits: aPolicy().limits,
    redact: [],
    openSpool: () => new FakeSpools().open(),
    turns: new Turns({ elapsed: () => 0 }).of('U0ROY'),
  });
  for (const part of [...parser.push(Buffer.from(marked.replaceAll(/^ {4}/gm, ''))), ...parser.end()])
    if (part.kind !== 'text') await files.accept(part);
  expect(files.read.listed).toEqual([expect.objectContaining({ name: 'threads.txt', bytes: 12 })]);
  expect(files.read.whole).toHaveLength(1);
});

it('the page has every kind, ending and problem of files', () => {
  const rows = FILE_KINDS.map((kind) => PAGE.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`)));
  for (const { ending, kind } of FILE_ENDINGS) expect(rows[FILE_KINDS.indexOf(kind)]).toContain(`\`${ending}\``);
  for (const problem of FILE_PROBLEMS) expect(PAGE).toContain(`| \`${problem}\` |`);
});

it('every field and limit that the page names is the parser’s', () => {
  const parser = readFileSync(
    fileURLToPath(new URL('../../src/core/diagnosis/facts/report.ts', import.meta.url)),
    'utf8',
  );
  for (const limit of [
    '64 * 1024',
    'MAX_TEXT_LENGTH = 300',
    'MAX_ITEMS = 20',
    '2_147_483_647',
    '[a-z][a-z0-9_-]{0,39}',
  ])
    expect(parser).toContain(limit);
});

it('autodiagnose can be run but not read: one script lays out the root, with the Dockerfile or without', () => {
  const read = (name: string): string =>
    readFileSync(fileURLToPath(new URL(`../../images/autodiagnose/${name}`, import.meta.url)), 'utf8');
  expect(read('build-rootfs.sh')).toMatch(/^chmod 0111 "\$root\/autodiagnose"$/m);
  expect(read('Dockerfile')).toMatch(/^RUN \S+ sh \/src\/autodiagnose\/build-rootfs\.sh \/out/m);
  expect(read('Dockerfile')).toMatch(/^FROM scratch\n[\s\S]*^COPY --from=build \/out\/ \/$/m);
});
