import { CLUSTER_FINDINGS } from './cluster-findings.ts';
import type { FindingRule } from './finding-rule.ts';
import { IMAGE_FINDINGS } from './image-findings.ts';

/** Everything that kdebug's own diagnosis can find; codes are unique. */
export const FINDINGS: readonly FindingRule[] = [...IMAGE_FINDINGS, ...CLUSTER_FINDINGS];

const BY_CODE: ReadonlyMap<string, FindingRule> = new Map(FINDINGS.map((rule) => [rule.code, rule]));

/** The rule of a code; undefined for those of foreign images. */
export const findingRule = (code: string): FindingRule | undefined => BY_CODE.get(code);
