import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { AuditCheck, type AuditReport, type ChainHead, readAuditLine } from '../core/audit/chain.ts';

/** Checks an audit file, or a log with audit records in it, and the heads beside it. `key` is the audit chain's. */
export async function verifyAudit(path: string, key: Uint8Array): Promise<AuditReport> {
  const check = new AuditCheck(key);
  let line = 0;
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    line += 1;
    const record = text === '' ? false : readAuditLine(text);
    if (record !== false) check.add(line, record);
  }
  return check.finish(await headsOf(path));
}

async function headsOf(path: string): Promise<readonly ChainHead[]> {
  const names = await readdir(dirname(path));
  const heads = names.filter((name) => name.startsWith(`${basename(path)}.`) && name.endsWith('.head'));
  return Promise.all(heads.map(async (name) => readHead(await readFile(join(dirname(path), name), 'utf8'), name)));
}

/** A head that cannot be read is one that does not fit. */
function readHead(text: string, name: string): ChainHead {
  try {
    const { chain, seq, mac, seal } = JSON.parse(text);
    return { chain: String(chain), seq: Number(seq), mac: String(mac), seal: String(seal) };
  } catch {
    return { chain: name, seq: -1, mac: '', seal: '' };
  }
}

/** The lines that `npm run audit -- verify` prints. */
export function reportLines(report: AuditReport): readonly string[] {
  const { records, runs, firstAt, lastAt, problems } = report;
  const found = problems.map(({ line, problem }) => (line === 0 ? problem : `line ${line} ${problem}`));
  const span = firstAt === undefined ? '' : `, from ${firstAt} to ${lastAt}`;
  const verdict = problems.length === 0 ? 'every record is as it was written' : `${problems.length} problems`;
  return [...found, `${records} records of ${runs} runs${span}: ${verdict}`];
}
