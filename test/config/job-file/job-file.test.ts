import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exportYaml, parseEphemeralJob } from '../../../src/config/job-file/parse-job.ts';
import { parseCommand } from '../../../src/core/command/parse.ts';
import type { EphemeralJob } from '../../../src/core/job/ephemeral-job.ts';
import { jobOfRun, requestsOfJob } from '../../../src/core/job/job-request.ts';
import type { RunRequest } from '../../../src/core/request/command.ts';
import { aBatchRun } from '../../core/say/batch/a-batch-run.ts';
import { anyCharacter } from '../../support/any-text.ts';
import { aRequest } from '../../support/builders.ts';
import { inFullOr } from '../../support/sample.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/ephemeraljob/${name}.yaml`, import.meta.url), 'utf8');

const MINIMAL = `apiVersion: apps.kruise.io/v1alpha1
kind: EphemeralJob
metadata:
  name: look
spec:
  selector:
    matchLabels:
      app: web
  template:
    ephemeralContainers:
      - name: ec
        image: busybox
`;

const read = (yaml: string): EphemeralJob => {
  const answer = parseEphemeralJob(yaml);
  if (answer.kind === 'invalid') throw new Error(JSON.stringify(answer.problems));
  return answer.job;
};

/** `line:column message` of everything wrong. */
const problemsOf = (yaml: string): readonly string[] => {
  const answer = parseEphemeralJob(yaml);
  return answer.kind === 'ok' ? [] : answer.problems.map(({ line, column, message }) => `${line}:${column} ${message}`);
};

const requestsOf = (yaml: string) => requestsOfJob(read(yaml));

describe('the examples of the proposal, verbatim', () => {
  it.each([
    ['definition', { selector: 'app=helloworld', replicas: 4, words: ['pidof', 'helloworld'], target: 'helloworld' }],
    ['hello-world', { selector: 'app=helloworld', replicas: 4, words: ['pidof', 'helloworld'], target: 'helloworld' }],
    ['nginx', { selector: 'env=test', replicas: 1, words: ['sleep', '99999'], target: 'nginx' }],
  ] as const)('%s becomes a request of ours', (name, { selector, replicas, words, target }) => {
    const made = requestsOf(fixture(name));
    expect(made).toMatchObject({
      jobName: `${name === 'nginx' ? 'nginx' : 'hello-world'}-ephemeral-job`,
      paused: false,
    });
    expect(made?.requests).toEqual([
      {
        target: { kind: 'selector', selector },
        targetContainer: { kind: 'named', name: target },
        image: 'busybox:latest',
        label: `${target}-ec`,
        imagePullPolicy: 'IfNotPresent',
        command: words,
        argumentsOnly: false,
        env: [],
        profile: 'auto',
        dryRun: false,
        batch: { replicas, parallelism: 1, ttlMs: 1_800_000, canary: false },
      },
    ]);
    expect(made?.notes.join(' ')).toMatch(/tty and stdin are left out.*kept as a label.*FallbackToLogsOnError/s);
  });
});

