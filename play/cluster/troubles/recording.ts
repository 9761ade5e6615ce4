import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, parseJson } from '../objects/json.ts';
import type { Json, JsonObject } from '../objects/pod.ts';

/** One namespace as it was at a moment, moved in time as if that moment were now. */
export interface Recording {
  readonly objects: readonly JsonObject[];
  /** The lines of `POD_CONTAINER`, and of its last incarnation as `POD_CONTAINER.previous`; with the kubelet's stamps. */
  readonly logs: ReadonlyMap<string, readonly string[]>;
}

/**
 * Reads a folder: `objects.json` (a JSON list of API objects), `at.txt` (the time of the recording, RFC 3339), and
 * `logs/POD_CONTAINER[.previous].log`. @throws Error what is wrong with a file
 */
export function readRecording(folder: string, nowMs: number): Recording {
  const at = Date.parse(readFileSync(join(folder, 'at.txt'), 'utf8').trim());
  if (Number.isNaN(at)) throw new Error(`${folder}: at.txt has no RFC 3339 time`);
  const objects = parseJson(readFileSync(join(folder, 'objects.json'), 'utf8'));
  if (!Array.isArray(objects)) throw new Error(`${folder}: objects.json is no list`);
  // Whole seconds: the digits behind them stay as they are.
  const shift = shiftBy(Math.round((nowMs - at) / 1000));
  const logs = join(folder, 'logs');
  const names = existsSync(logs) ? readdirSync(logs).filter((name) => name.endsWith('.log')) : [];
  return {
    objects: objects.filter(isObject).map((object) => shiftedObject(object, shift)),
    logs: new Map(
      names.map((name) => [name.slice(0, -4), shiftedLines(readFileSync(join(logs, name), 'utf8'), shift)]),
    ),
  };
}

type Shift = (text: string) => string;

const TIME = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(\.\d+)?Z$/;

/** Moves a time; other texts, and the beginning of time (a container that never ran), stay. */
const shiftBy =
  (seconds: number): Shift =>
  (text) => {
    const [, whole, fraction = ''] = TIME.exec(text) ?? [];
    if (whole === undefined || whole.startsWith('1970')) return text;
    return `${new Date(Date.parse(`${whole}Z`) + seconds * 1000).toISOString().slice(0, 19)}${fraction}Z`;
  };

/** A spec has no times of its own; what looks like one is somebody's word. */
const shiftedObject = (object: JsonObject, shift: Shift): JsonObject =>
  Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, key === 'spec' ? value : shifted(value, shift)]),
  );

function shifted(value: Json, shift: Shift): Json {
  if (typeof value === 'string') return shift(value);
  if (Array.isArray(value)) return value.map((each: Json) => shifted(each, shift));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shifted(each, shift)]));
}

function shiftedLines(text: string, shift: Shift): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const end = line.indexOf(' ');
      const stamp = end < 0 ? line : line.slice(0, end);
      return `${shift(stamp)} ${end < 0 ? '' : line.slice(end + 1)}`;
    });
}
