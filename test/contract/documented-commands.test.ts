import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startOpsServer } from '../../src/adapters/http/index.ts';
import { createMetrics } from '../../src/adapters/metrics/index.ts';
import { explain } from '../../src/cli/explain.ts';
import { lintPolicy } from '../../src/cli/lint-policy.ts';
import { rbac } from '../../src/cli/rbac.ts';
import { VERSION } from '../../src/compose.ts';
import { KdebugError } from '../../src/core/errors.ts';
import { commandsOf, type DocumentedCommand, PAGES, programsOf } from '../support/documented-commands.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const all = PAGES.flatMap(commandsOf);
const where = ({ page, line, text }: DocumentedCommand): string => `${page}:${line} ${text}`;

/** What is wrong with each command, one line each; `check` sees the words of one program, without its name. */
const problems = (program: string, check: (words: readonly string[]) => readonly string[]): readonly string[] =>
  all.flatMap((command) =>
    programsOf(command.text)
      .filter(([name]) => name === program)
      .flatMap(([, ...words]) => check(words).map((problem) => `${where(command)}: ${problem}`)),
  );

/** The reader's own copy of an installation, which docs/install.md makes. */
const ofCheckout = (path: string): string =>
  path.replace('manifests/installations/ours', 'manifests/installations/socket');

const missing = (path: string): readonly string[] => (existsSync(join(ROOT, ofCheckout(path))) ? [] : [`no ${path}`]);

/** Programs that are nothing of ours; each is what it says, on every system that has a shell. */
const FOREIGN = 'base64 cp curl date echo export git grep gzip kind openssl printf redis-cli sed sleep xargs'.split(
  ' ',
);

describe('the commands of the pages', () => {
  it('are there', () => {
    for (const page of PAGES.filter((path) => path !== 'docs/redis.md'))
      expect(all.filter((command) => command.page === page).length, page).toBeGreaterThan(2);
  });

  it('are what a shell can read', () => {
    const unread = all.filter(({ text }) => spawnSync('bash', ['-n', '-c', text]).status !== 0);
    expect(unread.map(where)).toEqual([]);
  });

  it('start only programs that this test knows', () => {
    const known = new Set([...FOREIGN, 'docker', 'helm', 'kubectl', 'node', 'npm', 'npx']);
    const unknown = all.filter(({ text }) => programsOf(text).some(([name = '']) => !known.has(name)));
    expect(unknown.map(where)).toEqual([]);
  });

  it('name images of the versions that are built', () => {
    const label = (path: string) => /image\.version="([^"]+)"/.exec(read(path))?.[1] ?? '';
    const diagnostic = readdirSync(join(ROOT, 'images')).filter((name) =>
      existsSync(join(ROOT, 'images', name, 'Dockerfile')),
    );
    const versions: Readonly<Record<string, string>> = {
      kdebug: VERSION,
      ...Object.fromEntries(diagnostic.map((name) => [`kdebug-${name}`, label(`images/${name}/Dockerfile`)])),
    };
    const named = all.flatMap((command) =>
      [...command.text.matchAll(/\b(kdebug(?:-[a-z]+)?):(\d[\w.]*)/g)].map(([, name = '', version]) => ({
        command,
        isRight: versions[name] === version,
      })),
    );
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter(({ isRight }) => !isRight).map(({ command }) => where(command))).toEqual([]);
  });
});

describe('npm and npx', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> };

  it('run scripts that there are, on files that there are', () => {
    const found = problems('npm', ([verb, ...words]) => {
      if (verb === 'ci' || verb === 'test') return [];
      const [script = '', ...rest] = words.filter((word) => word !== '--silent');
      const paths = rest.filter((word) => /^(?:manifests|images|test)\//.test(word));
      return [...(verb === 'run' && script in scripts ? [] : [`no script ${script}`]), ...paths.flatMap(missing)];
    });
    expect(found).toEqual([]);
    expect(problems('npx', ([, , ...paths]) => paths.flatMap(missing))).toEqual([]);
  });

  it('give our tools words that they take', () => {
    const lines: string[] = [];
    const out = (line: string): number => lines.push(line);
    const tools: Readonly<Record<string, (words: readonly string[]) => number>> = {
      'lint-policy': (words) => lintPolicy(words, out),
      rbac: (words) => rbac(words, { out, err: out }),
      explain: (words) => explain(words, out),
    };
    let called = 0;
    const found = problems('npm', (words) => {
      const tool = tools[words.find((word) => word in tools) ?? ''];
      if (!tool || !words.includes('--')) return [];
      called += 1;
      lines.length = 0;
      tool(words.slice(words.indexOf('--') + 1).map(toolWord));
      return lines.filter((line) => line.startsWith('usage: '));
    });
    expect(called).toBeGreaterThan(6);
    expect(found).toEqual([]);
  });

  /** FILE is the reader's policy. */
  const toolWord = (word: string): string => (word === 'FILE' ? 'manifests/base/policy.yaml' : ofCheckout(word));
});

