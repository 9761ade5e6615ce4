import { REASONS } from '../src/core/errors.ts';
import { type Generated, table } from './generated.ts';

const rows = Object.entries(REASONS).map(([code, { title, hint, audience }]) => [
  `\`${code}\``,
  title,
  hint,
  audience === 'user' ? 'the thread, the log' : 'the log',
]);

/** Every reason code, from the one list in src/core/errors.ts. */
export const errorsPage: Generated = {
  path: 'docs/errors.md',
  text: () => `# Reason codes

Made from \`src/core/errors.ts\` by \`npm run gen\`: change it there. Codes are stable: logs (\`reason\`), metrics and records use
them. In Slack, people see a code whose detail is for operators without the detail, but with the run id.

${table(['code', 'what is wrong', 'what to do', 'where its detail appears'], rows)}
`,
};
