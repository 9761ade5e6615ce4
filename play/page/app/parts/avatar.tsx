import type { ReactNode } from 'react';

const COLOURS = 8;

/** Initials on a colour that is always the same for the same id; the app has its own mark. */
export function Avatar({
  id,
  name,
  small = false,
}: {
  readonly id: string;
  readonly name: string;
  readonly small?: boolean;
}): ReactNode {
  const size = small ? 'avatar avatar-small' : 'avatar';
  if (name === 'kdebug')
    return (
      <span className={`${size} avatar-app`} aria-hidden="true">
        k›
      </span>
    );
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 997;
  return (
    <span className={`${size} avatar-${sum % COLOURS}`} aria-hidden="true">
      {name
        .split(/[\s.]+/)
        .slice(0, 2)
        .map((word) => word.charAt(0).toUpperCase())
        .join('')}
    </span>
  );
}
