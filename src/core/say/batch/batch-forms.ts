import { defined } from '../../../lib/object.ts';
import type { Batch } from '../../batch/batch.ts';
import type { BatchRun } from '../../run/life-cycle.ts';
import type { Form } from '../message/message.ts';

/** The longest text that one field of a form takes (Slack: 3,000 characters). */
export const MAX_PASTED_LENGTH = 3_000;

/** The two numbers that may change while a batch runs. Its `value` is the batch's id. */
export function resizeForm({ id, batch: { parallelism, replicas, eligible } }: BatchRun): Form {
  return {
    name: 'resize-batch',
    value: id,
    title: 'Change size',
    submit: 'Change',
    intro: `Only these two can change while it runs. ${eligible} pods can be debugged.`,
    fields: [
      {
        id: 'parallelism',
        label: 'Parallelism',
        kind: 'line',
        optional: true,
        hint: 'How many pods at once, 1 to 10.',
        initial: String(parallelism),
        maxLength: 2,
      },
      {
        id: 'replicas',
        label: 'Replicas',
        kind: 'line',
        optional: true,
        hint: 'The most pods to debug. Leave empty for no change.',
        ...defined({ initial: replicas?.toString() }),
        maxLength: 10,
      },
    ],
  };
}

/** Error texts of a form, by field id. */
export type FieldErrors = Readonly<Record<string, string>>;

export type FilledSizes =
  | { readonly kind: 'ok'; readonly parallelism?: number; readonly replicas?: number }
  | { readonly kind: 'errors'; readonly errors: FieldErrors };

const SIZES = ['parallelism', 'replicas'] as const;
const MAX_ENTRIES = { parallelism: 10, replicas: 2_147_483_647 } as const;

/** The sizes of a filled form that differ from the current ones. */
export function sizesOfForm(fields: Readonly<Record<string, string>>, batch: Batch): FilledSizes {
  const typed = SIZES.flatMap((id) => {
    const words = fields[id]?.trim() ?? '';
    return words === '' ? [] : [{ id, number: /^\d{1,10}$/.test(words) ? Number(words) : 0 }];
  });
  const wrong = typed.filter(({ id, number }) => number < 1 || number > MAX_ENTRIES[id]);
  if (wrong.length > 0) {
    const errors = wrong.map(({ id }) => [id, `Enter a whole number from 1 to ${MAX_ENTRIES[id]}.`]);
    return { kind: 'errors', errors: Object.fromEntries(errors) };
  }
  const changed = typed.filter(({ id, number }) => number !== batch[id]);
  if (changed.length === 0) return { kind: 'errors', errors: { parallelism: 'These are the current values.' } };
  return { kind: 'ok', ...Object.fromEntries(changed.map(({ id, number }) => [id, number])) };
}

/** Prefilled values of the form for a job. The cluster has no field; it comes back as the form's `value`. */
export interface ApplyFormValues {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly yaml?: string;
}

/** The form of `/kdebug apply` without a document, and of the shortcut on a message that holds one. */
export const applyForm = ({ namespace, cluster = '', yaml }: ApplyFormValues): Form => ({
  name: 'apply',
  value: cluster,
  title: 'Apply an EphemeralJob',
  submit: 'Apply',
  fields: [
    {
      id: 'yaml',
      label: 'YAML',
      kind: 'lines',
      optional: false,
      hint: 'For a longer job, post it in a code block and use the message shortcut "Apply as EphemeralJob".',
      placeholder: 'apiVersion: apps.kruise.io/v1alpha1',
      maxLength: MAX_PASTED_LENGTH,
      ...defined({ initial: yaml }),
    },
    {
      id: 'namespace',
      label: 'Namespace',
      kind: 'line',
      optional: true,
      hint: 'Leave empty for the namespace in the job, or the default of this channel.',
      maxLength: 63,
      ...defined({ initial: namespace }),
    },
  ],
});