describe('a job is read strictly', () => {
  it('names an unknown field, its place and the nearest right one', () => {
    expect(problemsOf(MINIMAL.replace('  template:', '  paralelism: 2\n  template:'))).toEqual([
      '9:3 spec.paralelism is not a field here; did you mean parallelism?',
    ]);
    expect(problemsOf(MINIMAL.replace('        image: busybox', '        image: busybox\n        immage: x'))).toEqual([
      '13:9 spec.template.ephemeralContainers[0].immage is not a field here; did you mean image?',
    ]);
  });

  it.each([
    ['  template:', '  replicas: "3"\n  template:', '9:13 spec.replicas must be a whole number from 1 to 2147483647'],
    ['  template:', '  replicas: 0\n  template:', '9:13 spec.replicas must be a whole number from 1 to 2147483647'],
    ['  template:', '  parallelism: 11\n  template:', '9:16 spec.parallelism must be a whole number from 1 to 10'],
    ['  template:', '  paused: yes\n  template:', '9:11 spec.paused must be true or false'],
    [
      '      app: web',
      '      app: 3',
      '8:12 spec.selector.matchLabels.app must be text (quote it if it looks like a number)',
    ],
    ['      app: web', '      app: "a,b=c"', '8:12 spec.selector.matchLabels.app cannot be the value of a label'],
    ['      app: web', '      "a,b": c', '8:7 spec.selector.matchLabels.a,b cannot be the key of a label'],
    [
      'name: ec',
      'name: Ec',
      '11:15 spec.template.ephemeralContainers[0].name must be lower-case letters, digits and hyphens, at most 63',
    ],
    [
      'image: busybox',
      'image: ""',
      '12:16 spec.template.ephemeralContainers[0].image is neither an alias nor an image reference',
    ],
    ['  name: look', '  {}', '4:3 metadata.name is required'],
    ['kind: EphemeralJob', 'kind: Pod', '2:7 kind must be EphemeralJob'],
    ['v1alpha1', 'v2', '1:13 apiVersion must be apps.kruise.io/v1alpha1'],
    ['  selector:\n    matchLabels:\n      app: web\n', '', '6:3 spec.selector is required'],
    [
      '  template:',
      '  activeDeadlineSeconds: 3\n  template:',
      "9:3 spec.activeDeadlineSeconds is Kruise's own; use ttlSecondsAfterCreated",
    ],
    [
      '  template:',
      '  ttlSecondsAfterFinished: 3\n  template:',
      "9:3 spec.ttlSecondsAfterFinished is Kruise's own: kdebug leaves no object to clean up; use ttlSecondsAfterCreated",
    ],
    ['  name: look', '  name: look\n  uid: x', '5:3 metadata.uid is written by the API server; leave it out'],
    [
      'image: busybox',
      'image: busybox\n        command: [sleep, 9]',
      '13:26 spec.template.ephemeralContainers[0].command[1] must be text (quote it if it looks like a number)',
    ],
    [
      'image: busybox',
      'image: busybox\n        env: [{name: KDEBUG_RUN, value: x}]',
      '13:22 spec.template.ephemeralContainers[0].env[0].name names that begin with KDEBUG_ belong to kdebug itself',
    ],
    [
      'image: busybox',
      'image: busybox\n      - {name: ec, image: busybox}',
      '13:16 spec.template.ephemeralContainers[0].name',
    ],
    [
      '    matchLabels:\n      app: web',
      '    matchExpressions: [{key: a, operator: Exists, values: [b]}]',
      '7:24 spec.selector.matchExpressions[0] In and NotIn take values, Exists and DoesNotExist none',
    ],
    [
      '    matchLabels:\n      app: web',
      '    matchExpressions: [{key: a, operator: In, values: ["b)"]}]',
      '7:24 spec.selector.matchExpressions[0] has a key or a value that no label can have',
    ],
    [
      '      app: web',
      '      kdebug/deployment: web\n      app: web',
      '8:7 spec.selector.matchLabels.kdebug/deployment is no selector of kdebug',
    ],
    [
      '  name: look',
      '  name: look\n  annotations: {kdebug/colour: red}',
      '5:17 metadata.annotations.kdebug/colour is no annotation of kdebug',
    ],
    [
      '  name: look',
      '  name: look\n  annotations: {kdebug/timeout: soon}',
      '5:33 metadata.annotations.kdebug/timeout must be a duration such as 5m',
    ],
  ])('%j as %j is told with line and column', (from, to, told) => {
    const [problem = ''] = problemsOf(MINIMAL.replace(from, to));
    expect(problem.replace(/\[1\]\.name .*/, '[0].name')).toContain(told);
  });

  it('tells all that is wrong at once, in the order of the text, at most twenty', () => {
    const two = MINIMAL.replace('look', 'LOOK').replace('busybox', '"!"');
    expect(problemsOf(two).map((line) => line.split(' ')[0])).toEqual(['4:9', '12:16']);
    const many = `${MINIMAL}${Array.from({ length: 50 }, (_, index) => `x${index}: 1\n`).join('')}`;
    expect(problemsOf(many)).toHaveLength(20);
  });

  it('maps a security context that is exactly a profile’s, and refuses every other', () => {
    const withContext = (context: string) => MINIMAL.replace('busybox', `busybox\n        securityContext: ${context}`);
    const profileOf = (context: string) => requestsOf(withContext(context))?.requests[0]?.profile;
    expect(profileOf('{privileged: true}')).toBe('sysadmin');
    expect(profileOf('{capabilities: {add: [NET_RAW, NET_ADMIN]}}')).toBe('netadmin');
    expect(profileOf('{capabilities: {add: [SYS_PTRACE]}}')).toBe('general');
    const told = 'is not exactly what one of the profiles general, restricted, netadmin or sysadmin sets; leave it out';
    for (const context of ['{privileged: false}', '{}', '{capabilities: {add: [SYS_ADMIN]}}']) {
      expect(problemsOf(withContext(context))).toEqual([
        `13:26 spec.template.ephemeralContainers[0].securityContext ${told}`,
      ]);
    }
    expect(problemsOf(withContext('{runAsUser: 0}'))[0]).toContain('runAsUser is chosen by kdebug');
  });
});

