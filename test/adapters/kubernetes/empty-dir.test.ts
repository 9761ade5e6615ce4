import { expect, it } from 'vitest';
import { emptyDirFor } from '../../../src/adapters/kubernetes/empty-dir.ts';

const mounting = (...names: readonly string[]) => ({
  volumeMounts: names.map((name) => ({ name, mountPath: `/${name}` })),
});
const APP = { name: 'app', ...mounting('tmp') };
const TMP = { name: 'tmp', emptyDir: {} };
const spec = (parts: object = {}) => ({ containers: [APP], volumes: [TMP], ...parts });

it.each<[string, object]>([
  ['the container alone mounts', spec()],
  ['no container mounts', spec({ containers: [{ name: 'app' }] })],
  [
    'only an init container mounts besides, which has ended',
    spec({ initContainers: [{ name: 'init', ...mounting('tmp') }] }),
  ],
  ['has room enough', spec({ volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }] })],
  [
    'comes after others that do not fit',
    spec({ volumes: [{ name: 'shm', emptyDir: { medium: 'Memory' } }, { name: 'map', configMap: {} }, TMP] }),
  ],
])('takes an emptyDir that %s', (_, given) => {
  expect(emptyDirFor({ spec: given }, APP)).toBe('tmp');
});

it.each<[string, object]>([
  ['there is none', spec({ volumes: [{ name: 'map', configMap: {} }] })],
  ['the pod has no volumes', { containers: [APP] }],
  [
    'another container could put its own program there',
    spec({ containers: [APP, { name: 'sidecar', ...mounting('tmp') }] }),
  ],
  [
    'an init container that goes on could do so',
    spec({ initContainers: [{ name: 'mesh', restartPolicy: 'Always', ...mounting('tmp') }] }),
  ],
  ['it is memory', spec({ volumes: [{ name: 'tmp', emptyDir: { medium: 'Memory' } }] })],
  ['it is too small', spec({ volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '63Mi' } }] })],
  ['nobody can read its limit', spec({ volumes: [{ name: 'tmp', emptyDir: { sizeLimit: 'much' } }] })],
  ['the containers of the pod share their processes', spec({ shareProcessNamespace: true })],
  ['they share those of the node', spec({ hostPID: true })],
])('takes none where %s', (_, given) => {
  expect(emptyDirFor({ spec: given }, APP)).toBeUndefined();
});

const debugging = (env: readonly object[] = [], state: object = { running: {} }) => ({
  spec: spec({ ephemeralContainers: [{ name: 'debugger', env, ...mounting('tmp') }] }),
  status: { ephemeralContainerStatuses: [{ name: 'debugger', state }] },
});

it('takes none that a debug container mounts which may still run', () => {
  expect(emptyDirFor(debugging(), APP)).toBeUndefined();
  expect(emptyDirFor({ ...debugging(), status: {} }, APP)).toBeUndefined();
});

it('takes one whose debug container has ended, or is what brings the tracer', () => {
  expect(emptyDirFor(debugging([], { terminated: { exitCode: 0 } }), APP)).toBe('tmp');
  expect(emptyDirFor(debugging([{ name: 'KDEBUG_CARRIES', value: 'abcdefgh23' }]), APP)).toBe('tmp');
});
