import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../src/core/command/parse.ts';
import type { Command, CommandError, RunRequest } from '../../../src/core/request/command.ts';

const ID = 'abcdefgh23';

function commandOf(text: string): Command {
  const parsed = parseCommand(text);
  if (parsed.kind === 'error') throw new Error(`${parsed.error.code}: ${parsed.error.message}`);
  return parsed.command;
}

function errorOf(text: string): CommandError {
  const parsed = parseCommand(text);
  if (parsed.kind === 'ok') throw new Error(`no error in ${text}`);
  return parsed.error;
}

const wrongWord = ({ text, start, end }: CommandError): string => text.slice(start, end);

const pod = (name: string, fields: Partial<RunRequest> = {}): Command => ({
  kind: 'run',
  request: {
    target: { kind: 'pod', name },
    env: [],
    profile: 'auto',
    command: [],
    argumentsOnly: false,
    dryRun: false,
    batch: { canary: false },
    ...fields,
  },
});

const comparison = (name: string, fields: Partial<RunRequest> = {}): Command =>
  pod('x', { target: { kind: 'compare', name }, image: 'autodiagnose', ...fields });

describe('the four people of the design', () => {
  it('Roy asks for a first look', () => {
    expect(commandOf('nginx-pod-1234 --image=autodiagnose')).toEqual(pod('nginx-pod-1234', { image: 'autodiagnose' }));
  });

  it('Jonas runs one command next to a distroless container', () => {
    expect(commandOf('neato-5thn0 --image=debian --target=neato -- cat /proc/1/root/etc/resolv.conf')).toEqual(
      pod('neato-5thn0', {
        image: 'debian',
        targetContainer: { kind: 'named', name: 'neato' },
        command: ['cat', '/proc/1/root/etc/resolv.conf'],
      }),
    );
  });

  it('Thurston attaches a debugger, typed on a phone', () => {
    expect(commandOf('neato-5x9k3 —image=debugger —profile=sysadmin —reason=“hang” — gdb -p 1 -batch -ex bt')).toEqual(
      pod('neato-5x9k3', {
        image: 'debugger',
        profile: 'sysadmin',
        reason: 'hang',
        command: ['gdb', '-p', '1', '-batch', '-ex', 'bt'],
      }),
    );
  });

  it('Ginger audits every pod', () => {
    expect(commandOf('--all -n shop --image=security-audit --parallelism=8 -- /security-audit.sh')).toEqual(
      pod('', {
        target: { kind: 'all' },
        namespace: 'shop',
        image: 'security-audit',
        batch: { parallelism: 8, canary: false },
        command: ['/security-audit.sh'],
      }),
    );
  });
});

