/** The images that can show more of a finding, by the alias that a policy gives them, and the words on their button. */
export const NEXT_IMAGES = {
  stacks: 'Get its stacks',
  profile: 'Profile its CPU',
  net: 'Probe its network',
  blackbox: 'Catch the next crash',
} as const;
export type NextImage = keyof typeof NEXT_IMAGES;

/** A second run of the program shows more where no image can, because the program is down. */
export const ONCE_MORE = 'once-more';

/** The words on the button of the next step. */
export const NEXT_LABELS: Readonly<Record<string, string>> = {
  ...NEXT_IMAGES,
  [ONCE_MORE]: 'Run it once more',
};

/** The language runtime of the target, if the report names it. */
export const RUNTIMES = ['jvm', 'python', 'node', 'go', 'ruby', 'dotnet', 'native', 'unknown'] as const;
export type Runtime = (typeof RUNTIMES)[number];

/**
 * One thing that a diagnosis can find, with its threshold and its next step. This table generates docs/findings.md, the
 * thresholds inside the autodiagnose image, and the bot's verdict.
 */
export interface FindingRule {
  /** Stable, e.g. `close_wait`. */
  readonly code: string;
  /** The observer: the image beside the target, or the bot through the Kubernetes API. */
  readonly seenBy: 'image' | 'cluster';
  /** Its section in the report, e.g. `memory`. */
  readonly section: string;
  /** The most important comes first in a verdict: 1 the workload is failing now, 2 it is about to, 3 worth knowing. */
  readonly rank: 1 | 2 | 3;
  /** Its meaning, in one sentence for somebody who has never seen it. */
  readonly means: string;
  /** A finding if the value is above this; absent where mere presence is the finding. */
  readonly threshold?: number;
  /** A finding if the value is below the threshold instead, e.g. the days until a certificate expires. */
  readonly below?: true;
  /** Of value and threshold, e.g. `%`, `sockets`. */
  readonly unit?: string;
  /** One next step, an imperative sentence. */
  readonly next: string;
  /** The image that shows more of it. */
  readonly nextImage?: NextImage;
  /** The only runtime of which that image shows more; absent: any. */
  readonly nextImageOf?: Runtime;
  /** The source of the threshold: a page, a kernel document, or "chosen" with the reason. */
  readonly source: string;
}
