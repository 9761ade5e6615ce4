import { isObject } from '../../../lib/is-object.ts';

/**
 * Reads fields of JSON that an API server sent. Every reader is tolerant: a field that is missing or of another type
 * reads as nothing, so that an old or a newer server, or a broken one, never makes the bot throw.
 */
export type JsonObject = Readonly<Record<string, unknown>>;

const EMPTY: JsonObject = {};

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : EMPTY);

export const asObjects = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.map(asObject) : []);

export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

/** The members of a JSON object whose values are text. */
export const asTexts = (value: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(asObject(value)).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );

/** `value` when it is a text that is not empty. */
export const textOrNothing = (value: unknown): string | undefined => asText(value) || undefined;

export const asFlag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);
