import { z } from 'zod';
import { MAX_ACTION_ID, MAX_INPUT, MAX_OPTION_VALUE } from '../limits.ts';

/** Slack counts an emoji as one character; it may be eleven UTF-16 units. */
export const MAX_VALUE_LENGTH = 11 * MAX_INPUT;

const FieldState = z.object({
  value: z.string().max(MAX_VALUE_LENGTH).nullish(),
  selected_option: z.object({ value: z.string().max(MAX_OPTION_VALUE) }).nullish(),
});
/** The values in a form: by block id, then action id. */
export const FormState = z.record(z.string().max(MAX_ACTION_ID), z.record(z.string().max(MAX_ACTION_ID), FieldState));

const AnyForm = z.object({ view: z.object({ state: z.object({ values: z.record(z.string(), z.unknown()) }) }) });

/** The ids of the inputs' blocks. Works even if the rest of the payload is malformed. */
export function blockIdsOf(body: unknown): readonly string[] {
  const form = AnyForm.safeParse(body);
  return form.success ? Object.keys(form.data.view.state.values) : [];
}

/** The value of the option that only says how to see the others: no name of anything. */
export const MORE_VALUE = '…';

/** By action id, which is the field's own. Without the fields in which nothing was picked. */
export const fieldsOf = (values: z.infer<typeof FormState>): Record<string, string> =>
  Object.fromEntries(
    inputsOf(values).flatMap(([fieldId, input]) => {
      const typed = input.value ?? input.selected_option?.value ?? '';
      return typed === '' || isMore(input) ? [] : [[fieldId, typed]];
    }),
  );

/** The fields in which somebody picked the option that names nothing. */
export const unpickedIn = (values: z.infer<typeof FormState>): string[] =>
  inputsOf(values)
    .filter(([, input]) => isMore(input))
    .map(([fieldId]) => fieldId);

const inputsOf = (values: z.infer<typeof FormState>) =>
  Object.values(values).flatMap((inputs) => Object.entries(inputs).slice(0, 1));
const isMore = (input: z.infer<typeof FieldState>): boolean => input.selected_option?.value === MORE_VALUE;
