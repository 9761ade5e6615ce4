import { readFileSync } from 'node:fs';
import { isMap, isNode, parseDocument, type YAMLMap } from 'yaml';
import { z } from 'zod';
import { Variables } from '../src/config/variables.ts';
import { type Generated, table } from './generated.ts';

interface Property {
  readonly description?: string;
  readonly default?: unknown;
  readonly secret?: boolean;
}

const { properties = {} } = z.toJSONSchema(Variables, { io: 'input', unrepresentable: 'any' }) as {
  properties?: Readonly<Record<string, Property>>;
};

const variables = Object.entries(properties).map(([name, { description = '', default: given, secret }]) => [
  `\`${name}\``,
  given === undefined ? '–' : `\`${given}\``,
  secret ? 'Secret' : 'Deployment',
  description,
]);

/** Read by parts of kdebug that are not in the schema, or by Node itself. */
const OTHERS = [
  [
    '`HTTPS_PROXY`, `HTTP_PROXY`',
    'The proxy for everything to Slack, never for Kubernetes or Redis: `http://HOST:PORT`, with `USER:PASSWORD@` before the host if it wants a login (then from the Secret). The first one that is set counts, lower case first. See [operations.md](operations.md).',
  ],
  ['`NO_PROXY`', 'Names that are reached directly, separated by commas.'],
  ['`NODE_EXTRA_CA_CERTS`', "Node's own: a file (PEM) with more CAs, for a proxy that reads TLS."],
  ['`TMPDIR`', 'Where long logs are held while they are read; default `/tmp`, a volume of 3 GiB.'],
  ['`KDEBUG_REVISION`', 'Set by the image: the commit that it was built from.'],
];

/** Given whole: its parts are Kubernetes', not the chart's. */
const WHOLE: ReadonlySet<string> = new Set(['resources']);

/** A row a value of the chart: its name, its default, and the comment above it. */
function rowsOf(map: YAMLMap, path: readonly string[] = []): readonly (readonly string[])[] {
  return map.items.flatMap(({ key, value }, index) => {
    const inner = [...path, String(key)];
    const name = inner.join('.');
    // A comment above the first key belongs to the map around it, for the parser.
    const text = commentOf(key) || (index === 0 ? commentOf(map) : '');
    if (isMap(value) && value.items.length > 0 && !WHOLE.has(name))
      return [...(text === '' ? [] : [[`\`${name}\``, '', text]]), ...rowsOf(value, inner)];
    return [[`\`${name}\``, `\`${JSON.stringify(isNode(value) ? value.toJSON() : value)}\``, text]];
  });
}

/** The comment right above a node, on one line; the head of the file ends with an empty line. */
function commentOf(node: unknown): string {
  const comment = (isNode(node) ? node.commentBefore : undefined) ?? '';
  return comment
    .slice(comment.lastIndexOf('\n\n') + 1)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

const chart = parseDocument(readFileSync('charts/kdebug/values.yaml', 'utf8')).contents;
if (!isMap(chart)) throw new Error('charts/kdebug/values.yaml holds no values');

/** Every setting: of the process, and of the chart. */
export const configurationPage: Generated = {
  path: 'docs/configuration.md',
  text: () => `# Settings

Made from \`src/config/variables.ts\` and \`charts/kdebug/values.yaml\` by \`npm run gen\`: change it there. Who may do what is no setting but the policy:
[manifests/base/policy.yaml](../manifests/base/policy.yaml) explains it.

## Variables

kdebug reads them at start; a change needs a restart (\`kubectl -n kdebug rollout restart deployment/kdebug\`), also a change of the Secret. Empty means absent. At
start, all problems are named together, without a value, and kdebug exits with code 2.

Those of the Secret are keys of the Secret \`kdebug\`. The others are set in the Deployment: in your kustomization by a patch (below), in the chart by \`env\`.

${table(['variable', 'default', 'where', 'what it is'], variables)}

Read by other parts, and not in the manifests:

${table(['variable', 'what it is'], OTHERS)}

\`\`\`yaml
# In kustomization.yaml of your installation:
patches:
  - target: { kind: Deployment, name: kdebug }
    patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata: { name: kdebug }
      spec:
        template:
          spec:
            containers:
              - name: kdebug
                env:
                  - { name: LOG_LEVEL, value: debug }
\`\`\`

## Values of the chart

${table(['value', 'default', 'what it is'], rowsOf(chart))}
`,
};
