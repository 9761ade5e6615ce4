import { isObject } from '../../../lib/object.ts';

/**
 * Reads fields of an API server's JSON. A missing field, or one of another type, reads as empty, so no server, however
 * new, old or broken, makes the bot throw.
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

export const textOrUndefined = (value: unknown): string | undefined => asText(value) || undefined;

export const asFlag = (value: unknown): boolean | undefined => (typeof value === 'boolean' ? value : undefined);