describe('hostile text', () => {
  it('with anchors, aliases, tags or a second document is refused where they stand', () => {
    expect(problemsOf('a: &x 1\nb: *x\nc: !!int 3\n---\nd: 1')).toEqual([
      '1:7 anchors are not read; write the value where it is needed',
      '2:4 aliases are not read; write the value out',
      '3:10 tags are not read; quote text that looks like a number',
      '4:1 a second document begins here; apply one EphemeralJob at a time',
    ]);
    const bomb = `a: &a [x,x]\n${Array.from('bcdefghijklmnop', (key, at) => `${key}: &${key} [*${'abcdefghijklmno'[at]},*${'abcdefghijklmno'[at]}]`).join('\n')}`;
    expect(problemsOf(bomb)).toHaveLength(20);
  });

  it('too long, nested too deeply, repeated or no YAML at all, is told and never thrown', () => {
    expect(problemsOf('x'.repeat(65_537))).toEqual(['1:1 the text is longer than 65536 characters']);
    for (const open of ['[', '{a: ', '- ']) {
      expect(problemsOf(open.repeat(Math.floor(65_000 / open.length)))[0]).toMatch(/nested too deeply|:/);
    }
    expect(problemsOf(MINIMAL.replace('kind:', 'kind: x\nkind:'))).toContain('3:1 this key is here twice');
    expect(problemsOf('')).toEqual(['1:1 the document must be a map of keys']);
    expect(problemsOf('null')).toEqual(['1:1 the document must be a map of keys']);
    expect(problemsOf(MINIMAL.replace('name: look', 'name: look\n  __proto__: {x: 1}'))[0]).toContain(
      '__proto__ is not allowed',
    );
  });

  it('of too many keys, values or escapes is refused unread, however short, and a large honest one is not', () => {
    const head = 'apiVersion: apps.kruise.io/v1alpha1\nkind: EphemeralJob\n';
    const keys = Array.from({ length: 2_000 }, (_, index) => `k${index}:`).join('\n');
    for (const text of [head + keys, `[${','.repeat(20_000)}]`, '#\n'.repeat(20_000), `"${'\\x'.repeat(20_000)}`]) {
      expect(problemsOf(text)).toEqual([expect.stringMatching(/^1:1 the text has too many keys, values and lines/)]);
    }
    const container = (index: number) =>
      `      - name: c${index}\n        image: busybox\n        command: [sh, -c]\n        args:\n          - |\n${'            line\n'.repeat(200)}        env:\n${Array.from({ length: 10 }, (_, at) => `          - name: V${at}\n            value: "x"\n`).join('')}`;
    const large = MINIMAL.replace(
      / {6}- name: ec[\s\S]*$/,
      Array.from({ length: 10 }, (_, at) => container(at)).join(''),
    );
    expect(problemsOf(large)).toEqual([]);
  });

  it('names a variable that is set twice in one container, and where', () => {
    const env = (text: string) => `${MINIMAL}        env:\n${text}`;
    const twice = env(
      '          - name: A\n            value: a\n          - name: B\n          - name: A\n            value: b\n',
    );
    expect(problemsOf(twice)).toEqual([
      '17:19 spec.template.ephemeralContainers[0].env[2].name gives the variable A a second time; keep one of the two',
    ]);
    const other = '      - name: other\n        image: busybox\n        env: [{name: A, value: b}]\n';
    expect(problemsOf(env('          - name: A\n            value: a\n') + other)).toEqual([]);
  });

  it.each(['{__proto__: x}', '{"__proto__": x}', '{app: web, __proto__: x}', '{? __proto__ : x}'])(
    'of a label __proto__ is told, for without it the selector would be another: %s',
    (labels) => {
      const yaml = MINIMAL.replace('\n      app: web', ` ${labels}`);
      const column = 18 + labels.search(/"?__proto__/);
      expect(problemsOf(yaml)).toEqual([`7:${column} __proto__ is not allowed as a name`]);
    },
  );

  it('of any kind never throws', () => {
    const words = fc.constantFrom(
      'apiVersion',
      ': ',
      '\n',
      '  ',
      '- ',
      '&a',
      '*a',
      '!!map',
      '"',
      "'",
      '{',
      '[',
      '}',
      '? ',
      '| ',
      '---',
      '#',
      'x',
      '\t',
      '%TAG',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(words, { maxLength: 60 }).map((all) => all.join('')),
          fc.string({ unit: anyCharacter }),
        ),
        (text) => {
          const answer = parseEphemeralJob(text);
          for (const { line, column } of answer.kind === 'invalid' ? answer.problems : []) {
            expect(line >= 1 && column >= 1).toBe(true);
          }
        },
      ),
      { numRuns: inFullOr(500, 50) },
    );
  });
});

