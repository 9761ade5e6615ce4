import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Where tests are: those of a workspace in its own folder. */
const TESTS = ['test', 'play/test', 'images/test'];

/** Projects of their own: they need a cluster, built images, or the machine for themselves. */
const ELSEWHERE = ['test/cluster', 'test/installed', 'test/attack'];

/**
 * The project `rest` alone: what starts programs, real faults of servers, the second height of a story, and checks of files that are no
 * program (documents, names, structure, chart, manifests, workflows). Each branch of the program itself has a test in `unit`.
 */
const REST = [
  'test/**/*.full.test.ts',
  'images/test/**/*.test.ts',
  'play/test/browser/**/*.test.ts',
  'test/monitoring/**/*.test.ts',
  'test/scripts/**/*.test.ts',
  'test/troubles/**/*.test.ts',
  'test/healthy/**/*.test.ts',
  'test/faults/**/*.test.ts',
  'play/test/page/**/*.test.ts',
  'play/test/cluster/{programs,recorded}/**/*.test.ts',
  'play/test/cluster/kubectl*.test.ts',
  // Several processes of the built program, and the stories that test/cluster plays with a real kubelet.
  'test/e2e/{replicas,replicas-alerts,replicas-batch,replicas-recovery,ready-record}.test.ts',
  'test/e2e/local-{batch-examples,deleted-root,descriptions}.test.ts',
  // Each test of these starts a Slack and a cluster, or a process, of its own; doctor.test.ts and the tests of each tool are in `unit`.
  'test/doctor/{cluster,slack}-checks.test.ts',
  'test/cli/main.test.ts',
  'test/contract/{architecture,banned-names,chart,diagnostic-images,documented-commands,example-policy}.test.ts',
  'test/contract/{generated,glossary,images,structure}.test.ts',
  'test/contract/{live-check,manifests,network-policies,packages,pages,repository,shown-names,walks,workflows}.test.ts',
];

/** Of `rest`, the folders whose tests mostly wait: for browsers, processes and servers. The others mostly compute. */
const WAITS = ['play/test', 'images/test', 'test/cli', 'test/doctor', 'test/e2e', 'test/faults', 'test/monitoring'];

/** One part of `rest`, `waits` or `computes`: the gate (.ci/run) runs each beside something else. Unset: all. */
const PART = process.env.KDEBUG_REST;

/** The files that take longest, in this order: a checkout without a cache of durations would start them last, since they are short. */
const FIRST = [
  'test/cluster/testbed',
  'test/cluster/healthy',
  'test/cluster/stacks',
  'test/cluster/stories',
  'test/cluster/autodiagnose.test',
  'test/cluster/crashes',
  'test/cluster/batches',
  'test/cluster/start-failures',
  'test/cluster/profile',
  'test/cluster/net',
  'test/faults/crashes',
  'test/faults/soak',
  'test/e2e/replicas',
  'test/e2e/local.test',
  'test/flow/batch/crashes',
  'test/e2e/local-',
  'test/doctor/doctor',
  'test/adapters/slack/socket',
  'test/adapters/store/redis/redis-start',
];

/** What `npm run mutation` uses (.ci/mutation): the tests of what it changes, and of the flow that stands on it. */
const MUTATION = ['test/core/{policy,planning,run,container}/**/*.test.ts', 'test/flow/**/*.test.ts'];

/** Only a test that hangs takes so long: no limit judges the machine. */
const LIMITS = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000 } } };

const OWN_PROCESS = {
  ...LIMITS,
  setupFiles: 'test/support/setup.ts',
  globalSetup: 'test/faults/support/boards.ts',
  // To load the modules anew for each file is most of what these files cost.
  isolate: false,
  // More than the cores: the stories with a Slack and a cluster mostly wait.
  maxWorkers: Number(process.env.KDEBUG_WORKERS ?? 6),
};

const unit = {
  ...OWN_PROCESS,
  name: 'unit',
  include: TESTS.map((folder) => `${folder}/**/*.test.ts`),
  exclude: [...configDefaults.exclude, ...ELSEWHERE.map((folder) => `${folder}/**`), ...REST],
};

const rest = {
  ...OWN_PROCESS,
  // A soak, and every case of what `unit` samples, in one test; with all faults, every pair of crash points in one.
  testTimeout: process.env.KDEBUG_FAULTS === 'all' ? 3_600_000 : 900_000,
  name: 'rest',
  include: [...REST, ...filesThatSample()],
  exclude: [...configDefaults.exclude, ...ELSEWHERE.map((folder) => `${folder}/**`), ...filesOfOtherPart()],
  env: { KDEBUG_TEST: 'full' },
};

