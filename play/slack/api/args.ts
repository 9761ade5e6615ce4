import type { Json } from '../state/message.ts';
import { invalidArguments, SlackError } from './slack-error.ts';

/** Arguments of a call: strings from a form body, any JSON from a JSON body. */
export type Args = Readonly<Json>;

export function optional(args: Args, name: string): string | undefined {
  const value = args[name];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw invalidArguments(`must be a string [json-pointer:/${name}]`);
}

export function required(args: Args, name: string): string {
  const value = optional(args, name);
  if (value === undefined) throw invalidArguments(`missing required field: ${name}`);
  return value;
}

export function flag(args: Args, name: string): boolean | undefined {
  const value = optional(args, name);
  return value === undefined ? undefined : value === 'true' || value === '1';
}

export function wholeNumber(args: Args, name: string): number | undefined {
  const value = optional(args, name);
  if (value === undefined) return undefined;
  const parsed = Number(value);
  if (!Number.isInteger(parsed)) throw invalidArguments(`must be an integer [json-pointer:/${name}]`);
  return parsed;
}

/** A structured argument: JSON itself, or JSON in a string (as every Slack SDK sends it). @throws SlackError `error` when it is no JSON */
export function structured(args: Args, name: string, error: string): unknown {
  const value = args[name];
  if (typeof value !== 'string') return value ?? undefined;
  if (value === '') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    throw new SlackError(error);
  }
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