const label = fc.stringMatching(/^[a-z0-9](?:[a-z0-9-]{0,8}[a-z0-9])?$/);
const words = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 4 });
const record = <Fields extends Record<string, fc.Arbitrary<unknown>>>(
  fields: Fields,
  requiredKeys: Extract<keyof Fields, string>[],
) => fc.record(fields, { requiredKeys }) as fc.Arbitrary<never>;

const anyJob: fc.Arbitrary<EphemeralJob> = record(
  {
    metadata: record({ name: label, namespace: label, labels: fc.dictionary(label, fc.string({ unit: 'grapheme' })) }, [
      'name',
    ]),
    spec: record(
      {
        selector: record(
          {
            matchLabels: fc.dictionary(label, label),
            matchExpressions: fc.array(
              fc.oneof(
                fc.record({
                  key: label,
                  operator: fc.constantFrom('In', 'NotIn'),
                  values: fc.array(label, { minLength: 1, maxLength: 3 }),
                }),
                fc.record({ key: label, operator: fc.constantFrom('Exists', 'DoesNotExist') }),
              ),
              { maxLength: 3 },
            ),
          },
          [],
        ),
        replicas: fc.integer({ min: 1, max: 2_147_483_647 }),
        parallelism: fc.integer({ min: 1, max: 10 }),
        paused: fc.boolean(),
        ttlSecondsAfterCreated: fc.integer({ min: 1, max: 604_800 }),
        template: fc.record({
          ephemeralContainers: fc.uniqueArray(
            record(
              {
                name: label,
                image: fc.constantFrom('busybox:latest', `registry.example.com/a/b@sha256:${'a'.repeat(64)}`, 'alias'),
                imagePullPolicy: fc.constantFrom('Always', 'IfNotPresent', 'Never'),
                targetContainerName: label,
                command: words,
                args: words,
                env: fc.uniqueArray(
                  fc.record({ name: fc.constantFrom('A', 'B_C'), value: fc.string({ unit: 'grapheme' }) }),
                  { maxLength: 2, selector: ({ name }) => name },
                ),
                terminationMessagePolicy: fc.constantFrom('File', 'FallbackToLogsOnError'),
                securityContext: fc.constantFrom({ privileged: true }, { capabilities: { add: ['SYS_PTRACE'] } }),
                stdin: fc.boolean(),
                tty: fc.boolean(),
              },
              ['name', 'image'],
            ),
            { minLength: 1, maxLength: 3, selector: ({ name }: { name: string }) => name },
          ),
        }),
      },
      ['selector', 'template'],
    ),
  },
  ['metadata', 'spec'],
);