describe('every sentence of the grammar', () => {
  it.each<[string, Command]>([
    ['', { kind: 'form' }],
    [' \u00a0 ', { kind: 'form' }],
    ['help', { kind: 'help' }],
    ['Help Flags', { kind: 'help', topic: 'flags' }],
    ['help --image', { kind: 'help', topic: '--image' }],
    ['--help', { kind: 'help' }],
    ['web -h', { kind: 'help' }],
    ['describe --help', { kind: 'help', topic: 'describe' }],
    ['list', { kind: 'list' }],
    ['LIST', { kind: 'list' }],
    ['list --mine --all', { kind: 'list', mine: true, all: true }],
    ['list --pod=Web-1 --outcome Failed --page=2', { kind: 'list', pod: 'web-1', outcome: 'failed', page: 2 }],
    ['list --outcome=oom-killed', { kind: 'list', outcome: 'oom-killed' }],
    ['images', { kind: 'images' }],
    ['whoami', { kind: 'whoami' }],
    [`show ${ID}`, { kind: 'show', id: ID }],
    [`logs ${ID}`, { kind: 'logs', id: ID }],
    [`logs ${ID} --tail 100 --since=5m`, { kind: 'logs', id: ID, tail: 100, sinceMs: 300_000 }],
    [`logs --grep="connection refused" ${ID}`, { kind: 'logs', id: ID, grep: 'connection refused' }],
    [`Stop ${ID}`, { kind: 'stop', id: ID }],
    [`rerun ${ID}`, { kind: 'rerun', id: ID }],
    ['describe web-1 -n shop --cluster=prod', { kind: 'describe', pod: 'web-1', namespace: 'shop', cluster: 'prod' }],
    ['-n shop describe pod web-1', { kind: 'describe', pod: 'web-1', namespace: 'shop' }],
    ['compare web-1', comparison('web-1')],
    [
      'compare pod shop/web-1 --target=web',
      comparison('web-1', { namespace: 'shop', targetContainer: { kind: 'named', name: 'web' } }),
    ],
    ['-n shop compare pod/web-1 --dry-run', comparison('web-1', { namespace: 'shop', dryRun: true })],
    ['describe pod/list', { kind: 'describe', pod: 'list' }],
    ['describe pod', { kind: 'describe', pod: 'pod' }],
    [`batch ${ID}`, { kind: 'batch', id: ID }],
    [`batch ${ID} pause`, { kind: 'batch', id: ID, change: { kind: 'pause' } }],
    [`batch ${ID} resume`, { kind: 'batch', id: ID, change: { kind: 'resume' } }],
    [`batch ${ID} cancel`, { kind: 'batch', id: ID, change: { kind: 'cancel' } }],
    [
      `batch ${ID} --parallelism=4 --replicas 9`,
      { kind: 'batch', id: ID, change: { kind: 'scale', parallelism: 4, replicas: 9 } },
    ],
    ['apply', { kind: 'apply' }],
    ['apply -n shop', { kind: 'apply', namespace: 'shop' }],
    ['Apply -n shop\nkind: EphemeralJob\n', { kind: 'apply', namespace: 'shop', yaml: 'kind: EphemeralJob' }],
    ['apply ```kind: EphemeralJob\nspec: “x &lt; y”```', { kind: 'apply', yaml: 'kind: EphemeralJob\nspec: "x < y"' }],
    ['apply\n```yaml\na: 1\n```', { kind: 'apply', yaml: 'a: 1' }],
    [
      'can-i web -n shop',
      { kind: 'can-i', request: (pod('web', { namespace: 'shop' }) as { request: RunRequest }).request },
    ],
    ['pod/list', pod('list')],
    ['Pod/web', pod('web')],
    ['deploy/web', pod('', { target: { kind: 'workload', workload: 'deployment', name: 'web' } })],
    ['statefulset/db', pod('', { target: { kind: 'workload', workload: 'statefulset', name: 'db' } })],
    ['ds/agent', pod('', { target: { kind: 'workload', workload: 'daemonset', name: 'agent' } })],
    ['job/once', pod('', { target: { kind: 'workload', workload: 'job', name: 'once' } })],
    ["-l 'tier in (a,b)'", pod('', { target: { kind: 'selector', selector: 'tier in (a,b)' } })],
    ['--selector app==web', pod('', { target: { kind: 'selector', selector: 'app=web' } })],
  ])('%j', (text, command) => {
    expect(commandOf(text)).toEqual(command);
  });

  it('all flags of one pod together, values in both spellings', () => {
    expect(
      commandOf(
        'web -n shop --cluster prod --no-target --image registry.example.com:5000/a/b:1 -c look --env=A=1 --env B=x=y --env=C= ' +
          '--profile=netadmin --image-pull-policy Always --arguments-only --timeout 1h30m --reason "a\n b" --dry-run -- -v --image=x',
      ),
    ).toEqual(
      pod('web', {
        namespace: 'shop',
        cluster: 'prod',
        targetContainer: { kind: 'none' },
        image: 'registry.example.com:5000/a/b:1',
        label: 'look',
        env: [
          { name: 'A', value: '1' },
          { name: 'B', value: 'x=y' },
          { name: 'C', value: '' },
        ],
        profile: 'netadmin',
        imagePullPolicy: 'Always',
        command: ['-v', '--image=x'],
        argumentsOnly: true,
        timeoutMs: 5_400_000,
        reason: 'a b',
        dryRun: true,
      }),
    );
  });

  it('all flags of a batch together', () => {
    const { request } = commandOf('-l app=web --replicas=5 --parallelism=10 --ttl=30m --canary') as {
      request: RunRequest;
    };
    expect(request.batch).toEqual({ replicas: 5, parallelism: 10, ttlMs: 1_800_000, canary: true });
  });
});

