import type { Json } from '../../slack/state/message.ts';

/** Readers of JSON that came from the app: whatever its shape, nothing throws. */
export type { Json };

export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const objectsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);

export const objectOf = (value: unknown): Json => (isJson(value) ? value : {});

export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
