import { asChannelId } from '../../../src/core/ids.ts';
import { aPolicy, approvalTerms, aRule } from '../../support/builders.ts';
import { framed } from '../../support/framed.ts';
import { longLog, type Story } from './port-scene.ts';

const approving = aPolicy({
  approvers: { sre: { usergroup: 'S0SRE', users: [] } },
  channels: {
    [asChannelId('C0SHOP')]: {
      rules: [
        aRule({
          id: 'attach',
          approval: approvalTerms(),
        }),
      ],
    },
  },
});

const finished = { state: 'finished', containers: 1, anchors: 1 } as const;

export const MAIN: Story = {
  name: 'the main job',
  policy: aPolicy(),
  fate: { kind: 'ends', exitCode: 0, log: longLog() },
  expected: { ...finished, outcome: 'succeeded', files: 1, anchor: 'Succeeded', result: 'line 119' },
};

const { autodiagnose } = aPolicy().images;
const WITH_FILES: Story = {
  ...MAIN,
  name: 'a run that brings back files',
  policy: aPolicy({
    images: { ...aPolicy().images, autodiagnose: { ...autodiagnose!, files: ['text', 'capture'] } },
    channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ secretFiles: 'allowed' })] } },
  }),
  fate: {
    kind: 'ends',
    exitCode: 0,
    log: `${longLog()}${framed('threads.txt', 'main waits')}${framed('capture.pcap', 'GET /')}`,
  },
  expected: { ...MAIN.expected, files: 3, alone: '.capture.pcap', result: 'threads.txt' },
};

const FOR_ONE: Story = {
  ...MAIN,
  name: 'a run for its requester alone',
  policy: aPolicy({ output: { ...aPolicy().output, deliverTo: 'requester' } }),
  expected: { ...MAIN.expected, anchor: 'Finished', resultIn: 'D-U0ROY' },
};

export const APPROVED: Story = {
  name: 'an approved run',
  policy: approving,
  fate: { kind: 'ends', exitCode: 3, log: 'short\n' },
  click: { userId: 'U0BOB', action: 'approve' },
  expected: {
    ...finished,
    outcome: 'failed',
    files: 0,
    anchor: 'failed with exit code 3',
    result: 'short',
    approver: 'U0BOB',
  },
};

export const NAMED: Story = {
  ...MAIN,
  name: 'a run that failed with a long log',
  fate: { kind: 'ends', exitCode: 3, log: longLog() },
  expected: {
    ...MAIN.expected,
    outcome: 'failed',
    anchor: 'failed with exit code 3',
    result: 'the run failed with exit code 3',
  },
};

export const REJECTED: Story = {
  name: 'a rejected run',
  policy: approving,
  fate: { kind: 'ends', exitCode: 0, log: '' },
  click: { userId: 'U0BOB', action: 'reject' },
  expected: { state: 'rejected', outcome: 'rejected', containers: 0, anchors: 1, files: 0, anchor: 'Rejected' },
};

const DENIED: Story = {
  name: 'a denied run',
  policy: aPolicy({ channels: { [asChannelId('C0SHOP')]: { rules: [aRule({ classes: [] })] } } }),
  fate: { kind: 'ends', exitCode: 0, log: '' },
  expected: { state: 'denied', containers: 0, anchors: 0, files: 0 },
};

const CANNOT_START: Story = {
  name: 'a start failure',
  policy: aPolicy(),
  fate: { kind: 'cannot-start' },
  expected: {
    ...finished,
    outcome: 'start-failed',
    files: 0,
    anchor: 'did not start',
    result: 'Back-off pulling image',
  },
};

export const STORIES: readonly Story[] = [MAIN, WITH_FILES, FOR_ONE, NAMED, APPROVED, REJECTED, DENIED, CANNOT_START];
