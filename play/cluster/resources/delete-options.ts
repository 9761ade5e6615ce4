import { type Call, readBody } from '../api/call.ts';
import { badRequest } from '../api/status.ts';
import { checkDryRun, isDryRun } from '../api/write-options.ts';
import { isObject, parseJson } from '../objects/json.ts';
import type { JsonObject } from '../objects/pod.ts';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly isDryRun: boolean;
}

/** What a DELETE asks for, in its query or its body (meta/v1 DeleteOptions). @throws ApiError 400, 422 */
export async function deleteOptions(call: Call): Promise<DeleteOptions> {
  const body = optionsIn(await readBody(call));
  const dryRun = Array.isArray(body.dryRun) ? body.dryRun.map(String) : [];
  checkDryRun(dryRun);
  const grace = call.query.get('gracePeriodSeconds') ?? body.gracePeriodSeconds;
  return {
    ...(grace === undefined || grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    isDryRun: isDryRun(call) || dryRun.includes('All'),
  };
}

function optionsIn(text: string): JsonObject {
  if (text === '') return {};
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
  } catch {
    // Told below.
  }
  throw badRequest('the object provided is unrecognized (must be of type DeleteOptions)');
}
