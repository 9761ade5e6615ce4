import { stringify } from 'yaml';

/** One YAML document without its `---`; the same value always prints the same text, and no line is folded. */
export const printYaml = (value: object): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
