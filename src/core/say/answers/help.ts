import {
  FLAG_GROUPS,
  FLAGS,
  type Flag,
  type FlagGroup,
  flagNamed,
  flagUsage,
  RUN_FLAGS,
} from '../../command/line/flags.ts';
import { type KnownVerb, VERBS, verbNamed } from '../../command/line/verbs.ts';
import { BOT, COMMAND } from '../../shown-names.ts';
import { dotted, heading, line, list, message, note, paragraph, type Shown } from '../message/line.ts';
import { code, type Message, type Part, type Span, strong } from '../message/message.ts';

/** The most common commands, most common first. */
export const EXAMPLES: readonly (readonly [command: string, meaning: string])[] = [
  ['web-1', 'check the pod with the default image'],
  ['web-1 -n shop --image=autodiagnose', 'diagnose a pod of the namespace shop'],
  ['web-1 --image=debian -- cat /proc/1/root/etc/resolv.conf', 'run one command beside the pod'],
  ['deployment/web -n shop --image=autodiagnose', 'the same in every pod of a deployment'],
  ['list', 'the latest runs in this channel'],
];

/** The power that each profile adds, least first (kubectl pkg/cmd/debug/profiles.go). */
export const PROFILE_HELP: readonly (readonly [name: string, meaning: string])[] = [
  ['auto', 'kdebug picks the least power that works; the default'],
  ['restricted', 'no root, no capabilities; allowed nearly everywhere'],
  ['baseline', 'the defaults of the image and the runtime, nothing added'],
  ['general', "SYS_PTRACE: may look into other users' processes"],
  ['netadmin', 'NET_ADMIN and NET_RAW: may capture packets and change routes'],
  ['sysadmin', 'privileged: full access to the node'],
];

const GROUP_HELP: Readonly<Record<FlagGroup, string>> = {
  target: 'Where to look',
  container: 'What to run',
  run: 'How to run it',
  batch: 'Several pods at once',
  lookup: 'For list, logs and once-more only',
};

const typed = (command: string): Span => code(`${COMMAND} ${command}`);

const described = (name: Span, meaning: string): readonly Span[] => line`${name} — ${meaning}`;

const page = (title: string, ...parts: readonly Shown[]): Message =>
  message({ tone: 'neutral' }, [heading(title), parts]);

/** The answer to `help`: one of `TOPICS`, else one screen that starts with the most common commands. */
export function helpMessage(topic?: string): Message {
  if (topic === undefined) return overview();
  const verb = verbNamed(topic);
  const flag = topic.startsWith('--') ? flagNamed(topic.slice(2)) : undefined;
  const group = FLAG_GROUPS.find((name) => name === topic);
  if (group) return page(`kdebug help: ${GROUP_HELP[group].toLowerCase()}`, groupList(group));
  if (topic === 'flags') return allFlags();
  if (topic === 'verbs') return page('kdebug help: verbs', verbList());
  if (topic === 'profiles') return page('kdebug help: profiles', profileList());
  if (verb && verb.name !== 'help') return verbHelp(verb);
  return flag ? flagHelp(flag) : overview();
}

const overview = (): Message =>
  page(
    'Debug a running pod from Slack',
    paragraph`${typed('POD [--image=IMAGE] [flags] [-- COMMAND]')}`,
    list(EXAMPLES.map(([command, meaning]) => described(typed(command), meaning))),
    paragraph`Verbs: ${dotted(VERBS.map(({ name }) => code(name)))}`,
    paragraph`Slash commands do not work in threads: write ${code(`${BOT} POD …`)} there, and kdebug answers in that thread.`,
    note`More: ${dotted(['help flags', 'help verbs', 'help profiles', 'help batch'].map(code))}`,
  );

const groupList = (group: FlagGroup): Part =>
  list(FLAGS.filter((flag) => flag.group === group).map((flag) => described(code(flagUsage(flag)), flag.help)));

const allFlags = (): Message =>
  page(
    'kdebug help: flags',
    FLAG_GROUPS.map((group) => [paragraph`${strong(GROUP_HELP[group])}`, groupList(group)]),
    paragraph`${code('--')} — the words after it are the command to run.`,
  );

const verbList = (): Part => list(VERBS.map((verb) => described(typed(verb.usage), verb.help)));

const profileList = (): Part =>
  list(PROFILE_HELP.map(([name, meaning]) => described(code(`--profile=${name}`), meaning)));

function verbHelp(verb: KnownVerb): Message {
  const flags = FLAGS.filter((flag) => verb.flags.includes(flag.name));
  const flagPart =
    verb.flags === RUN_FLAGS
      ? paragraph`All flags of a run work here: ${code(`${COMMAND} help flags`)}`
      : list(flags.map((flag) => described(code(flagUsage(flag)), flag.help)));
  return page(
    `kdebug help: ${verb.name}`,
    paragraph`${typed(verb.usage)}`,
    paragraph`${verb.help}`,
    flags.length > 0 && flagPart,
    paragraph`For example: ${typed(verb.example)}`,
  );
}

const flagHelp = (flag: Flag): Message =>
  page(
    `kdebug help: --${flag.name}`,
    paragraph`${code(flagUsage(flag))}`,
    paragraph`${flag.help}`,
    flag.value === 'profile' && profileList(),
    paragraph`For example: ${typed(flag.example)}`,
  );
