/** Something wrong in the policy file, by its place in the tree. */
export interface Finding {
  /** Keys and list positions (from 0) from the root. */
  readonly path: readonly (string | number)[];
  /** Whether the last key itself is wrong, or what stands under it. */
  readonly at: 'key' | 'value';
  /** Continues the path: "must be …", "is not …". */
  readonly message: string;
}

/** The path as people write it: `channels.C0SHOP.rules[0].id`. */
export const pathText = (path: Finding['path']): string =>
  path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
