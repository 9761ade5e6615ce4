import { cleanWords, quoted } from './phrases.ts';

/** The reason why the API server accepts no new pod of a workload. */
interface RefusedCreation {
  /** Follows `cannot create pods: `. */
  readonly says: string;
  readonly next: string;
}

type Groups = Readonly<Record<string, string | undefined>>;

interface Known {
  readonly pattern: RegExp;
  readonly says: (found: Groups) => string;
  readonly next: (manifest: string, found: Groups) => string;
}

const short = (words = '', length = 100): string => cleanWords(words, length);

/** The words of the API server's admission, by plugin. */
const KNOWN: readonly Known[] = [
  {
    pattern: /failed quota: (?<quota>[^:]{1,253}): must specify (?<what>.{1,200}?)(?: for: (?<containers>.{1,100}))?$/s,
    says: ({ quota, what }) => `the quota ${short(quota)} requires ${short(what)}, which its containers do not set`,
    next: (manifest, { what }) => `Set ${short(what)} for each container in the manifest of ${manifest}.`,
  },
  {
    pattern:
      /exceeded quota: (?<quota>[^,]{1,253}), requested: (?<wanted>.{1,150}?), used: (?<used>.{1,150}?), limited: (?<limit>.{1,150})$/s,
    says: ({ quota, wanted, used, limit }) =>
      `the quota ${short(quota)} is used up: requested ${short(wanted, 60)}, used ${short(used, 60)}, limited to ${short(limit, 60)}`,
    next: (manifest, { quota }) =>
      `Lower the requests in the manifest of ${manifest}. Or remove pods, or ask the owner of the quota ${short(quota)} for more.`,
  },
  {
    pattern: /violates PodSecurity "(?<level>[^":]{1,60})[^"]*": (?<why>.{1,4000})$/s,
    says: ({ level, why = '' }) =>
      `Pod Security ${short(level)} of its namespace forbids them: ${quoted(why.replace(/ \([^()]{1,500}\)/g, ''))}`,
    next: (manifest, { why = '' }) => {
      const fields = new Set(
        [...why.matchAll(/must (?:not )?set (?<field>[^()]{1,120})\)/g)].map(({ groups }) => groups?.field ?? ''),
      );
      const [first = 'what it asks for', ...others] = [...fields].map((field) => short(field.split('=')[0]));
      const all = short([...fields].join(', '), 250);
      return `Set ${first}${others.length > 0 ? ' and what else it asks for' : ''} in the manifest of ${manifest}${all === '' ? ', under securityContext.' : `. It asks for ${all}.`}`;
    },
  },
  {
    pattern:
      /(?<which>maximum|minimum) (?<what>[\w.-]{1,60}) usage per (?<scope>\w{1,40}) is (?<limit>[\w.]{1,20}), but (?<field>limit|request) is (?<value>[\w.]{1,20})/,
    says: ({ which, what, scope, limit, field, value }) =>
      `a LimitRange ${which === 'maximum' ? 'allows' : 'demands'} ${limit} of ${what} for a ${scope?.toLowerCase()}, but its ${field} is ${value}`,
    next: (manifest) => `Correct that value in the manifest of ${manifest}, or the LimitRange of the namespace.`,
  },
  {
    pattern: /serviceaccount "(?<name>[^"]{1,253})" not found/,
    says: ({ name }) => `the ServiceAccount ${short(name)} does not exist`,
    next: (manifest, { name }) =>
      `Create the ServiceAccount ${short(name)}, or correct serviceAccountName in the manifest of ${manifest}.`,
  },
  {
    pattern: /no PriorityClass with name (?<name>[\w.-]{1,253}) was found/,
    says: ({ name }) => `the PriorityClass ${short(name)} does not exist`,
    next: (manifest, { name }) =>
      `Create the PriorityClass ${short(name)}, or correct priorityClassName in the manifest of ${manifest}.`,
  },
  {
    pattern: /failed calling webhook "(?<hook>[^"]{1,253})":? ?(?<why>.{0,4000})$/s,
    says: ({ hook, why }) =>
      `the admission webhook ${short(hook)} does not answer: ${quoted((why ?? '').replace(/^.{0,200}?(?:Post|Get) "[^"]{1,300}": /s, '').replace(/^dial tcp \S{1,100}: /, ''), 120)}`,
    next: () => 'Whoever runs that webhook must bring it back: until then no such pod can be created.',
  },
  {
    pattern:
      /ValidatingAdmissionPolicy '(?<policy>[^']{1,253})' with binding '[^']{1,253}' denied request: (?<why>.{1,4000})$/s,
    says: ({ policy, why }) => `the admission policy ${short(policy)} refuses them: ${quoted(why ?? '')}`,
    next: (manifest) => `Correct what it names in the manifest of ${manifest}.`,
  },
  {
    pattern: /admission webhook "(?<hook>[^"]{1,253})" denied the request:? ?(?<why>.{0,4000})$/s,
    says: ({ hook, why }) =>
      `the admission webhook ${short(hook)} refuses them: ${quoted(why ?? '') || 'without a reason'}`,
    next: (manifest) => `Correct what it names in the manifest of ${manifest}.`,
  },
];

/**
 * Explains by the message of an event FailedCreate why no pod can be created. `manifest`: whose manifest one would
 * change.
 */
export function refusedCreation(message: string, manifest: string): RefusedCreation {
  for (const { pattern, says, next } of KNOWN) {
    const groups = pattern.exec(message)?.groups;
    if (groups) return { says: says(groups), next: next(manifest, groups) };
  }
  const words = message
    .replace(/^\(combined from similar events\): /, '')
    .replace(/^Error creating: /, '')
    .replace(/^create Pod \S+ in \w+ \S+ failed error: /, '')
    .replace(/^pods "[^"]*" is forbidden: /, '');
  return { says: quoted(words) || 'no reason given', next: `Correct what it names in the manifest of ${manifest}.` };
}
