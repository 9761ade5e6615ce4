import { visible } from '../../../lib/invisible.ts';
import { isPinned } from '../../container/names.ts';
import type { OnceMore } from '../../container/once-more.ts';
import type { Plan } from '../../container/plan.ts';
import { list, note, paragraph, type Shown, whole } from '../message/line.ts';
import { code, strong } from '../message/message.ts';

const MAX_LENGTH = 1_000;

/** As many names as fit, and how many more there are. */
function namesOf(all: readonly string[]): string {
  const shown: string[] = [];
  let room = MAX_LENGTH;
  for (const name of all) {
    room -= name.length + 2;
    if (room < 0) break;
    shown.push(visible(name));
  }
  const more = all.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more.toLocaleString('en-US')} more`] : [])].join(', ');
}

export const allNames = (all: readonly string[], none: string): string => all.map(visible).join(', ') || none;

export const switchesOf = ({ switches }: OnceMore): string =>
  switches.map(({ name, value }) => `${name}=${value}`).join(', ');

/** For approvers, where the image is not the container's own. */
export function revisionPart({ onceMore, image }: Plan): Shown {
  if (onceMore?.revision === undefined) return [];
  const words = 'All else stays: command, environment, mounts, rights.';
  return whole(
    paragraph`${strong(`With the image of revision ${onceMore.revision}, not its own.`)} ${words}${!isPinned(image) && ` It is named by ${TAG}.`}`,
  );
}

const TAG = 'a tag: what it names may have moved';

/** With the result: in what the second run was not like the first one. */
export function differencesPart({ plan }: { readonly plan?: Plan }): Shown {
  if (!plan?.onceMore) return [];
  const { container, withoutEnv, unmountable, switches, revision, carrier } = plan.onceMore;
  const differences = [
    revision !== undefined &&
      `with the image of revision ${revision}, not its own${isPinned(plan.image) ? '' : `, named by ${TAG}`}`,
    withoutEnv.length > 0 && `without the variable${withoutEnv.length === 1 ? '' : 's'} ${withoutEnv.join(', ')}`,
    unmountable.length > 0 &&
      `without the mount${unmountable.length === 1 ? '' : 's'} ${namesOf(unmountable)} (subPath)`,
    switches.length > 0 && `with ${switchesOf(plan.onceMore)}`,
    carrier && `started by the tracer of ${carrier.image}, which is the first process`,
    'beside its pod, without the limits and the processes of its container',
  ];
  return [note`The program of ${container} ran once more from ${code(plan.image)}:`, list(differences.filter(Boolean))];
}
