import { describe, expect, it } from 'vitest';
import { hasBearer } from '../../../../src/adapters/http/alerts/authorization.ts';

const SECRET = 'a-secret-of-32-characters-000000';

describe('a bearer token', () => {
  it.each([`Bearer ${SECRET}`, `bearer  ${SECRET} `])('is accepted as %j', (authorization) => {
    expect(hasBearer({ authorization }, SECRET)).toBe(true);
  });

  it.each(['', 'Bearer', 'Bearer ', SECRET, `Bearer${SECRET}`, `Basic ${SECRET}`, `Bearer ${SECRET} x`])(
    'is refused as %j',
    (authorization) => {
      expect(hasBearer({ authorization }, SECRET)).toBe(false);
    },
  );

  // How long it takes is judged by the bench (growth).
  it('is refused when it is mostly blanks', () => {
    const authorization = `Bearer${' '.repeat(7_000)}x${' '.repeat(8_000)}\u00a0`;
    expect(hasBearer({ authorization }, SECRET)).toBe(false);
  });
});
