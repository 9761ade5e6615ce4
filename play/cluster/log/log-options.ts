import { badRequest, cause, invalid } from '../api/status.ts';

/** core/v1 PodLogOptions, as far as they are served. */
export interface LogOptions {
  readonly follow: boolean;
  readonly timestamps: boolean;
  readonly previous: boolean;
  /** Whole seconds since the epoch: the API server sends `sinceTime` on to the kubelet without its fraction. */
  readonly sinceSecond?: number;
  readonly tailLines?: number;
  readonly limitBytes?: number;
}

/** @throws ApiError 400 a time that is none; 422 numbers out of range, or both kinds of "since" */
export function logOptions(podName: string, query: URLSearchParams, now: number): LogOptions {
  const number = (key: string, least: number) => checkedNumber(podName, { key, least, value: query.get(key) });
  const sinceSeconds = number('sinceSeconds', 1);
  const sinceTime = query.get('sinceTime');
  const tailLines = number('tailLines', 0);
  const limitBytes = number('limitBytes', 1);
  if (sinceSeconds !== undefined && sinceTime !== null) {
    const told = 'Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified';
    throw invalid('PodLogOptions', podName, [cause('FieldValueForbidden', '[]', told)]);
  }
  const since = sinceTime === null ? sinceSeconds && Math.floor(now / 1000) - sinceSeconds : secondOf(sinceTime);
  return {
    follow: isTrue(query.get('follow')),
    timestamps: isTrue(query.get('timestamps')),
    previous: isTrue(query.get('previous')),
    ...(since === undefined ? {} : { sinceSecond: since }),
    ...(tailLines === undefined ? {} : { tailLines }),
    ...(limitBytes === undefined ? {} : { limitBytes }),
  };
}

const isTrue = (value: string | null): boolean => value === 'true' || value === '1';

function checkedNumber(
  podName: string,
  { key, least, value }: { key: string; least: number; value: string | null },
): number | undefined {
  if (value === null || value === '') return undefined;
  const number = Number(value);
  if (!Number.isInteger(number)) throw badRequest(`strconv.ParseInt: parsing "${value}": invalid syntax`);
  if (number >= least) return number;
  const rule = least === 0 ? 'must be greater than or equal to 0' : 'must be greater than 0';
  throw invalid('PodLogOptions', podName, [cause('FieldValueInvalid', key, `Invalid value: ${number}: ${rule}`)]);
}

function secondOf(time: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}T/.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(ms))
    throw badRequest(`parsing time "${time}" as "2006-01-02T15:04:05Z07:00": cannot parse "${time}" as "2006"`);
  return Math.floor(ms / 1000);
}
