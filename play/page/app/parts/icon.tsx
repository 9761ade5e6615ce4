import type { ReactNode } from 'react';

/** Drawn with one line, on a field of 20 by 20. */
const PATHS = {
  thread: 'M4 4h12v9h-6l-4 3v-3H4zM7 7.5h6M7 10h4',
  more: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  file: 'M5 2.5h7l3.5 3.5v11.500h-10.500zM12 2.500V6h3.500M7.500 10h5M7.500 13h5',
  send: 'M3 3.500l14 6.500-14 6.500 2-6.500zM5 10h6',
  lock: 'M5 9h10v7.500H5zM7 9V6.500a3 3 0 0 1 6 0V9',
  close: 'M5 5l10 10M15 5L5 15',
  moon: 'M15.500 12A6.500 6.500 0 0 1 8 4.500a6 6 0 1 0 7.500 7.500z',
  sun: 'M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.300 4.300l1.400 1.400M14.300 14.300l1.400 1.400M4.300 15.700l1.400-1.400M14.300 5.700l1.400-1.400',
  compass: 'M10 2.500a7.500 7.500 0 1 0 0 15 7.500 7.500 0 0 0 0-15zM13 7l-2 4-4 2 2-4z',
  eye: 'M2 10q3.500-5 8-5t8 5q-3.500 5-8 5t-8-5zM10 7.500a2.500 2.500 0 1 0 0 5 2.500 2.500 0 0 0 0-5z',
  bell: 'M5 14V9a5 5 0 0 1 10 0v5l1.500 1h-13zM8.500 17h3M10 2.500V4',
  chevron: 'M6 8l4 4 4-4',
} as const;

export const Icon = ({ name }: { readonly name: keyof typeof PATHS }): ReactNode => (
  <svg className="icon" viewBox="0 0 20 20" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
