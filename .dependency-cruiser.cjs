/**
 * Who may know whom: main → compose → adapters → core, compose → flow → core (docs/architecture.md).
 * Each rule says in its comment what to do instead. `test/contract/architecture.test.ts` breaks every one of them on
 * purpose and sees it bite.
 */

/** Packages that only some folders may import. */
const HOMES = {
  slack: { packages: '@slack/', home: '^src/adapters/slack/' },
  kubernetes: { packages: '@kubernetes/client-node/', home: '^src/adapters/kubernetes/' },
  undici: { packages: 'undici/', home: '^src/adapters/(kubernetes|slack)/' },
  ioredis: { packages: 'ioredis/', home: '^src/adapters/store/' },
  pino: { packages: 'pino/', home: '^src/adapters/log/' },
  'prom-client': { packages: 'prom-client/', home: '^src/adapters/metrics/' },
  'tar-stream': { packages: 'tar-stream/', home: '^src/adapters/spool/' },
  re2js: { packages: 're2js/', home: '^src/lib/patterns/' },
  zod: { packages: 'zod/', home: '^src/(config|adapters)/' },
  yaml: { packages: 'yaml/', home: '^src/(config|lib)/' },
};

const oneHomeFor = ([name, { packages, home }]) => ({
  name: `home-of-${name}`,
  comment: `Instead: say in a port (src/flow/ports/) or in a core type what you need of it, and use the package in ${home}.`,
  severity: 'error',
  from: { path: '^src/', pathNot: home },
  to: { path: `node_modules/${packages}` },
});

/**
 * What stands on what: in each of these folders, a file or folder imports only those before it in the list. docs/architecture.md is read
 * in this order; `test/contract/structure.test.ts` sees that the lists are whole.
 */
const ORDERS = {
  'src/core': [
    'shown-names.ts',
    'errors.ts',
    'ids.ts',
    'hash.ts',
    'actions.ts',
    'optional-rights.ts',
    'outcome.ts',
    'report-marks.ts',
    'line-lengths.ts',
    'redact',
    'container',
    'request',
    'command',
    'policy',
    'alert',
    'compare',
    'files',
    'batch',
    'planning',
    'diagnosis',
    'run',
    'job',
    'lookup',
    'audit',
    'say',
  ],
  'src/core/diagnosis': [
    'facts',
    'logs',
    'reading',
    'images',
    'rules',
    'marked-report.ts',
    'look-at-cluster.ts',
    'findings.ts',
    'first-answer.ts',
    'once-more-first-run.ts',
    'traced-end.ts',
    'once-more-verdict.ts',
    'report-verdict.ts',
    'workload',
  ],
  'src/core/say': [
    'message',
    'parts',
    'batch',
    'run',
    'answers',
    'pod-in-text.ts',
    'form-preview.ts',
    'request-form.ts',
    'alert-request.ts',
  ],
  'src/flow': [
    'ports',
    'context',
    'log',
    'planning',
    'first-answer',
    'run',
    'approval',
    'lookup',
    'again',
    'form',
    'home',
    'batch',
    'alerts',
    'inbox',
    'reply',
    'recovery',
    'supervisor.ts',
  ],
};

const oneOf = (names) => `(${names.map((name) => name.replace('.', '\\.')).join('|')})(/|$)`;

