import { isObject, type Json } from './json.ts';

/** What a cluster calls its own things. */
export interface Names {
  readonly node: string;
}

interface Rule {
  readonly name: string;
  readonly why: string;
  readonly of: RegExp;
  readonly to: string;
}

/** What must differ from run to run or from node to node, in any text. In this order. */
const TEXT_RULES: readonly Rule[] = [
  {
    name: 'uid',
    why: 'a random number of each object',
    of: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    to: '<uid>',
  },
  {
    name: 'time',
    why: 'when it was; the beginning of time (1970) is a value and stays',
    of: /\b(?!1970)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g,
    to: '<time>',
  },
  {
    name: 'kubectl-1.34',
    why: 'kubectl 1.34 says the namespace of what it deletes',
    of: /(?<= deleted) from \S+ namespace/g,
    to: '',
  },
  {
    name: 'kubectl-1.34-warning',
    why: 'kubectl 1.34 warns by itself when a profile meets a pod that is not root',
    of: /^Warning: Non-root user is configured for the entire target Pod.*\n/gm,
    to: '',
  },
  {
    name: 'written-time',
    why: 'the same as describe writes it',
    of: /\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d (?!Jan 1970)\w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g,
    to: '<time>',
  },
  { name: 'digest', why: 'of an image, made by whoever built it', of: /sha256:[0-9a-f]{64}/g, to: 'sha256:<digest>' },
  { name: 'container-id', why: 'a random number of each container', of: /\b[0-9a-f]{64}\b/g, to: '<id>' },
  { name: 'address', why: 'given by the node', of: /\b10\.244\.\d+\.\d+\b/g, to: '<ip>' },
  {
    name: 'debugger-name',
    why: 'kubectl makes the end of it up',
    of: /\bdebugger-[a-z0-9]{5}\b/g,
    to: 'debugger-<name>',
  },
  {
    name: 'registry-words',
    why: 'what a registry, or the network on the way to it, says of an image that is not there',
    of: /(failed to resolve reference "[^"]+": ).*?(?=$|\n)/g,
    to: '$1<the registry>',
  },
  {
    name: 'difference',
    why: 'the server shows what would change as a difference of its own Go structures; clients read cause and field',
    of: /((?:may not be changed|previously negative\))\n)(?:(?:@@.*@@|[ +-].*)\n)*/g,
    to: '$1<the difference>\n',
  },
  { name: 'back-off', why: 'the pause grows with time', of: /back-off \d+[ms]\d*s? /g, to: 'back-off <age> ' },
  {
    name: 'version-number',
    why: 'the cluster counts its changes',
    of: /(resourceVersion\\?":\s*\\?")\d+/g,
    to: '$1<version>',
  },
];

/** Whole values of JSON, by their key. An empty value stays empty. */
const KEY_RULES: Readonly<Record<string, { readonly to: string; readonly why: string }>> = {
  resourceVersion: { to: '<version>', why: 'the cluster counts its changes' },
  nodeName: { to: '<node>', why: 'each cluster has its own' },
  host: { to: '<node>', why: 'each cluster has its own' },
  reportingInstance: { to: '<node>', why: 'each cluster has its own' },
  imageID: { to: '<image id>', why: 'a digest, or what the runtime calls one' },
  containerID: { to: '<container id>', why: 'a random number of each container' },
};

/** Keys that are left out whole. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  managedFields: 'which manager owns which field is not kept by the local cluster: one short entry a manager',
};

export function normaliseText(text: string, { node }: Names): string {
  const ruled = TEXT_RULES.reduce((done, { of, to }) => done.replaceAll(of, to), text);
  return ruled
    .split('\n')
    .map((line) => normaliseLine(line, node))
    .join('\n');
}

/** The node's name where kubectl prints one; ages; and the width of columns, which follows what stands in them. */
function normaliseLine(line: string, node: string): string {
  return line
    .replace(/^(Node:\s+)\S+/, '$1<node>/<ip>')
    .replace(new RegExp(`( to |\\s)${node}(?=\\s|$)`, 'g'), '$1<node>')
    .replace(/(?<!cpu: +)(?<=^|\s|\()(\d+[smhd]){1,2}(?=\s|$|\))/g, '<age>')
    .replace(/\d+ \(<age> ago\)/g, '<n> (<age> ago)')
    .replace(/(Restart Count: +)[1-9]\d*/, '$1<n>')
    .replace(/<age> \(x\d+ over <age>\)/g, '<age>')
    .replace(/(?<=\S) {2,}/g, '  ')
    .trimEnd();
}

export function normaliseJson(value: Json, names: Names, key = ''): Json {
  if (typeof value === 'string') return normaliseWord(value, names, key);
  if (Array.isArray(value)) return value.map((each: Json) => normaliseJson(each, names));
  if (key === 'restartCount' && value !== 0) return '<n>';
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([each]) => LEFT_OUT[each] === undefined);
  return Object.fromEntries(kept.map(([each, inner]) => [each, normaliseJson(inner, names, each)]));
}

function normaliseWord(value: string, names: Names, key: string): string {
  const rule = KEY_RULES[key];
  if (rule && value !== '') return rule.to;
  // A word of JSON keeps its spaces: only text for people has columns.
  const ruled = TEXT_RULES.reduce((done, { of, to }) => done.replaceAll(of, to), value);
  return ruled.replace(new RegExp(`( to )${names.node}$`), '$1<node>');
}
