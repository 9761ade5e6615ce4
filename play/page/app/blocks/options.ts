import { type Json, objectOf, objectsOf, stringOf } from '../json.ts';
import type { World } from '../state/world.ts';

export interface Option {
  readonly value: string;
  readonly label: string;
  readonly description?: string;
  readonly group?: string;
  /** As the app wrote it; a submission carries it back whole. */
  readonly source: Json;
}

export const optionOf = (source: Json, group?: string): Option => {
  const description = stringOf(objectOf(source.description).text);
  return {
    value: stringOf(source.value),
    label: stringOf(objectOf(source.text).text),
    ...(description !== '' && { description }),
    ...(group !== undefined && { group }),
    source,
  };
};

const named = (value: string, label: string): Option => ({ value, label, source: {} });

/** What an element lets one choose from: its own options, or the workspace's people or channels. */
export function optionsOf(element: Json, { team }: Pick<World, 'team'>): readonly Option[] {
  const type = stringOf(element.type);
  if (type.includes('users_select')) return Object.values(team.users).map(({ id, real_name }) => named(id, real_name));
  if (type.includes('channels_select') || type.includes('conversations_select'))
    return Object.values(team.channels)
      .filter(({ kind }) => kind === 'public')
      .map(({ id, name }) => named(id, `#${name}`));
  // What an external select suggests comes as people type; before that it has what it begins with.
  if (type === 'external_select')
    return element.initial_option === undefined ? [] : [optionOf(objectOf(element.initial_option))];
  const groups = objectsOf(element.option_groups).flatMap((group) =>
    objectsOf(group.options).map((option) => optionOf(option, stringOf(objectOf(group.label).text))),
  );
  return [...objectsOf(element.options).map((option) => optionOf(option)), ...groups];
}

/** Values that are chosen before anybody touches the element. */
export function initialOf(element: Json): readonly string[] {
  const one = stringOf(objectOf(element.initial_option).value);
  const id = ['initial_user', 'initial_channel', 'initial_conversation'].map((name) => stringOf(element[name]));
  const many = objectsOf(element.initial_options).map((option) => stringOf(option.value));
  const ids = ['initial_users', 'initial_channels', 'initial_conversations'].flatMap((name) =>
    stringsOf(element[name]),
  );
  return [...new Set([one, ...id, ...many, ...ids].filter((value) => value !== ''))];
}

const stringsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(stringOf) : []);

export const isMany = (element: Json): boolean =>
  element.type === 'checkboxes' || stringOf(element.type).startsWith('multi_');

/** Drawn as boxes to tick rather than as a list to open. */
export const isBoxes = (element: Json): boolean => isMany(element) || element.type === 'radio_buttons';
