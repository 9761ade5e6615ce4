import { defined } from '../../lib/object.ts';
import { sentence, shorten } from '../../lib/text.ts';
import {
  isTrouble,
  rankOfShown,
  type Verdict,
  type VerdictFinding,
  type VerdictGroup,
} from '../diagnosis/facts/verdict.ts';
import { MAX_FINDINGS } from '../diagnosis/findings.ts';
import { VERDICT_LINE_LENGTH } from '../line-lengths.ts';
import type { Outcome } from '../outcome.ts';
import type { Refusal } from '../request/origin.ts';

const worstRank = ({ findings }: Verdict): number => Math.min(4, ...findings.map(rankOfShown));

/**
 * A first answer after a look that brought no report. It stays the headline, unless it found nothing wrong and the end
 * of the look shows what is (`explanation`). It no longer says that all is well: somebody wanted to see more.
 */
export function afterNoLook(first: Verdict, outcome: Outcome, explanation: Verdict | undefined): Verdict {
  const { healthy, ...rest } = first;
  const found = explanation?.findings.filter(isTrouble) ?? [];
  const [worst] = found;
  if (worst && worstRank(first) > 2) return { ...rest, line: worst.text, findings: found };
  return outcome.kind === 'succeeded' ? { ...rest, ...defined({ healthy }) } : rest;
}

/** The inspector that an ended run left open comes first, because kdebug opened it. */
export function withLeftOpen(verdict: Verdict | undefined, left: VerdictFinding): Verdict {
  const { healthy: _, line, findings = [], ...rest } = verdict ?? {};
  return {
    ...rest,
    ...(line === undefined ? {} : { line: left.text }),
    findings: [left, ...findings].slice(0, MAX_FINDINGS),
  };
}

/** A first answer where no look may follow: what stands in its way, before anybody was asked to approve it. */
export const withoutLook = ({ unseen = [], ...first }: Verdict, { message, hint }: Refusal): Verdict => ({
  ...first,
  unseen: [...unseen, `the inside: ${sentence(message)} ${hint}`],
});

/**
 * Adds the diagnosis inside one pod to the first answer about the pod or its workload. Findings about the workload
 * stay, since one pod cannot disprove them, and a finding in one of several pods names that pod.
 */
export function afterLook(
  looked: Verdict,
  { line, findings, unseen = [], healthy, ...first }: Verdict,
  podName: string,
): Verdict {
  const { groups, siblings, changed } = first;
  const fromFirst = defined({ groups, siblings, changed, ownLog: first.ownLog ?? looked.ownLog });
  if (first.groups === undefined) return { ...looked, ...fromFirst };
  const { healthy: isPodHealthy, unseen: unseenInPod = [], ...rest } = looked;
  const codes = new Set(findings.map(({ code }) => code));
  const ofPod = looked.findings
    .filter(({ code }) => code === undefined || !codes.has(code))
    .map((finding) => (isOnePod(first.groups) ? finding : { ...finding, text: named(podName, finding.text) }));
  const all = [...findings, ...ofPod].toSorted((a, b) => rankOfShown(a) - rankOfShown(b));
  const leads = findings.length > 0 && worstRank({ findings }) <= worstRank({ findings: ofPod });
  const notChecked = [...new Set([...unseen, ...unseenInPod])];
  const left = all.length - MAX_FINDINGS + (rest.more ?? 0);
  return {
    ...rest,
    ...fromFirst,
    findings: all.slice(0, MAX_FINDINGS),
    ...defined({
      line: leads ? line : (ofPod.find(isTrouble)?.text ?? rest.line),
      more: left > 0 ? left : undefined,
      healthy: healthy && isPodHealthy,
      unseen: notChecked.length > 0 ? notChecked : undefined,
    }),
  };
}

const isOnePod = (groups: readonly VerdictGroup[] = []): boolean =>
  groups.reduce((sum, { podNames, more = 0 }) => sum + podNames.length + more, 0) <= 1;

const named = (podName: string, words: string): string => shorten(`${podName}: ${words}`, VERDICT_LINE_LENGTH);
