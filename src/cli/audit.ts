import { createReadStream, existsSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { sealingKey } from '../config/env.ts';
import { auditKey, formatLink, LINK_FORM, type Link, parseLink, readHead } from '../core/audit/chain.ts';
import { linesOf } from '../core/audit/lines.ts';
import { type VerifyResult, verifyChain } from '../core/audit/verify.ts';
import { verifyFile } from '../core/audit/verify-file.ts';
import { formatCount } from '../lib/duration.ts';

const USAGE = [
  'usage: audit verify FILE [--key=BASE64] [--head=CHAIN:SEQUENCE:MAC …]',
  '  FILE    an audit log with its FILE.head beside it, or kdebug’s own log with records in it; - reads such a log from standard input',
  '  --key   the KDEBUG_KEY that sealed it; default: KDEBUG_KEY from the environment, or the key that kdebug derives from SLACK_BOT_TOKEN',
  '  --head  an earlier head, from kdebug’s own log or an earlier verification: the log must still hold that record',
];

const WRONG = 1;
const USAGE_ERROR = 2;

interface Request {
  readonly path: string;
  readonly key: Uint8Array;
  readonly mustHold: readonly Link[];
}

/** Runs `audit WORDS…`. Returns the exit code: 0 intact, 1 defect found, 2 wrong usage or unreadable file. */
export async function audit(
  words: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
  out: (line: string) => void,
): Promise<number> {
  const request = readRequest(words, variables);
  if (typeof request === 'string') {
    for (const line of [request, ...USAGE]) out(line);
    return USAGE_ERROR;
  }
  try {
    const verdict = await verify(request);
    for (const line of report(verdict)) out(line);
    return verdict.defect ? WRONG : 0;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    out(`${request.path} cannot be read (${error.code})`);
    return USAGE_ERROR;
  }
}

function readRequest(
  words: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): Request | string {
  const parsed = parseWords(words);
  if (typeof parsed === 'string') return parsed;
  const { verb, path, rest, heads } = parsed;
  if (verb !== 'verify' || path === undefined || rest > 0) return 'name the file to verify';
  if (!heads.every((head) => LINK_FORM.test(head))) return '--head must be CHAIN:SEQUENCE:MAC, as printed';
  const key = sealingKey(parsed.key === undefined ? variables : { KDEBUG_KEY: parsed.key });
  if (key === undefined) return 'no usable key: KDEBUG_KEY must be 32 bytes in base64';
  return { path, key: auditKey(key), mustHold: heads.map(parseLink) };
}

function parseWords(words: readonly string[]) {
  try {
    const options = { key: { type: 'string' }, head: { type: 'string', multiple: true } } as const;
    const { values, positionals } = parseArgs({ args: [...words], options, allowPositionals: true });
    const [verb, path, ...others] = positionals;
    return { verb, path, rest: others.length, key: values.key, heads: values.head ?? [] };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function verify({ path, key, mustHold }: Request): Promise<VerifyResult> {
  // Opens the stream only on the first read: an error without a listener would end the process.
  async function* chunks() {
    yield* path === '-' ? process.stdin : createReadStream(path);
  }
  if (path === '-' || !(await isRecordFile(path))) {
    return verifyChain(linesOf(chunks()), { key, form: 'stream', mustHold });
  }
  const head = async () => (existsSync(`${path}.head`) ? readHead(key, await readFile(`${path}.head`)) : undefined);
  return verifyFile(key, { lines: linesOf(chunks()), head }, mustHold);
}

/** True for an audit log with a head beside it, and for a file that holds only records. */
async function isRecordFile(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const beginning = '{"v":1,';
    const { buffer, bytesRead } = await file.read(Buffer.alloc(beginning.length), 0, beginning.length, 0);
    return existsSync(`${path}.head`) || buffer.toString('latin1', 0, bytesRead) === beginning;
  } finally {
    await file.close();
  }
}

function report({ defect: wrong, notes, heads, ...counts }: VerifyResult): readonly string[] {
  const numbers = [
    formatCount(counts.records, 'record'),
    formatCount(counts.runs, 'run'),
    formatCount(counts.chains, 'start'),
  ];
  const span = counts.firstAt === undefined ? '' : `, from ${counts.firstAt} to ${counts.lastAt}`;
  const found = `${numbers.join(', ')}${span}`;
  const noteLines = notes.map((note) => `note: ${note}`);
  if (wrong) {
    const where = wrong.line === undefined ? 'wrong' : `wrong at line ${wrong.line}`;
    return [...noteLines, `${where}: ${wrong.text}`, `intact before that: ${found}`];
  }
  return [...noteLines, `intact: ${found}`, ...heads.map((head) => `head ${formatLink(head)}`)];
}
