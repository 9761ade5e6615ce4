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
    [
      'k8s.io/client-go: failed to list: configmaps is forbidden: User \\"system:serviceaccount:shop:operator\\" cannot list resource \\"configmaps\\" in API group',
      'the ServiceAccount operator in shop may not list configmaps',
    ],
    [
      'tls: failed to verify certificate: x509: certificate is valid for pay.example.com, not payments.internal',
      'a certificate is for another host name, not for payments.internal',
    ],
    [
      "Hostname/IP does not match certificate's altnames: Host: payments.internal. is not in the cert's altnames: DNS:x",
      'a certificate is for another host name, not for payments.internal',
    ],
    [
      'java.security.cert.CertificateException: No subject alternative DNS name matching db.internal found.',
      'a certificate is for another host name, not for db.internal',
    ],
    [
      'dial tcp: lookup orders.shop.svc on 10.96.0.10:53: read udp 10.244.0.5:41000->10.96.0.10:53: i/o timeout',
      'the cluster’s DNS does not answer (asked for orders.shop.svc)',
    ],
    [
      'host not found in upstream "orders-api" in /etc/nginx/conf.d/default.conf:12',
      'the name orders-api is not known',
    ],
    ['getaddrinfo for blog-mysql failed: Name or service not known', 'the name blog-mysql is not known'],
    ['connect to smtp.example.com[192.0.2.25]:25: Connection timed out', 'smtp.example.com:25 does not answer'],
    ['URL: PUT https://vault:8200/v1/auth Code: 403. * permission denied', 'a request is refused (403)'],
    ['login failed\\nCode: 403. Errors:', 'a request is refused (403)'],
    [
      'exec /app/server: exec format error',
      'the program is not for the node’s processor, or is a script without a first line such as #!/bin/sh',
    ],
    [
      'exec /app/start.sh: no such file or directory',
      'the program /app/start.sh, or the shell that its first line names, is not in the image',
    ],
    [
      'bind() to 0.0.0.0:80 failed (13: Permission denied)',
      'the program may not listen on port 80, which is below 1024',
    ],
    [
      'Error: listen EACCES: permission denied 0.0.0.0:443',
      'the program may not listen on port 443, which is below 1024',
    ],
    [
      '/app/train.sh: line 12:    17 Killed                  python train.py',
      'a program of the container was killed, very likely for lack of memory',
    ],
    ['open() "/etc/app.conf" failed (21: Is a directory)', 'the program finds a folder where it wants a file'],
    [
      'error while loading shared libraries: libvips.so.42: cannot open shared object file: No such file or directory',
      'the library libvips.so.42 is not in the image',
    ],
    [
      "/app/server: /lib/libc.so.6: version `GLIBC_2.34' not found (required by /app/server)",
      'the image’s C library is too old: it has no GLIBC_2.34',
    ],
    [
      'java.lang.UnsupportedClassVersionError: com/example/Main has been compiled by a more recent version of the Java Runtime',
      'the image’s Java is older than the one that the program was compiled for',
    ],
    [
      "ValueError: invalid literal for int() with base 10: 'tcp://10.96.14.7:6379'",
      'a variable holds tcp://10.96.14.7:6379: Kubernetes sets NAME_PORT for each Service of the namespace',
    ],
    [
      'pods is forbidden: User "system:serviceaccount:a:b" cannot create resource "pods" in $(POD_NAMESPACE)',
      'the ServiceAccount b in a may not create pods',
    ],
    ["nc: bad address '$(DB_HOST)'", '$(DB_HOST) was not replaced by a value'],
    ['/e/run.sh: set: line 2: illegal option -', 'a script has Windows line ends'],
    ["run.sh: line 2: $'\\r': command not found", 'a script has Windows line ends'],
    ['/bin/bash^M: bad interpreter: No such file or directory', 'a script has Windows line ends'],
    [
      'java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory',
      'the program may start no more threads or processes',
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
    'listening on tcp://10.0.0.1:8080',
    '3 idle sessions Killed',
    'GET /healthz 200',
    'sh: syntax error near $(HOSTNAME)',
    'sh: 3: Syntax error: end of file unexpected in $(HOSTNAME)',
    'run.sh: line 1: `echo "failed: $(HOSTNAME)" )',
    'escaped as $$(POD_NAME)',
    "rm: cannot remove 'a'$'\\r'",
    "+ host=$'db\\r'",
    '/bin/sh: set: illegal option -x',
    'Picked up JAVA_TOOL_OPTIONS: -XX:+HeapDumpOnOutOfMemoryError',
    '',
  ])('without a well-known cause has none: %s', (line) => {
    expect(causeOf(line)).toBeUndefined();
  });

  it('of any length is read in a bounded time', () => {
    expect(causeOf(`${'connect to a'.repeat(5_000)} refused`)).toBeUndefined();
    expect(causeOf(`lookup ${'a.'.repeat(5_000)}: no such host`)).toBeUndefined();
  });
});