describe('docker', () => {
  it('builds folders that have a Dockerfile, with arguments that it has', () => {
    const found = problems('docker', (words) => {
      if (words[0] !== 'build') return [];
      const folder = words.at(-1) ?? '';
      const path = words[words.indexOf('-f') + 1 || words.length] ?? join(folder, 'Dockerfile');
      if (!existsSync(join(ROOT, path))) return [`no ${path}`];
      const known = [...read(path).matchAll(/^ARG (\w+)/gm)].map(([, name]) => name);
      const given = words.filter((_, index) => words[index - 1] === '--build-arg').map((word) => word.split('=')[0]);
      return given.filter((name) => !known.includes(name)).map((name) => `${path} has no ARG ${name}`);
    });
    expect(found).toEqual([]);
  });

  it('builds every image that the policy and the Deployment name', () => {
    const built = all.flatMap(({ text }) => [...text.matchAll(/docker build .*-t \$REGISTRY\/([\w-]+:[\d.]+)/g)]);
    const named = ['base', 'installations/socket'].flatMap((folder) => [
      ...read(`manifests/${folder}/policy.yaml`).matchAll(/image: (kdebug-\S+)/g),
    ]);
    expect(new Set(built.map(([, name]) => name))).toEqual(
      new Set([`kdebug:${VERSION}`, ...named.map(([, name]) => name)]),
    );
  });
});

it('helm installs the chart of the release that this would be', () => {
  const released = all.filter(({ text }) => text.includes('oci://ghcr.io/replaceme/charts/kdebug '));
  expect(released.map(({ page }) => page)).toEqual(['README.md', 'docs/install.md']);
  for (const { text } of released) expect(text).toContain(` --version ${VERSION} `);
});

it('helm installs a chart that there is, with values that it has', () => {
  const values = parse(read('charts/kdebug/values.yaml')) as Readonly<Record<string, unknown>>;
  const has = (path: string): boolean =>
    path.split('.').reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], values) !==
    undefined;
  const found = problems('helm', (words) => [
    ...words.filter((word) => word.startsWith('charts/')).flatMap(missing),
    ...words
      .filter((_, index) => /^--set(?:-file)?$/.test(words[index - 1] ?? ''))
      .flatMap((word) => {
        const [key = '', path = ''] = word.split('=');
        return [...(has(key) ? [] : [`no value ${key}`]), ...(path.startsWith('manifests/') ? missing(path) : [])];
      }),
  ]);
  expect(found).toEqual([]);
});

