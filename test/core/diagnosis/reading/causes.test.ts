import { describe, expect, it } from 'vitest';
import { causeOf } from '../../../../src/core/diagnosis/reading/causes.ts';

describe('a line of a log', () => {
  it.each([
    ['dial tcp 10.0.0.5:5432: connect: connection refused', '10.0.0.5:5432 refuses connections'],
    ['Error: connect ECONNREFUSED 127.0.0.1:6379', '127.0.0.1:6379 refuses connections'],
    [
      'connection to server at "shop-db" (10.96.7.33), port 5432 failed: Connection refused',
      'shop-db:5432 refuses connections',
    ],
    [
      'could not connect to server: Connection refused Is the server running on host "db" (10.0.0.1) and accepting TCP/IP connections on port 5432?',
      'db:5432 refuses connections',
    ],
    ['org.postgresql.util.PSQLException: Connection to db:5432 refused.', 'db:5432 refuses connections'],
    ['upstream said connection refused', 'a server that it needs refuses connections'],
    ['dial tcp: lookup db.shop.svc on 10.96.0.10:53: no such host', 'the name db.shop.svc is not known'],
    ['getaddrinfo EAI_AGAIN db', 'the name db is not known'],
    ['java.net.UnknownHostException: billing', 'the name billing is not known'],
    ['could not translate host name "db" to address: Name or service not known', 'the name db is not known'],
    ["wget: bad address 'billing'", 'the name billing is not known'],
    ['dial tcp 10.0.0.5:443: i/o timeout', '10.0.0.5:443 does not answer'],
    [
      'x509: certificate has expired or is not yet valid: current time 2026-11-24T10:00:00Z is after 2026-01-01T00:00:00Z',
      'a certificate has expired',
    ],
    [
      'x509: certificate signed by unknown authority',
      'a certificate comes from an authority that the program does not trust',
    ],
    ['FATAL: remaining connection slots are reserved', 'the pool of connections is exhausted'],
    [
      'HikariPool-1 - Connection is not available, request timed out after 30000ms',
      'the pool of connections is exhausted',
    ],
    ['password authentication failed for user "shop"', 'the login of user shop is refused'],
    ["Access denied for user 'root'@'10.0.0.1' (using password: YES)", 'the login of user root is refused'],
    ['open /data/x: permission denied', 'a permission is denied'],
    ['write /data/x: no space left on device', 'no space is left on a disk'],
    ["OSError: [Errno 30] Read-only file system: '/x'", 'the file system is read-only'],
    ['accept: too many open files', 'too many files are open'],
    ['listen EADDRINUSE: address already in use :::8080', 'its port is in use already'],
    [
      'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory',
      'the program has no memory left',
    ],
    [
      'secrets "db" is forbidden: User "system:serviceaccount:shop:app" cannot get resource "secrets" in API group "" in the namespace "shop"',
      'the ServiceAccount app in shop may not get secrets',
    ],
  ])('names its cause: %s', (line, says) => {
    expect(causeOf(line)?.says).toBe(says);
    expect(causeOf(line)?.next).toMatch(/^[A-Z].*\.$/);
  });

  it.each([
    'listening on 0.0.0.0:8080',
    'connected to host "db" port 5432',
    'x509: certificate has expired or is not yet valid: current time 2026-11-24T10:00:00Z is before 2027-01-01T00:00:00Z',
    'KeyError: DATABASE_URL',
    'GET /healthz 200',
    '',
  ])('without a well-known cause has none: %s', (line) => {
    expect(causeOf(line)).toBeUndefined();
  });

  it('of any length is read in a bounded time', () => {
    expect(causeOf(`${'connect to a'.repeat(5_000)} refused`)).toBeUndefined();
    expect(causeOf(`lookup ${'a.'.repeat(5_000)}: no such host`)).toBeUndefined();
  });
});
