import { type Definition, METRICS } from '../src/adapters/metrics/definitions.ts';
import { type Generated, table } from './generated.ts';

/** A list of more values is said in a word: the page would be one of codes. */
const MAX_VALUES = 12;

const valuesOf = (values: readonly string[] | 'open'): string => {
  if (values === 'open') return '';
  return values.length > MAX_VALUES ? ': a code or a word' : `: ${values.join(', ')}`;
};

const labelsOf = ({ labels = {} }: Definition): string =>
  Object.entries(labels)
    .map(([label, values]) => `\`${label}\`${valuesOf(values)}`)
    .join('; ');

const rows = Object.entries<Definition>(METRICS).map(([name, definition]) => [
  `\`kdebug_${name}\``,
  definition.type,
  labelsOf(definition),
  [definition.help, definition.note].filter(Boolean).join(' '),
]);

/** Every metric, from the one table in src/adapters/metrics/definitions.ts. */
export const metricsPage: Generated = {
  path: 'docs/metrics.md',
  text: () => `# Metrics

Made from \`src/adapters/metrics/definitions.ts\` by \`npm run gen\`: change it there. \`GET /metrics\` on the operations port
(\`OPS_PORT\`) shows them as Prometheus' text, beside the usual ones of a Node.js process (\`process_*\`, \`nodejs_*\`). Alert rules, a
dashboard and a ServiceMonitor are in \`manifests/components/monitoring\`.

Numbers belong to one replica and begin at 0 when it starts; add them up over the replicas, except where a row says otherwise. No label
names a person, a channel, a namespace or a pod. Each label has few values: one that kdebug does not expect counts as \`other\`.
Codes are those of [errors.md](errors.md). Times are seconds.

${table(['metric', 'type', 'labels', 'what it says'], rows)}

A run that was found in the cluster after its store was lost counts its end in \`kdebug_run_seconds\` again if the process that died had
counted it before: nobody can know.
`,
};
