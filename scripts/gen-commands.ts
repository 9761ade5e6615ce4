import { FLAG_GROUPS, FLAGS, flagUsage, IGNORED, KUBECTL_ONLY, WHY_IGNORED } from '../src/core/command/flags.ts';
import { VERBS } from '../src/core/command/verbs.ts';
import { type Generated, table, withPart } from './generated.ts';

const code = (text: string) => `\`${text}\``;

const flagTable = (group: (typeof FLAG_GROUPS)[number]) =>
  table(
    ['flag', 'meaning', 'example'],
    FLAGS.filter((flag) => flag.group === group).map((flag) => [
      code(flagUsage(flag)),
      flag.help,
      code(`/kdebug ${flag.example}`),
    ]),
  );

const verbTable = table(
  ['verb', 'meaning', 'example'],
  VERBS.map((verb) => [code(`/kdebug ${verb.usage}`), verb.help, code(`/kdebug ${verb.example}`)]),
);

const refusedTable = table(
  ['flag', 'why not'],
  [...KUBECTL_ONLY].map(([name, why]) => [code(name.length === 1 ? `-${name}` : `--${name}`), why]),
);

/** The whole command, from the tables that the parser and the help read. */
export const commandsPage: Generated = {
  path: 'docs/commands.md',
  text: () => `# The command

Made from \`src/core/command/\` by \`npm run gen\`: change it there. A verb or flag that this version does not have yet answers so, with what works today.

    /kdebug POD [--image=IMAGE] [flags] [-- COMMAND [ARG…]]

\`POD\` is a pod's name, \`pod/NAME\` (also for a pod whose name is a verb), \`deployment/NAME\`, \`statefulset/NAME\`,
\`daemonset/NAME\`, \`job/NAME\` or \`NS/POD\`; \`--selector\` and \`--all\` aim at many pods. Words are split like a shell does, and nothing is ever
expanded or given to a shell. \`/kdebug\` alone opens a form; inside a thread, mention the bot instead: \`@kdebug POD …\`.

## In Slack

- A mention in a thread is answered there; one outside threads, in a thread under it. Its private answer then stands beside it, because
  Slack shows none in a thread without replies.
- kdebug answers people alone: a mention by a bot, or by a step of a workflow, gets no answer.
- A mention that is no command (\`@kdebug thanks\`) gets the help, and no run. In direct messages there is one answer: use it in a channel.
- Code marks, a code fence, bold, italics or quotes around the whole or around single words are left out; of the command after \`--\`
  only backticks around all of it. So are \`kubectl debug\`, \`/kdebug\` and \`kdebug\` in front.
- ${[...IGNORED].map((name) => code(name.length <= 2 ? `-${name}` : `--${name}`)).join(', ')} are left out: ${WHY_IGNORED}.
- An EphemeralJob goes into the form of \`/kdebug apply\`, or into a code block: elsewhere Slack's composer makes bullets of \`- \`. Bullets at
  the beginning of lines are read as \`-\`.

${FLAG_GROUPS.map((group) => `## Flags: ${group}\n\n${flagTable(group)}`).join('\n\n')}

## Verbs

${verbTable}

## Flags of kubectl debug that kdebug does not take

${refusedTable}
`,
};

/** The short table in the README. */
export const readmeCommands: Generated = {
  path: 'README.md',
  text: (current) =>
    withPart(
      current,
      'commands',
      table(
        ['command', 'does'],
        [
          [
            code('/kdebug POD --image=IMAGE [flags] [-- COMMAND]'),
            'Debug a running pod; the result comes in the thread.',
          ],
          ...VERBS.map((verb) => [code(`/kdebug ${verb.usage}`), verb.help]),
        ],
      ),
    ),
};
