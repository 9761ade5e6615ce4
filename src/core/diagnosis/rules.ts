/**
 * One thing that a diagnosis can find, with its threshold and its next step. All of them, in one table, make
 * docs/findings.md, the thresholds inside the autodiagnose image, and the bot's verdict.
 */
export interface FindingRule {
  /** Stable, e.g. `close_wait`. */
  readonly code: string;
  /** Who can see it: the image beside the target, or the bot through the Kubernetes API. */
  readonly seenBy: 'image' | 'cluster';
  /** The section of the report it belongs to, e.g. `memory`. */
  readonly section: string;
  /** The most important comes first in a verdict: 1 the workload is failing now, 2 it is about to, 3 worth knowing. */
  readonly rank: 1 | 2 | 3;
  /** What it means, one sentence for somebody who has never seen it. */
  readonly means: string;
  /** Found when the value is above this; absent where being there at all is the finding. */
  readonly threshold?: number;
  /** Found when the value is below the threshold instead, e.g. the days that a certificate still has. */
  readonly below?: true;
  /** Of value and threshold, e.g. `%`, `sockets`. */
  readonly unit?: string;
  /** One next step, an imperative sentence. */
  readonly next: string;
  /** Where the threshold comes from: a page, a kernel document, or "chosen" with the reason. */
  readonly source: string;
}
