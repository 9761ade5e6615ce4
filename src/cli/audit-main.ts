import { parseArgs } from 'node:util';
import { derivedKey } from '../config/env.ts';
import { auditKey } from '../core/audit/chain.ts';
import { reportLines, verifyAudit } from './audit.ts';

const USAGE = `npm run audit -- verify FILE [--key BASE64]
The key is KDEBUG_KEY, or derived from SLACK_BOT_TOKEN as the bot does without one.
Exit code 0: as it was written; 1: not; 2: usage.`;

function keyOf(given: string | undefined): Uint8Array | undefined {
  const text = given ?? process.env.KDEBUG_KEY;
  const { SLACK_BOT_TOKEN: token } = process.env;
  const key = text === undefined ? token && derivedKey(token) : Buffer.from(text, 'base64');
  return key ? auditKey(key) : undefined;
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: { key: { type: 'string' } }, allowPositionals: true });
  const [verb, path] = positionals;
  const key = keyOf(values.key);
  if (verb !== 'verify' || path === undefined || !key) {
    console.error(USAGE);
    return 2;
  }
  const report = await verifyAudit(path, key);
  for (const line of reportLines(report)) console.log(line);
  return report.problems.length === 0 && report.records > 0 ? 0 : 1;
}

process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error), `\n${USAGE}`);
  return 2;
});
