import type { ApiError } from '../api/status.ts';
import { badRequest } from '../api/status.ts';
import type { Labels, PodObject } from './pod.ts';

export type PodFilter = (pod: PodObject) => boolean;

type LabelTest = (labels: Labels) => boolean;

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$/;
const SET = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/;
const EQUALITY = /^([^!=\s]+)\s*(==|!=|=)\s*([^=]*)$/;

/** Which pods a list or a watch wants. @throws ApiError 400 for what cannot be parsed or is not supported. */
export function podFilter(query: URLSearchParams): PodFilter {
  const labels = labelTests(query.get('labelSelector') ?? '');
  const fields = fieldTests(query.get('fieldSelector') ?? '');
  return (pod) => labels.every((test) => test(pod.metadata.labels ?? {})) && fields.every((test) => test(pod));
}

/** By labels and `metadata.*` fields: for objects other than pods. @throws ApiError 400 */
export function metadataFilter(query: URLSearchParams): (object: Named) => boolean {
  const labels = labelTests(query.get('labelSelector') ?? '');
  const fields = fieldPairs(query.get('fieldSelector') ?? '').map(({ field, value, equal }) => {
    const read = METADATA[field];
    if (!read) throw badRequest(`field label not supported: ${field}`);
    return (object: Named) => (read(object) === value) === equal;
  });
  return (object) => labels.every((test) => test(object.metadata.labels ?? {})) && fields.every((test) => test(object));
}

interface Named {
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
}

const METADATA: Readonly<Record<string, (object: Named) => string>> = {
  'metadata.name': ({ metadata }) => metadata.name,
  'metadata.namespace': ({ metadata }) => metadata.namespace ?? '',
};

function labelTests(selector: string): LabelTest[] {
  return splitOutsideParentheses(selector).map(labelTest);
}

function labelTest(requirement: string): LabelTest {
  const set = SET.exec(requirement);
  if (set) {
    const [, key = '', operator, values = ''] = set;
    const wanted = new Set(values.split(',').map((value) => value.trim()));
    const isIn: LabelTest = (labels) => key in labels && wanted.has(labels[key] ?? '');
    return operator === 'in' ? isIn : (labels) => !isIn(labels);
  }
  const equality = EQUALITY.exec(requirement);
  if (equality) {
    const [, key = '', operator, value = ''] = equality;
    return operator === '!=' ? (labels) => labels[key] !== value.trim() : (labels) => labels[key] === value.trim();
  }
  const key = requirement.replace(/^!/, '').trim();
  if (!NAME.test(key)) throw unparsable(requirement);
  return requirement.startsWith('!') ? (labels) => !(key in labels) : (labels) => key in labels;
}

function unparsable(requirement: string): ApiError {
  return badRequest(`unable to parse requirement: found '${requirement}', expected: identifier`);
}

const FIELDS: Readonly<Record<string, (pod: PodObject) => string>> = {
  'metadata.name': (pod) => pod.metadata.name,
  'metadata.namespace': (pod) => pod.metadata.namespace,
  'spec.nodeName': (pod) => pod.spec.nodeName ?? '',
  'spec.restartPolicy': (pod) => pod.spec.restartPolicy ?? '',
  'status.phase': (pod) => pod.status.phase,
  'status.podIP': (pod) => pod.status.podIP ?? '',
};

function fieldTests(selector: string): PodFilter[] {
  return fieldPairs(selector).map(({ field, value, equal }) => {
    const read = FIELDS[field];
    if (!read) throw badRequest(`field label not supported: ${field}`);
    return (pod) => (read(pod) === value) === equal;
  });
}

/** `a=b,c!=d` taken apart. @throws ApiError 400 */
export function fieldPairs(selector: string): { field: string; value: string; equal: boolean }[] {
  return selector
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const found = EQUALITY.exec(part);
      if (!found) throw badRequest(`invalid selector: '${selector}'; can't understand '${part}'`);
      return { field: found[1] ?? '', value: found[3] ?? '', equal: found[2] !== '!=' };
    });
}

function splitOutsideParentheses(selector: string): string[] {
  return selector
    .split(/,(?![^(]*\))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
