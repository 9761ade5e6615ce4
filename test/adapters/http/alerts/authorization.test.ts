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

  it('costs no time, whatever a stranger sends', () => {
    const authorization = `Bearer${' '.repeat(7_000)}x${' '.repeat(8_000)}\u00a0`;
    const began = process.cpuUsage();
    for (let times = 0; times < 10; times += 1) expect(hasBearer({ authorization }, SECRET)).toBe(false);
    expect(process.cpuUsage(began).user).toBeLessThan(500_000);
  });
});
