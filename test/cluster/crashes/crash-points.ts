import type { Barrier } from '../../support/program/api-proxy.ts';
import type { CrashScene, Story } from './crash-scene.ts';

/** A place at which a process is killed, and who takes over. */
export interface CrashPoint {
  readonly name: string;
  readonly story: Story;
  /** Sets the barrier; the inner promise resolves when the process stands there. */
  readonly reached: (scene: CrashScene) => Promise<unknown>;
  /** Another replica runs already, or one is started when the first is dead. */
  readonly second: 'runs' | 'is started';
  /** When somebody approves: before the kill, after it, or nobody has to. */
  readonly vote?: 'before' | 'after';
  readonly store?: 'memory';
  /** Done while nobody runs. */
  readonly meanwhile?: (scene: CrashScene) => Promise<unknown>;
  /** What the result says besides. */
  readonly says?: RegExp;
}

const SHORT: Story = { image: 'lines', command: 'lines 200 40', lines: 200, width: 40 };
/** All of it is in the excerpt: its result is a post without a file. */
const BRIEF: Story = { image: 'lines', command: 'lines 5 40', lines: 5, width: 40, hasFile: false };
const LONG: Story = { image: 'lines', command: 'lines 4000 200', lines: 4_000, width: 200 };
const SLOW: Story = { image: 'lines', command: "sh -c 'lines 200 40; sleep 5'", lines: 200, width: 40 };
const APPROVED: Story = { ...SHORT, image: 'debugger' };

/** A call of Slack that is held before it does anything, or done without an answer; after `skip` others of that method. */
const slackCall =
  (method: string, kind: 'hang' | 'hang_after_commit', skip = 0) =>
  ({ at: { slack } }: CrashScene): Promise<void> => {
    slack.faults.queue({ method, kind, skip });
    return new Promise((resolve) => {
      const stop = slack.watchRequests((call) => {
        if (call.method !== method || call.status !== 0) return;
        stop();
        resolve();
      });
    });
  };

const apiCall =
  (barrier: Barrier) =>
  ({ proxy }: CrashScene): Promise<void> =>
    proxy.stopAt(barrier);

const PATCH = { method: 'PATCH', path: /\/ephemeralcontainers\?(?!.*dryRun)/ } as const;
const LOG = { method: 'GET', path: /\/log\?/ } as const;

const anchorSays = (words: string) => (scene: CrashScene) =>
  scene.at.slack.until(() => scene.at.textOf(scene.at.posts('anchor')[0]).includes(words));

const REBUILT = /restarted during this run/;

export const CRASH_POINTS: readonly CrashPoint[] = [
  {
    name: 'the command was just acknowledged, the PATCH has not left',
    story: SHORT,
    reached: apiCall({ ...PATCH, at: 'before' }),
    second: 'runs',
  },
  {
    name: 'the API server has taken the PATCH, its answer is lost',
    story: SHORT,
    reached: apiCall({ ...PATCH, at: 'after' }),
    second: 'is started',
  },
  {
    name: 'the anchor is on its way to Slack',
    story: SHORT,
    reached: slackCall('chat.postMessage', 'hang'),
    second: 'is started',
  },
  {
    name: 'Slack has taken the anchor, its answer is lost',
    story: SHORT,
    reached: slackCall('chat.postMessage', 'hang_after_commit'),
    second: 'runs',
  },
  { name: 'the log is about to be read', story: SHORT, reached: apiCall({ ...LOG, at: 'before' }), second: 'runs' },
  {
    name: 'the log is read in the middle',
    story: LONG,
    reached: apiCall({ ...LOG, at: 300_000 }),
    second: 'is started',
  },
  {
    name: 'Slack has taken the last update of the anchor, its answer is lost',
    story: SHORT,
    reached: slackCall('chat.update', 'hang_after_commit'),
    second: 'runs',
  },
  {
    name: 'the result is on its way to Slack',
    story: BRIEF,
    reached: slackCall('chat.postMessage', 'hang', 1),
    second: 'runs',
  },
  {
    name: 'Slack has taken the result, its answer is lost',
    story: BRIEF,
    reached: slackCall('chat.postMessage', 'hang_after_commit', 1),
    second: 'is started',
  },
  {
    name: 'Slack has given an address for the file, its answer is lost',
    story: SHORT,
    reached: slackCall('files.getUploadURLExternal', 'hang_after_commit'),
    second: 'is started',
  },
  {
    name: 'Slack has taken the bytes of the file, its answer is lost',
    story: SHORT,
    reached: slackCall('upload', 'hang_after_commit'),
    second: 'runs',
  },
  {
    name: 'the file is about to be shared',
    story: SHORT,
    reached: slackCall('files.completeUploadExternal', 'hang'),
    second: 'is started',
  },
  {
    name: 'Slack has shared the file, its answer is lost',
    story: SHORT,
    reached: slackCall('files.completeUploadExternal', 'hang_after_commit'),
    second: 'runs',
  },
  {
    name: 'an approval is asked for',
    story: APPROVED,
    reached: (scene) => scene.card(),
    second: 'is started',
    vote: 'after',
  },
  {
    name: 'a vote was just acknowledged',
    story: APPROVED,
    reached: apiCall({ ...PATCH, at: 'before' }),
    second: 'runs',
    vote: 'before',
  },
  { name: 'the container runs', story: SLOW, reached: anchorSays('Running'), second: 'runs' },
  {
    name: 'the container runs, and Redis is emptied as well',
    story: SLOW,
    reached: anchorSays('Running'),
    second: 'is started',
    meanwhile: async ({ at: { redis } }) => {
      const client = redis?.client();
      await client?.flushall();
      client?.disconnect();
    },
    says: REBUILT,
  },
  {
    name: 'the container runs, and there is no Redis at all',
    story: SLOW,
    reached: anchorSays('Running'),
    second: 'is started',
    store: 'memory',
    says: REBUILT,
  },
];