/** What follows `node` in the image: bundles of scripts/build.ts, and words that they know. */
describe('node', () => {
  const inImage = all.flatMap((command) =>
    programsOf(command.text)
      .filter(([name]) => name === 'kubectl')
      .map((words) => ({ command, own: words.includes('--') ? words.slice(words.indexOf('--') + 1) : [] }))
      .filter(({ own }) => own[0] === 'node'),
  );

  it('runs what is in the image', () => {
    const bundles = [...read('scripts/build.ts').matchAll(/^ {2}(\w+): 'src\//gm)].map(([, name]) => `${name}.js`);
    expect(inImage.length).toBeGreaterThan(3);
    const unknown = inImage.filter(({ own }) => own[1] !== '-e' && !bundles.includes(own[1] ?? ''));
    expect(unknown.map(({ command }) => where(command))).toEqual([]);
    const tools = [...read('src/cli/main.ts').matchAll(/^ {2}case '([\w-]+)'/gm)].map(([, name]) => name);
    const called = inImage.filter(({ own }) => own[1] === 'cli.js');
    expect(called.filter(({ own }) => !tools.includes(own[2])).map(({ command }) => where(command))).toEqual([]);
  });
});

it('the look at /readyz shows which check fails, although the answer is a 503', async () => {
  const metrics = createMetrics({ clock: { now: () => 0 } });
  const clock = { after: () => () => {} };
  const slack = () => Promise.reject(new KdebugError('slack_token_rejected'));
  const infos = { policy: () => ['in force since Monday'] };
  const server = await startOpsServer({ port: 0, host: '127.0.0.1', checks: { slack }, infos, metrics, clock });
  const looks = all.filter(({ text }) => text.includes('/readyz'));
  for (const command of looks) {
    // As in the pod: the shell takes the line apart, and node gets the words behind the two dashes.
    const own = command.text.replace(/^.* -- node /, 'exec "$NODE" ').replace(':9090', `:${server.port}`);
    const { stdout } = await promisify(execFile)('bash', ['-c', own], { env: { NODE: process.execPath } });
    expect(stdout, where(command)).toMatch(/\[-\] slack failed: slack_token_rejected\n.*in force since Monday/s);
  }
  await server.close();
  expect(looks).toHaveLength(1);
});

describe('kubectl', () => {
  const here = spawnSync('kubectl', ['version', '--client']).status === 0;
  if (!here) console.warn('skipped in part: there is no kubectl here, so nobody knows its flags');

  /** Flags with a value behind a space. */
  const VALUED = new Set(['-n', '-k', '-f', '-o', '-l', '--context', '--field-selector', '--raw', '--namespace']);
  const GROUPS = new Set(['rollout', 'auth', 'create', 'config']);

  /** Its verbs, its flags and what it acts on. */
  function read(words: readonly string[]) {
    const own = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
    const isValue = (index: number): boolean => VALUED.has(own[index - 1] ?? '');
    const plain = own.filter((word, index) => !word.startsWith('-') && !isValue(index));
    const flags = own.filter((word, index) => word.startsWith('-') && word !== '-' && !isValue(index));
    const depth = plain[1] === 'secret' && plain[0] === 'create' ? 3 : GROUPS.has(plain[0] ?? '') ? 2 : 1;
    return { verbs: plain.slice(0, depth), objects: plain.slice(depth), flags, own };
  }

  const help = new Map<string, string>();
  const helpOf = (verbs: readonly string[]): string => {
    const key = verbs.join(' ');
    const text = help.get(key) ?? execFileSync('kubectl', [...verbs, '--help'], { encoding: 'utf8' });
    help.set(key, text);
    return text;
  };

  it.runIf(here)('is given verbs and flags that it has', () => {
    const options = execFileSync('kubectl', ['options'], { encoding: 'utf8' });
    const found = problems('kubectl', (words) => {
      const { verbs, flags } = read(words);
      if (!helpOf(verbs).includes(`kubectl ${verbs.join(' ')}`)) return [`no verb ${verbs.join(' ')}`];
      const known = `${helpOf(verbs)}\n${options}`;
      return flags
        .map((flag) => flag.split('=')[0] ?? '')
        .filter((flag) => !new RegExp(`^ +(?:.*, )?${flag}(?:[=,:]|$)`, 'm').test(known))
        .map((flag) => `no flag ${flag}`);
    });
    expect(found).toEqual([]);
  });

  it('reads files and folders that there are', () => {
    const found = problems('kubectl', (words) =>
      words.flatMap((word, index) => {
        const path = words[index + 1];
        if (path === undefined || path === '-') return [];
        if (word === '-k') return missing(`${path}/kustomization.yaml`);
        return word === '-f' ? missing(path) : [];
      }),
    );
    expect(found).toEqual([]);
  });

  it('names objects that the manifests make, and kinds that there are', () => {
    const kinds = new Set(
      'clusterrole clusterrolebinding configmap deployment endpointslice ingress job namespace networkpolicy pod poddisruptionbudget priorityclass prometheusrule role rolebinding secret service serviceaccount servicemonitor'.split(
        ' ',
      ),
    );
    const short: Readonly<Record<string, string>> = { deploy: 'deployment' };
    const isKind = (word: string): boolean => kinds.has(short[word] ?? word) || kinds.has(word.replace(/s$/, ''));
    const found = problems('kubectl', (words) => {
      const { verbs, objects } = read(words);
      if (['get', 'delete', 'describe', 'label', 'wait', 'scale'].includes(verbs[0] ?? '') && objects[0]) {
        const [kind = '', name] = objects[0].split('/');
        const wrong = kind.split(',').filter((one) => !isKind(one));
        return [
          ...wrong.map((one) => `no kind ${one}`),
          ...(name === undefined || /^(?:kdebug|kdebug-doctor)$/.test(name) ? [] : [`no ${objects[0]}`]),
        ];
      }
      if (['logs', 'exec'].includes(verbs[0] ?? '') && objects[0])
        return /^(?:deploy|deployment)\/kdebug$|^job\/kdebug-doctor$|^POD$/.test(objects[0])
          ? []
          : [`no ${objects[0]}`];
      if (verbs[0] === 'rollout' && objects[0] !== undefined)
        return objects[0] === 'deployment/kdebug' ? [] : [`no ${objects[0]}`];
      return [];
    });
    expect(found).toEqual([]);
  });

  it('says in which namespace it looks, wherever the log or the program of kdebug is meant', () => {
    const found = problems('kubectl', (words) => {
      const { verbs, objects, own } = read(words);
      const isOurs = ['logs', 'exec', 'rollout', 'scale'].includes(verbs[0] ?? '') && objects.length > 0;
      return !isOurs || own.includes('-n') ? [] : ['no -n kdebug'];
    });
    expect(found).toEqual([]);
  });
});

it.each(['README.md', 'docs/install.md'])('%s adds the key to tokens whose last line has no end', (page) => {
  const directory = mkdtempSync(join(tmpdir(), 'kdebug-env-'));
  writeFileSync(join(directory, 'kdebug.env'), 'SLACK_APP_TOKEN=xapp-1');
  const command = all.find(({ page: of, text }) => of === page && text.endsWith('>> kdebug.env'))?.text ?? '';
  spawnSync('bash', ['-c', command], { cwd: directory });
  const text = readFileSync(join(directory, 'kdebug.env'), 'utf8');
  rmSync(directory, { recursive: true });
  expect(text).toMatch(/^SLACK_APP_TOKEN=xapp-1\nKDEBUG_KEY=\S{44}\n$/);
});

describe.each(['README.md', 'docs/install.md'])('the step "yours" of %s', (page) => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'kdebug-install-'));
    cpSync(join(ROOT, 'manifests'), join(directory, 'manifests'), { recursive: true });
    for (const name of ['package.json', 'src', 'node_modules']) symlinkSync(join(ROOT, name), join(directory, name));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  /** The lines of the page's block that copies an installation, as a reader pastes them. */
  const script = (): string => {
    const blocks = [...read(page).matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
    return blocks.find((block) => block.includes('cp -r ')) ?? '';
  };

  const run = (env: Readonly<Record<string, string>>) =>
    spawnSync('bash', ['-c', script()], {
      cwd: directory,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: directory, ...env },
    });

  it('makes an installation of the reader’s images, channel and namespace that lint-policy finds fine', () => {
    // A registry that has kdebug's own names in it.
    const env = { REGISTRY: 'ghcr.io/acme/kdebug', CHANNEL: 'C0123456789', NAMESPACE: 'payments' };
    const { status, stdout } = run(env);
    expect(stdout).toContain('is fine: 1 channel, 1 rule, 1 image');
    expect(status).toBe(0);
    const ours = join(directory, 'manifests/installations/ours');
    const policy = parse(readFileSync(join(ours, 'policy.yaml'), 'utf8'));
    expect(policy).toMatchObject({
      images: { autodiagnose: { image: 'ghcr.io/acme/kdebug/kdebug-autodiagnose:0.3.0' } },
      channels: { C0123456789: { rules: [{ namespaces: ['payments'] }] } },
    });
    const { images } = parse(readFileSync(join(ours, 'kustomization.yaml'), 'utf8'));
    expect(images).toEqual([{ name: 'kdebug', newName: 'ghcr.io/acme/kdebug/kdebug', newTag: VERSION }]);
  });

  it('changes nothing of a release, whose images are published', () => {
    const path = join(directory, 'manifests/installations/socket/policy.yaml');
    const published = 'image: ghcr.io/acme/kdebug-autodiagnose:0.3.0';
    writeFileSync(path, readFileSync(path, 'utf8').replace(/image: kdebug-autodiagnose:\S+/, published));
    run({ REGISTRY: 'registry.corp/mine', CHANNEL: 'C0123456789', NAMESPACE: 'shop' });
    const policy = readFileSync(join(directory, 'manifests/installations/ours/policy.yaml'), 'utf8');
    expect(policy).toContain(`    ${published}\n`);
  });

  it('lets lint-policy say that a channel is an id when the reader gives its name', () => {
    const { status, stdout, stderr } = run({ REGISTRY: 'ghcr.io/acme', CHANNEL: '#shop-oncall', NAMESPACE: 'shop' });
    expect(stderr).toBe('');
    expect(status).toBe(1);
    expect(stdout).toMatch(/channels\.\S*: .*(?:id|C0)/);
  });

  it('is refused by lint-policy when the reader set nothing', () => {
    const { status, stdout } = run({ REGISTRY: 'registry.example.com/a', CHANNEL: 'C0REPLACEME', NAMESPACE: 'shop' });
    expect(status).toBe(1);
    expect(stdout).toContain('is a placeholder');
    expect(stdout).toContain('where no registry is');
  });
});