/** One rule for each but the last: what it must not import. */
const orderOf = ([folder, names]) =>
  names.slice(0, -1).map((name, index) => ({
    name: `order-of-${folder.replaceAll('/', '-')}-${name}`,
    comment: `Instead: move what both need to a folder before ${folder}/${name} in ORDERS, or hand it over as an argument.`,
    severity: 'error',
    from: { path: `^${folder}/${oneOf([name])}` },
    to: { path: `^${folder}/${oneOf(names.slice(index + 1))}` },
  }));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'lib-is-domain-free',
      comment:
        'Instead: take the value as an argument, or put the thing where its domain is. Everybody may import src/lib/, which imports nothing of ours.',
      severity: 'error',
      from: { path: '^src/lib/' },
      to: { path: '^(src|play|images|test|bench|scripts)/', pathNot: '^src/lib/' },
    },
    {
      name: 'core-is-pure',
      comment:
        'Instead: pass the value in, or make it a port in src/flow/ports/. Core has no I/O, clock or randomness; it may use node:util, and node:crypto in hash.ts.',
      severity: 'error',
      from: { path: '^src/core/' },
      to: { pathNot: '^src/(core|lib)/|^(node:)?(util|crypto)$' },
    },
    {
      name: 'core-hashes-in-one-place',
      comment: 'Instead: add what you need to src/core/hash.ts. Random bytes are a port (Ids), not a part of core.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '^src/core/hash\\.ts$' },
      to: { path: '^(node:)?crypto$' },
    },
    {
      name: 'flow-knows-core-only',
      comment: 'Instead: describe what the stage needs as a port in src/flow/ports/ and implement it in an adapter.',
      severity: 'error',
      from: { path: '^src/flow/' },
      to: { pathNot: '^src/(flow|core|lib)/' },
    },
    {
      name: 'doctor-knows-core-only',
      comment:
        'Instead: say in src/doctor/probes.ts what a check has to learn, and let an adapter find it out. Of the configuration it knows types.',
      severity: 'error',
      from: { path: '^src/doctor/' },
      to: { pathNot: '^src/(doctor|core|lib|config)/|^(node:)?path$' },
    },
    {
      name: 'adapters-know-flow-by-type',
      comment:
        'Instead: `import type` the port from src/flow/ports/. What an adapter must call is handed to it by the composition root.',
      severity: 'error',
      from: { path: '^src/adapters/' },
      to: { path: '^src/(flow|doctor)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'adapters-know-ports-only',
      comment: 'Instead: move the type to src/flow/ports/ (a contract) or to src/core (a word of the domain).',
      severity: 'error',
      from: { path: '^src/adapters/' },
      to: { path: '^src/(flow|doctor)/', pathNot: '^src/(flow/ports/|doctor/probes\\.ts$)' },
    },
    {
      name: 'adapters-do-not-know-each-other',
      comment: 'Instead: let the flow call both through their ports, or move what is shared and pure to src/core.',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: '^src/adapters/', pathNot: '^src/adapters/$1/' },
    },
    {
      name: 'adapters-do-not-know-config',
      comment: 'Instead: take the value as an option; src/compose.ts reads the configuration and passes it on.',
      severity: 'error',
      from: { path: '^src/adapters/' },
      to: { path: '^src/(config|cli)/|^src/(main|compose|compose-doctor)\\.ts$' },
    },
    {
      name: 'one-door-per-adapter',
      comment: 'Instead: export what you need from the adapter’s index.ts, or do without it.',
      severity: 'error',
      from: { path: '^(src|play|bench|scripts)/', pathNot: '^(src/adapters|bench/growth|play/test)/' },
      to: { path: '^src/adapters/', pathNot: '^src/adapters/[^/]+/index\\.ts$' },
    },
    {
      name: 'doors-only-for-adapters',
      comment: 'Instead: import the file that holds the thing. Only src/adapters/<name>/index.ts may be called index.',
      severity: 'error',
      from: {},
      to: { path: '^src/.*index\\.ts$', pathNot: '^src/adapters/[^/]+/index\\.ts$' },
    },
    {
      name: 'config-knows-core-only',
      comment: 'Instead: give config a core type to fill in; it knows core, zod, yaml and the file system.',
      severity: 'error',
      from: { path: '^src/config/' },
      to: { path: '^src/', pathNot: '^src/(config|core|lib)/' },
    },
    {
      name: 'only-main-composes',
      comment:
        'Instead: take a port as an argument. Adapters are made in src/compose.ts, for the doctor in src/compose-doctor.ts (and the log in src/main.ts).',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/adapters/|^src/(main|compose|compose-doctor)\\.ts$' },
      to: { path: '^src/adapters/|^src/compose(-doctor)?\\.ts$' },
    },
    {
      name: 'nobody-imports-main',
      comment: 'Instead: move what you need to src/compose.ts. Importing main starts the program.',
      severity: 'error',
      from: { pathNot: '^src/main\\.ts$' },
      to: { path: '^src/main\\.ts$' },
    },
    {
      name: 'src-knows-no-test-or-play',
      comment:
        'Instead: keep the production code whole by itself; play and tests reach it through compose and the ports.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|play|images|bench|scripts)/' },
    },
    {
      name: 'play-knows-no-test',
      comment: 'Instead: move what play and tests share to play/. Play must work without the tests.',
      severity: 'error',
      from: { path: '^(play|bench)/', pathNot: '^play/test/' },
      to: { path: '^((play|images)/)?test/' },
    },
    {
      name: 'src-uses-runtime-packages',
      comment: 'Instead: move the package to "dependencies" in package.json, with the reason in the commit.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-cycles',
      comment: 'Instead: move what both need to a third file that knows neither; types too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'imports-resolve',
      comment: 'Instead: correct the path (with its .ts) or install the package.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    ...Object.entries(HOMES).map(oneHomeFor),
    ...Object.entries(ORDERS).flatMap(orderOf),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
    reporterOptions: {
      mermaid: { minify: false },
    },
  },
};

// For the tests of the structure: the tool accepts no property that it does not know.
Object.defineProperty(module.exports, 'ORDERS', { value: ORDERS });
