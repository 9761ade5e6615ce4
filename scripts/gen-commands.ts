import { FLAG_GROUPS, FLAGS, flagUsage, IGNORED, KUBECTL_ONLY, WHY_IGNORED } from '../src/core/command/line/flags.ts';
import { VERBS } from '../src/core/command/line/verbs.ts';
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

Made from \`src/core/command/\` by \`npm run gen\`: change it there. A verb or flag that this version does not have yet says so, and what works today.

    /kdebug POD [--image=IMAGE] [flags] [-- COMMAND [ARG…]]

\`POD\` is a pod's name, \`pod/NAME\` (also for a pod whose name is a verb), \`deployment/NAME\`, \`statefulset/NAME\`,
\`daemonset/NAME\`, \`job/NAME\` or \`NS/POD\`; \`--selector\` and \`--all\` select many pods. kdebug splits words like a shell, but expands nothing
and passes nothing to a shell. \`/kdebug\` alone opens a form; inside a thread, mention the bot instead: \`@kdebug POD …\`.

## In Slack

- kdebug answers a mention in its thread, or in a new thread under it. A private answer then appears beside the mention, because
  Slack shows none in a thread without replies.
- kdebug answers only people: a mention by a bot, or by a step of a workflow, gets no answer.
- A mention without a command (\`@kdebug thanks\`) gets the help, and no run.
- An edit of a mention counts for five minutes after the message was sent, also after a refusal, and a message never starts a second run.
- In a direct message with kdebug, people write commands as after a mention, where the policy has the entry \`direct\` and names them there. Everybody
  else is told to use a channel; \`help\` works for all.
- kdebug ignores code marks, a code fence, bold, italics and quotes around the whole or around single words; in the command after \`--\`
  only backticks around all of it. It also ignores \`kubectl debug\`, the slash command and \`kdebug\` in front.
- ${[...IGNORED].map((name) => code(name.length <= 2 ? `-${name}` : `--${name}`)).join(', ')} have no effect: ${WHY_IGNORED}.
- An EphemeralJob goes into the form of \`/kdebug apply\`, or into a code block: elsewhere Slack's composer makes bullets of \`- \`. kdebug reads bullets at
  the beginning of lines as \`-\`.

${FLAG_GROUPS.map((group) => `## Flags: ${group}\n\n${flagTable(group)}`).join('\n\n')}

## Verbs

${verbTable}

## Flags of kubectl debug that kdebug refuses

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
