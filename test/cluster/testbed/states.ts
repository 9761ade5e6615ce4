import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { V1Pod } from '@kubernetes/client-node';

const BED = fileURLToPath(new URL('../../../images/testbed/', import.meta.url));

export const IMAGES = ['autodiagnose', 'stacks', 'net', 'profile'] as const;
export type ImageName = (typeof IMAGES)[number];

export interface State {
  readonly program: string;
  readonly name: string;
  /** What is wrong, in words. Absent: it is healthy. */
  readonly what?: string;
  /** The images that look at it, and what each must say in its first two lines; `null`: nothing wrong is enough. */
  readonly looks: Readonly<Partial<Record<ImageName, RegExp | null>>>;
  /** What else is true there: a regular expression. */
  readonly also?: RegExp;
}

interface Written {
  readonly what?: string;
  readonly cause?: Readonly<Record<string, string>>;
  readonly also?: string;
  readonly profile?: boolean;
}

const tableOf = (program: string) => JSON.parse(readFileSync(`${BED}${program}/states.json`, 'utf8'));

const programs = (): readonly string[] =>
  readdirSync(BED)
    .filter((name) => existsSync(`${BED}${name}/states.json`))
    .sort();

/** Programs that are asked about while they are healthy, from their start on. */
export const healthyPrograms = (): readonly string[] =>
  programs().filter((program) => tableOf(program).healthy !== undefined);

/** Every state of every program, in the order of names. Throws for a table that names an image or a program that is not there. */
function allStates(): readonly State[] {
  return programs().flatMap((program) => {
    const table = tableOf(program);
    const states = Object.entries<Written>(table.states ?? {});
    return states.map(([name, written]) => toState(program, name, { profile: table.profile, ...written }));
  });
}

function toState(program: string, name: string, { what, cause = {}, also, profile = false }: Written): State {
  for (const image of Object.keys(cause))
    if (!IMAGES.some((each) => each === image)) throw new Error(`${program} ${name}: no image ${image}`);
  const looking = IMAGES.filter((image) => image !== 'profile' || profile || cause.profile !== undefined);
  const looks = looking.map((image) => [image, cause[image] === undefined ? null : new RegExp(cause[image], 'i')]);
  return {
    program,
    name,
    looks: Object.fromEntries(looks),
    ...(what !== undefined && { what }),
    ...(also !== undefined && { also: new RegExp(also, 'i') }),
  };
}

/** Those that are tried unless somebody asks for more: of two programs that are laid out in seconds. */
const SAMPLE = ['express idle', 'express upstream', 'goapi load', 'goapi upstream'];

/** `all`, or names of programs, or of states as `express/idle`, parted by commas; undefined: the sample. */
export function chosenStates(wish: string | undefined): readonly State[] {
  const all = allStates();
  if (wish === 'all') return all;
  const names = wish?.split(',') ?? SAMPLE.map((name) => name.replace(' ', '/'));
  const known = new Set(all.flatMap(({ program, name }) => [program, `${program}/${name}`]));
  const strange = names.filter((name) => !known.has(name));
  if (strange.length > 0) throw new Error(`the test bed has no ${strange.join(', ')}`);
  return all.filter(({ program, name }) => names.includes(program) || names.includes(`${program}/${name}`));
}

/** The pod that images/testbed/pod.sh prints. */
export const podOf = ({ program, name }: Pick<State, 'program' | 'name'>): V1Pod =>
  JSON.parse(execFileSync('sh', [`${BED}pod.sh`, program, name], { encoding: 'utf8' }));