describe('the words after -- are the command, verbatim', () => {
  it.each<[string, readonly string[]]>([
    ['web -- sh -c "echo $HOME; id | cat > x && y"', ['sh', '-c', 'echo $HOME; id | cat > x && y']],
    ['web -- echo &lt;a&gt; &amp;&amp; &amp;amp;', ['echo', '<a>', '&&', '&amp;']],
    ['web -- a -- b --image=x -n y --help list', ['a', '--', 'b', '--image=x', '-n', 'y', '--help', 'list']],
    ['web -- $(reboot) `id` ; rm -rf /', ['$(reboot)', '`id`', ';', 'rm', '-rf', '/']],
    ["web -- '' ' '", ['', ' ']],
    ['web -- Echo HELLO', ['Echo', 'HELLO']],
    ['web -- curl <http://example.com|example.com>', ['curl', 'example.com']],
  ])('%j', (text, command) => {
    expect(commandOf(text)).toEqual(pod('web', { command }));
  });
});

describe('a wrong command is pointed at and the nearest right one named', () => {
  it.each([
    ['web "abc', 'quote_open', '"', undefined],
    ['web --img=debian', 'flag_unknown', '--img=debian', '--image'],
    ['web --Image=debian', 'flag_unknown', '--Image=debian', '--image'],
    ['web -image=debian', 'flag_unknown', '-image=debian', '--image'],
    ['web --hold=15m', 'flag_unknown', '--hold=15m', undefined],
    ['web --__proto__=1', 'flag_unknown', '--__proto__=1', undefined],
    ['web --constructor x', 'flag_unknown', '--constructor', undefined],
    ['web --toString', 'flag_unknown', '--toString', undefined],
    ['web -z', 'flag_unknown', '-z', undefined],
    ["web '--'", 'flag_unknown', "'--'", undefined],
    ['web --copy-to=x', 'flag_unsupported', '--copy-to=x', 'never makes a copy'],
    ['web --image', 'flag_value_missing', '--image', 'web-1 --image=autodiagnose'],
    ['web --image=', 'flag_value_missing', '--image=', undefined],
    ['web --image --dry-run', 'flag_value_missing', '--image', undefined],
    ['web --image -- ls', 'flag_value_missing', '--image', undefined],
    ['web --reason ""', 'flag_value_missing', '""', undefined],
    ['web --dry-run=true', 'flag_value_unexpected', '--dry-run=true', '--dry-run alone'],
    ['web --image=a --image=b', 'flag_repeated', '--image=b', undefined],
    ['web --dry-run --dry-run', 'flag_repeated', '--dry-run', undefined],
    ['web --env=A=1 --env=B=2 --env=A=3', 'flag_repeated', 'A=3', undefined],
    ['list -n shop', 'flag_misplaced', '-n shop', 'list'],
    ['web --tail=5', 'flag_misplaced', '--tail=5', 'It belongs to logs'],
    ['web --mine', 'flag_misplaced', '--mine', 'It belongs to list'],
    ['can-i web --grep=x', 'flag_misplaced', '--grep=x', 'can-i'],
    ['list --tail=5', 'flag_misplaced', '--tail=5', 'list'],
    [`show ${ID} --tail=5`, 'flag_misplaced', '--tail=5', 'show ID'],
    ['list --outcome=faild', 'outcome_unknown', 'faild', 'Did you mean failed?'],
    ['list --outcome=nonsense', 'outcome_unknown', 'nonsense', 'problems, running, waiting'],
    ['list --pod=a_b', 'name_invalid', 'a_b', undefined],
    ['list --page=21', 'number_invalid', '21', '1 to 20'],
    [`logs ${ID} --tail=0`, 'number_invalid', '0', '1 to 10000'],
    [`logs ${ID} --since=5`, 'duration_invalid', '5', '5m'],
    [`logs ${ID} --grep=${'x'.repeat(201)}`, 'flag_value_unexpected', 'x'.repeat(201), undefined],
    [`show ${ID} --image=x`, 'flag_misplaced', '--image=x', 'show ID'],
    [`logs ${ID} -- ls`, 'flag_misplaced', '--', undefined],
    ['web --target=a --no-target', 'flag_contradiction', '--no-target', undefined],
    ['web --no-target --target a', 'flag_contradiction', '--target a', undefined],
    ['web -l app=web', 'flag_contradiction', '-l app=web', undefined],
    ['--all web', 'flag_contradiction', 'web', undefined],
    ['-l app=web --all', 'flag_contradiction', '--all', undefined],
    [`batch ${ID} pause --replicas=2`, 'flag_contradiction', 'pause', undefined],
    ['web --parallelism=3', 'flag_needs_batch', '--parallelism=3', 'deployment/web'],
    ['web --replicas 3', 'flag_needs_batch', '--replicas 3', undefined],
    ['web --ttl=5m', 'flag_needs_batch', '--ttl=5m', undefined],
    ['web --canary', 'flag_needs_batch', '--canary', undefined],
    [`shwo ${ID}`, 'verb_unknown', 'shwo', 'show'],
    ['descrbe web', 'verb_unknown', 'descrbe', 'describe'],
    [`batch ${ID} puase`, 'verb_unknown', 'puase', 'pause'],
    ['help fgals', 'topic_unknown', 'fgals', 'flags'],
    ['help flags more', 'topic_unknown', 'more', undefined],
    ['web cat /etc/hosts', 'word_unexpected', 'cat', '--'],
    ['shop stop', 'word_unexpected', 'stop', undefined],
    ['-l tier in (a,b)', 'word_unexpected', '(a,b)', 'quotes'],
    [`show ${ID} x`, 'word_unexpected', 'x', undefined],
    ['list x', 'word_unexpected', 'x', undefined],
    ['apply x', 'word_unexpected', 'x', undefined],
    ['describe a b', 'word_unexpected', 'b', undefined],
    ['--image=debian  ', 'target_missing', '', undefined],
    ['describe', 'target_missing', '', undefined],
    ['compare', 'target_missing', '', undefined],
    ['compare a b', 'word_unexpected', 'b', undefined],
    ['compare deployment/web', 'target_kind_unknown', 'deployment/web', undefined],
    ['compare web-1 --image=debian', 'flag_misplaced', '--image=debian', undefined],
    ['compare web-1 -- ls', 'flag_misplaced', '--', undefined],
    ['can-i --image=x', 'target_missing', '', undefined],
    ['svc/web', 'target_kind_unknown', 'svc', '-n'],
    ['deployent/web', 'target_kind_unknown', 'deployent', 'deployment/'],
    ['describe deployment/web', 'target_kind_unknown', 'deployment/web', undefined],
    ['web --image=Debian', 'image_invalid', 'Debian', 'debian'],
    ['web --image "a b"', 'image_invalid', '"a b"', undefined],
    ['-l "app=*"', 'selector_invalid', '"app=*"', 'app=web'],
    ['web --env=A', 'env_invalid', 'A', '--env=NAME='],
    ['web --env==x', 'env_invalid', '=x', undefined],
    ['web --env=1A=x', 'env_invalid', '1A=x', undefined],
    ['web --env=KDEBUG_RUN=x', 'env_reserved', 'KDEBUG_RUN=x', undefined],
    ['web --env=kdebug_ref=x', 'env_reserved', 'kdebug_ref=x', undefined],
    ['web --profile=sysadmn', 'profile_unknown', 'sysadmn', 'sysadmin'],
    ['web --profile=legacy', 'profile_unknown', 'legacy', 'auto'],
    ['web --profile=constructor', 'profile_unknown', 'constructor', undefined],
    ['web --image-pull-policy=always', 'pull_policy_unknown', 'always', 'Always'],
    ['web --timeout=5', 'duration_invalid', '5', '5m'],
    ['web --timeout 8d', 'duration_invalid', '8d', '7d'],
    ['--all --parallelism=0', 'number_invalid', '0', '10'],
    ['--all --parallelism=11', 'number_invalid', '11', '10'],
    ['--all --parallelism=1e1', 'number_invalid', '1e1', undefined],
    ['--all --replicas=0', 'number_invalid', '0', undefined],
    ['--all --replicas=2147483648', 'number_invalid', '2147483648', undefined],
    ['web --reason=" "', 'reason_invalid', '" "', undefined],
    ['web --', 'command_missing', '--', undefined],
    ['web --arguments-only', 'command_missing', '--arguments-only', undefined],
    ['web --arguments-only --', 'command_missing', '--arguments-only', undefined],
    ['show', 'run_id_missing', '', undefined],
    ['show ABCDEFGH23', 'run_id_invalid', 'ABCDEFGH23', 'abcdefgh23'],
    ['logs ../../etc', 'run_id_invalid', '../../etc', undefined],
  ])('%j is %s at %j', (text, code, word, hint) => {
    const error = errorOf(text);
    expect({ code: error.code, word: wrongWord(error) }).toEqual({ code, word });
    if (hint !== undefined) expect(error.hint).toContain(hint);
  });

  it('what is missing is pointed at where the line ends', () => {
    expect(errorOf(' --image=debian  ')).toMatchObject({ text: ' --image=debian  ', start: 15, end: 15 });
  });

  it('the columns are those of the repaired line', () => {
    expect(errorOf('web —image=debian —img')).toMatchObject({ text: 'web --image=debian --img', start: 19, end: 24 });
  });

  it('of several wrong words the leftmost is told', () => {
    expect(wrongWord(errorOf('Web --timeout=5 --profile=x'))).toBe('Web');
  });

  it('a long wrong word is cut in the sentence, without halving a character', () => {
    expect(errorOf(`web --image=${'😀'.repeat(200)}`).message).toBe(`"${'😀'.repeat(19)}…" is not an image.`);
  });
});

