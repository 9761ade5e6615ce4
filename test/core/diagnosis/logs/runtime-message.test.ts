import { describe, expect, it } from 'vitest';
import { runtimeMessage } from '../../../../src/core/diagnosis/logs/runtime-message.ts';

const ID = '0123456789abcdef'.repeat(4);
const RUNC =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ';
const resolving = (image: string, why: string) =>
  `rpc error: code = Unknown desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${why}`;

describe('the message of a container that could not start', () => {
  it.each([
    [
      `${RUNC}exec: "wgett": executable file not found in $PATH: unknown`,
      'exec: "wgett": executable file not found in $PATH',
    ],
    [
      `failed to start container "${ID}": Error response from daemon: failed to create task for container: ${RUNC}exec: "/start.sh": permission denied: unknown`,
      'exec: "/start.sh": permission denied',
    ],
    [
      `${RUNC}error mounting "/a" to rootfs at "/etc/b": not a directory`,
      'error mounting "/a" to rootfs at "/etc/b": not a directory',
    ],
    [
      `failed to generate container "${ID}" spec: failed to generate spec: path "/data" is mounted on "/" but it is not a shared mount`,
      'path "/data" is mounted on "/" but it is not a shared mount',
    ],
    [
      `crun: executable file \`foo\` not found in $PATH: No such file or directory`,
      'executable file `foo` not found in $PATH: No such file or directory',
    ],
  ])('begins with its cause: %s', (message, cause) => {
    expect(runtimeMessage(message)).toBe(cause);
  });

  it.each([
    'secret "db" not found',
    "couldn't find key PASSWORD in Secret shop/db",
    'container has runAsNonRoot and image will run as root',
    'something that no runtime says yet',
    '',
  ])('stays where it says so itself: %s', (message) => {
    expect(runtimeMessage(message)).toBe(message);
  });

  it('holds no id of 64 digits', () => {
    expect(runtimeMessage(`failed to reserve container name "x": name is reserved for "${ID}"`)).not.toContain(ID);
  });

  it('is bounded and does not hang on prefixes without end', () => {
    expect(runtimeMessage('rpc error: code = Unknown desc = '.repeat(5_000)).length).toBeLessThanOrEqual(4_096);
  });
});

describe('the message of an image that could not be pulled', () => {
  it.each([
    [
      resolving('docker.io/library/nginx:1.99', 'docker.io/library/nginx:1.99: not found'),
      'image nginx:1.99 not found',
    ],
    [
      resolving(
        'docker.io/acme/shop:1',
        'pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed',
      ),
      'image acme/shop:1: no access, or it does not exist',
    ],
    [
      resolving('r.acme.io/web:2', 'unexpected status: 401 Unauthorized'),
      'image r.acme.io/web:2: the registry refuses the pull (no or wrong credentials)',
    ],
    [
      resolving(
        'r.acme.io/web:2',
        'failed to do request: Head "https://r.acme.io/v2/web/manifests/2": dial tcp: lookup r.acme.io on 10.96.0.10:53: no such host',
      ),
      'image r.acme.io/web:2: the registry r.acme.io is unknown to DNS',
    ],
    [
      resolving(
        'r.acme.io/web:2',
        'failed to do request: Head "https://r.acme.io/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority',
      ),
      "image r.acme.io/web:2: the registry's certificate is not trusted (certificate signed by unknown authority)",
    ],
    [
      resolving('r.acme.io/web:2', 'dial tcp 10.0.0.1:443: connect: connection refused'),
      'image r.acme.io/web:2: the registry does not answer',
    ],
    [
      `Back-off pulling image "nginx:1.99": ErrImagePull: ${resolving('docker.io/library/nginx:1.99', 'not found')}`,
      'image nginx:1.99 not found',
    ],
  ])('is one short part with the image: %s', (message, words) => {
    expect(runtimeMessage(message)).toBe(words);
  });

  it('says nothing about a registry that it does not name', () => {
    expect(runtimeMessage('Back-off pulling image "nginx:1.99"')).toBe('Back-off pulling image "nginx:1.99"');
  });
});