describe('export', () => {
  it('gives YAML that reads as the very same job', () => {
    fc.assert(
      fc.property(anyJob, (job) => {
        expect(read(exportYaml(job))).toEqual(job);
      }),
      { numRuns: inFullOr(300, 60) },
    );
  });

  it('quotes what a reader of YAML 1.1 would take for something else', () => {
    const job = read(MINIMAL.replace('busybox', 'busybox\n        command: ["yes", "0o17", "1:30", "on", "null"]'));
    expect(exportYaml(job)).toContain('- "yes"');
    expect(read(exportYaml(job))).toEqual(job);
  });

  it.each([
    '-l app=web --image=debian -- ls /',
    "-l 'app=web,tier in (a,b),env notin (prod),!legacy,canary,zone!=x,app=other' --image=debian",
    '--all -n shop --image=debian --replicas=3 --parallelism=4 --ttl=30m --canary --timeout=90s',
    'deployment/web --profile=baseline --reason="slow checkout"',
    'statefulset/db --no-target --profile=netadmin --arguments-only -- -v',
    'job/nightly --target=main --env=A=1 --image-pull-policy=Always -c look --cluster=prod',
    'daemonset/agent --profile=sysadmin',
  ])('of a batch of %s gives its request back', (line) => {
    const parsed = parseCommand(line);
    if (parsed.kind !== 'ok' || parsed.command.kind !== 'run') throw new Error(JSON.stringify(parsed));
    const { request } = parsed.command;
    const job = jobOfRun(aBatchRun({ request, run: { request } }));
    const back = requestsOfJob(read(exportYaml(job as EphemeralJob)));
    // Filled in, because Kruise wants them: the pull policy, the namespace, the container's name, the image and the parallelism.
    const { selector: _, ...asked } = request.target as { selector?: string };
    expect(back?.requests[0]).toMatchObject({
      ...request,
      target: asked,
      image: request.image ?? 'registry.example.com/autodiagnose:1',
    });
    expect(back?.requests[0]?.imagePullPolicy).toBe(request.imagePullPolicy ?? 'IfNotPresent');
    if (request.target.kind === 'selector') {
      const sorted = (text: string) =>
        text
          .split(/,(?![^(]*\))/)
          .map((part) => part.replace(/^(\S+)!=(\S+)$/, '$1 notin ($2)').replace(/ in \((\w+)\)$/, '=$1'))
          .sort();
      const target = back?.requests[0]?.target;
      expect(sorted(target?.kind === 'selector' ? target.selector : '')).toEqual(sorted(request.target.selector));
    }
  });

  /** The requests of a job, and what they are after an export. */
  const again = (yaml: string) => {
    const requests = requestsOf(yaml)?.requests ?? [];
    const [request] = requests;
    if (!request) throw new Error('a job without containers');
    const job = jobOfRun(aBatchRun({ request, run: { request, job: { requests } } }));
    return { before: requests, after: job && requestsOf(exportYaml(job))?.requests };
  };
  const SECOND = '      - {name: second, image: busybox}\n';
  const withFlag = (flag: string) => MINIMAL.replace('name: look', `name: look\n  annotations: {kdebug/${flag}}`);

  it.each([
    ['no-target: "true"', '\n        targetContainerName: app'],
    ['profile: baseline', '\n        securityContext: {capabilities: {add: [SYS_PTRACE]}}'],
  ])('of a job whose first container alone has its own word against %s keeps it for the others', (flag, own) => {
    const yaml = withFlag(flag).replace('image: busybox\n', `image: busybox${own}\n${SECOND}`);
    const { before, after } = again(yaml);
    const parts = (requests: typeof after) =>
      requests?.map(({ targetContainer, profile }) => [targetContainer, profile]);
    expect(parts(after)).toEqual(parts(before));
    expect(parts(after)?.[0]).not.toEqual(parts(after)?.[1]);
  });

  it.each<[Partial<RunRequest>, Partial<RunRequest>]>([
    [{ targetContainer: { kind: 'none' } }, {}],
    [{ profile: 'baseline' }, { profile: 'auto' }],
  ])('of containers that differ in a flag (%j, %j) is nothing', (one, other) => {
    const requests = [one, other].map((parts) => aRequest({ target: { kind: 'all' }, ...parts }));
    const jobOf = (asked: readonly RunRequest[]) =>
      jobOfRun(aBatchRun({ request: { target: { kind: 'all' } }, run: { job: { requests: asked } } }));
    expect(jobOf(requests)).toBeUndefined();
    expect(jobOf(requests.slice(0, 1))).toBeDefined();
  });

  it.each(['app!=', 'app=', 'app=,app=x', 'app=x,app=,tier!='])('keeps a label that is empty: -l %j', (selector) => {
    const job = jobOfRun(aBatchRun({ request: { target: { kind: 'selector', selector } } }));
    const target = requestsOf(exportYaml(job as EphemeralJob))?.requests[0]?.target;
    const sorted = (text = '') =>
      text
        .replaceAll(/ in \((\w+)\)/g, '=$1')
        .split(',')
        .sort();
    expect(sorted(target?.kind === 'selector' ? target.selector : undefined)).toEqual(sorted(selector));
  });

  it('of what EphemeralJob has no words for is nothing', () => {
    const withTarget = (target: never) => jobOfRun(aBatchRun({ request: { target } }));
    expect(withTarget({ kind: 'selector', selector: 'size>3' } as never)).toBeUndefined();
    expect(withTarget({ kind: 'workload', workload: 'deployment', name: 'w'.repeat(64) } as never)).toBeUndefined();
    // Its selector still has the pods of the first batch that succeeded.
    expect(jobOfRun(aBatchRun({ run: { rerunOf: aBatchRun().id } }))).toBeUndefined();
  });
});

