import { defined } from '../../lib/object.ts';
import type { AlertTarget } from '../alert/target.ts';
import { parseCommand } from '../command/parse.ts';
import type { RunRequest } from '../request/command.ts';
import { commandOfForm } from './request-form.ts';

/** As if somebody had typed the name. Undefined: these are no words of a command. */
export function requestOfAlert(
  { cluster, namespace, name }: AlertTarget,
  image: string | undefined,
): RunRequest | undefined {
  const parsed = parseCommand(commandOfForm({ namespace, pod: name, ...defined({ cluster, image }) }));
  return parsed.kind === 'ok' && parsed.command.kind === 'run' ? parsed.command.request : undefined;
}
