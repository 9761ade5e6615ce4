import type { Call } from './call.ts';
import { cause, invalid, type StatusCause } from './status.ts';

const KINDS: Readonly<Record<string, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
};
const VALIDATIONS = ['', 'Ignore', 'Strict', 'Warn'];

/** Whether the query asks for a dry run: everything is checked, nothing is changed. */
export const isDryRun = (call: Call): boolean => call.query.getAll('dryRun').includes('All');

/** @throws ApiError 422 options of a write that the server does not know (meta/v1 validation) */
export function checkWriteOptions({ route, query }: Call): void {
  const kind = KINDS[route.verb];
  if (kind === undefined) return;
  refuse(kind, [
    ...dryRunCauses(query.getAll('dryRun')),
    ...(kind === 'DeleteOptions' ? [] : queryCauses(kind, query)),
  ]);
}

/** The same for options in a body, as DELETE has them. @throws ApiError 422 */
export function checkDryRun(values: readonly string[]): void {
  refuse('DeleteOptions', dryRunCauses(values));
}

function refuse(kind: string, causes: readonly StatusCause[]): void {
  if (causes.length > 0) throw invalid(kind, '', causes, 'meta.k8s.io');
}

function dryRunCauses(values: readonly string[]): readonly StatusCause[] {
  if (values.every((value) => value === 'All')) return [];
  const told = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  return [cause('FieldValueNotSupported', 'dryRun', told)];
}

function queryCauses(kind: string, query: URLSearchParams): readonly StatusCause[] {
  const validation = query.get('fieldValidation') ?? '';
  const list = VALIDATIONS.map((each) => `"${each}"`).join(', ');
  const unsupported = `Unsupported value: "${validation}": supported values: ${list}`;
  const tooLong = 'Too long: may not be more than 128 bytes';
  const isForced = kind === 'PatchOptions' && query.has('force');
  return [
    ...(isForced ? [cause('FieldValueForbidden', 'force', 'Forbidden: may not be specified for non-apply patch')] : []),
    ...((query.get('fieldManager') ?? '').length > 128 ? [cause('FieldValueTooLong', 'fieldManager', tooLong)] : []),
    ...(VALIDATIONS.includes(validation) ? [] : [cause('FieldValueNotSupported', 'fieldValidation', unsupported)]),
  ];
}