describe('a job’s meaning', () => {
  it('the empty selector is every pod, a label of ours the workload', () => {
    const targetOf = (selector: string) =>
      requestsOf(MINIMAL.replace('\n    matchLabels:\n      app: web', selector))?.requests[0]?.target;
    expect(targetOf(' {}')).toEqual({ kind: 'all' });
    expect(targetOf('\n    matchLabels: {kdebug/deployment: web}')).toEqual({
      kind: 'workload',
      workload: 'deployment',
      name: 'web',
    });
    expect(
      targetOf('\n    matchExpressions: [{key: a, operator: In, values: [x, y]}, {key: b, operator: DoesNotExist}]'),
    ).toEqual({
      kind: 'selector',
      selector: 'a in (x,y),!b',
    });
  });

  it('command and args are one vector, args alone are those of the image’s entry point', () => {
    const of = (fields: string) => requestsOf(MINIMAL.replace('busybox', `busybox\n        ${fields}`))?.requests[0];
    expect(of('command: [sh, -c]\n        args: [ls]')).toMatchObject({
      command: ['sh', '-c', 'ls'],
      argumentsOnly: false,
    });
    expect(of('args: [ls]')).toMatchObject({ command: ['ls'], argumentsOnly: true });
  });

  it('several containers are several requests over the same pods', () => {
    const made = requestsOf(`${MINIMAL}      - {name: two, image: debian}\n`);
    expect(made?.requests.map(({ label: name, image }) => [name, image])).toEqual([
      ['ec', 'busybox'],
      ['two', 'debian'],
    ]);
  });

  it('says that $(NAME) is not expanded', () => {
    expect(requestsOf(MINIMAL.replace('busybox', 'busybox\n        command: ["$(X)"]'))?.notes).toContain(
      '$(NAME) is not expanded: the words reach the container as written.',
    );
  });
});
