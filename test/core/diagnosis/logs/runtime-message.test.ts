import { describe, expect, it } from 'vitest';
import { runtimeMessage } from '../../../../src/core/diagnosis/logs/runtime-message.ts';

const ID = '0123456789abcdef'.repeat(4);
const RUNC =
  'failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: ';

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
