/** A form to fill in, in neutral words: it knows nothing of Slack. All texts are plain. */
export interface Form {
  /** Which form it is; comes back with the submission. */
  readonly name: string;
  /** What it is about (a run id, a place); comes back unchanged, and is never trusted. At most 2,000 characters. */
  readonly value: string;
  readonly title: string;
  readonly submit: string;
  /** Said above the fields. */
  readonly intro?: string;
  readonly fields: readonly Field[];
}

export interface Field {
  readonly id: string;
  readonly label: string;
  readonly kind: 'line' | 'lines' | 'choice';
  readonly optional: boolean;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly initial?: string;
  /** Of a choice, at most 100. */
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly maxLength?: number;
}
