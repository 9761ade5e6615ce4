import { defined } from '../../lib/object.ts';
import type { Outcome } from '../run/outcome.ts';
import type { Verdict, VerdictFinding } from '../run/run.ts';

const MAX_FINDINGS = 3;

const rankOf = ({ rank = 2 }: VerdictFinding): 1 | 2 | 3 => rank;
const worstRank = ({ findings }: Verdict): number => Math.min(4, ...findings.map(rankOf));
const isWrong = (finding: VerdictFinding): boolean => rankOf(finding) < 3;

/**
 * A first answer after a look that brought no report. It stays the headline, unless it found nothing wrong and the end
 * of the look shows what is (`explanation`). It no longer says that all is well: somebody wanted to see more.
 */
export function afterNoLook(first: Verdict, outcome: Outcome, explanation: Verdict | undefined): Verdict {
  const { healthy, ...rest } = first;
  const found = explanation?.findings.filter(isWrong) ?? [];
  const [worst] = found;
  if (worst && worstRank(first) > 2) return { ...rest, line: worst.text, findings: found };
  return outcome.kind === 'succeeded' ? { ...rest, ...defined({ healthy }) } : rest;
}

/**
 * What a look into one pod adds to the first answer about its pod, or about its workload: then what is wrong with the
 * workload stays, since one pod cannot show that it is over.
 */
export function afterLook(looked: Verdict, { line, findings, unseen = [], healthy, ...first }: Verdict): Verdict {
  const kept = defined({ groups: first.groups, siblings: first.siblings });
  if (first.groups === undefined) return { ...looked, ...kept };
  const { healthy: isPodHealthy, unseen: unseenInPod = [], ...rest } = looked;
  const whole = findings.filter(isWrong);
  const codes = new Set(whole.map(({ code }) => code));
  const ofPod = looked.findings.filter(({ code }) => code === undefined || !codes.has(code));
  const all = [...whole, ...ofPod].toSorted((a, b) => rankOf(a) - rankOf(b));
  const leads = whole.length > 0 && Math.min(...whole.map(rankOf)) <= worstRank({ findings: ofPod });
  const notChecked = [...new Set([...unseen, ...unseenInPod])];
  const left = all.length - MAX_FINDINGS + (rest.more ?? 0);
  return {
    ...rest,
    ...kept,
    findings: all.slice(0, MAX_FINDINGS),
    ...defined({
      line: leads ? line : rest.line,
      more: left > 0 ? left : undefined,
      healthy: healthy && isPodHealthy,
      unseen: notChecked.length > 0 ? notChecked : undefined,
    }),
  };
}