describe('names that could bend a URL or fool the eye are refused before anything uses them', () => {
  const NAMES = [
    ...[
      '../x',
      '..',
      'a/b',
      'a%2fb',
      'a%2Fb',
      'a?b',
      'a#b',
      'a\\\\b',
      'a;b',
      '"a b"',
      'A',
      'nginX',
      '-a',
      'a-',
      'a_b',
      'a:b',
      '@a',
    ],
    ...['раyments', 'ｗeb', 'wéb', 'we\u0301b', 'web\u0660', '\u212aube', 'a'.repeat(254)],
  ];
  const PLACES = [
    ['pod', (name: string) => name],
    ['pod after its kind', (name: string) => `pod/${name}`],
    ['workload', (name: string) => `deployment/${name}`],
    ['namespace', (name: string) => `web -n=${name}`],
    ['cluster', (name: string) => `web --cluster=${name}`],
    ['target container', (name: string) => `web --target=${name}`],
    ['label', (name: string) => `web --container=${name}`],
    ['pod to describe', (name: string) => `describe pod/${name}`],
    ['id', (name: string) => `show ${name}`],
  ] as const;

  it.each(PLACES)('as the name of a %s', (place, line) => {
    const accepted = NAMES.filter((name) => parseCommand(line(name)).kind === 'ok');
    // `a/b` is the pod b of the namespace a.
    expect(accepted).toEqual(place === 'cluster' ? ['a-', 'a_b'] : place === 'pod' ? ['a/b'] : []);
  });

  it('invisible characters are removed before a name is read', () => {
    expect(commandOf('we\u200bb\u202e')).toEqual(pod('web'));
  });
});