/** The tests that start the built program or speak to sockets, files and children: .ci/node24 runs them on the Node that ships, `unit` and `rest` on this one. */
const node24 = {
  ...OWN_PROCESS,
  testTimeout: rest.testTimeout,
  name: 'node24',
  include: ['test/{adapters,cli,config}/**/*.test.ts', 'test/contract/images.test.ts', 'test/e2e/replicas*.test.ts'],
  env: { KDEBUG_TEST: 'full' },
};

/** The attacks of a review on the whole application (test/attack/README.md). They look at how long others wait: one at a time. */
const attack = {
  ...LIMITS,
  name: 'attack',
  include: ['test/attack/**/*.test.ts'],
  globalSetup: 'test/attack/support/build.ts',
  // Some measure how long others wait. A defect fails three times; a busy machine does not.
  retry: 2,
  maxWorkers: 1,
};

/** By these a test on the cluster is asked for more than its sample. */
const MORE = ['KDEBUG_TESTBED', 'KDEBUG_HEALTHY', 'KDEBUG_TROUBLES', 'KDEBUG_TRACED', 'KDEBUG_DEATHS', 'KDEBUG_LEAKS'];

/** The stories with a kubelet, on the cluster that KUBECONFIG names. */
const cluster = {
  ...LIMITS,
  // Who wants more than a sample (of all programs, all troubles, so many deaths) gets it in one test of up to two hours.
  testTimeout: MORE.some((name) => process.env[name] !== undefined) ? 7_200_000 : LIMITS.testTimeout,
  name: 'cluster',
  include: ['test/cluster/**/*.test.ts'],
  env: {
    KDEBUG_TEST_CLUSTER: '1',
    // Each is played for up to a minute: a few of them, unless somebody asks for all, or for some by name (a,b).
    KDEBUG_TROUBLES: process.env.KDEBUG_TROUBLES ?? (process.env.KDEBUG_TEST === 'full' ? 'all' : 'some'),
    KDEBUG_TEST: 'full',
  },
  // To load the modules anew for each file would cost as much as two of them run.
  isolate: false,
  // Each file has namespaces of its own, with a random end, and mostly waits; more would starve the one node of a slow machine.
  maxWorkers: Number(process.env.KDEBUG_CLUSTER_WORKERS ?? 2),
};

/** The built images, installed in the cluster that KUBECONFIG names (test/installed/setup.ts says what it needs): one namespace, one Slack. */
const installed = {
  ...LIMITS,
  name: 'installed',
  include: ['test/installed/**/*.test.ts'],
  globalSetup: 'test/installed/setup.ts',
  maxWorkers: 1,
};

const mutation = { ...LIMITS, name: 'mutation', include: MUTATION };

/** Whole files in the order of `FIRST`, the others as vitest sorts them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification): number => {
      const index = FIRST.findIndex((start) => moduleId.includes(`/${start}`));
      return index < 0 ? FIRST.length : index;
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}

// Stryker names no project: .ci/mutation sets the variable, and there is this one alone.
const projects = process.env.KDEBUG_TEST === 'mutation' ? [mutation] : [unit, rest, node24, attack, cluster, installed];

export default defineConfig({
  test: {
    projects: projects.map((test) => ({ test })),
    sequence: { sequencer: LongestFirst },
    experimental: { fsModuleCache: true },
  },
});

/** Files whose tests `unit` samples (test/support/sample.ts): `rest` has all their cases. */
function filesThatSample(): readonly string[] {
  return testFiles().filter((path) => importsOf(path).has('test/support/sample.ts'));
}

function filesOfOtherPart(): readonly string[] {
  if (PART === undefined) return [];
  return testFiles().filter((path) => WAITS.some((folder) => path.startsWith(`${folder}/`)) !== (PART === 'waits'));
}

function testFiles(): readonly string[] {
  return TESTS.flatMap((folder) =>
    readdirSync(folder, { encoding: 'utf8', recursive: true }).map((path) => join(folder, path)),
  ).filter((path) => path.endsWith('.test.ts'));
}

/** What a test file imports, itself or through other files of the tests. */
function importsOf(path: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(path)) return seen;
  seen.add(path);
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/ from '(\.[^']+\.ts)'/g)) {
    const target = join(dirname(path), name);
    if (TESTS.some((folder) => target.startsWith(`${folder}/`)) && existsSync(target)) importsOf(target, seen);
  }
  return seen;
}
