import type { RunRequest } from '../../command/command.ts';
import { printCommand } from '../../command/print.ts';
import { redactEnv, redactWords } from './redact-text.ts';

/** A request in its canonical spelling as everybody may read it; the request itself keeps what was typed. */
export function shownCommandLine(request: RunRequest, redact: readonly string[]): string {
  const env = redactEnv(request.env, redact);
  const line = printCommand({
    kind: 'run',
    request: { ...request, env, command: redactWords(request.command, redact) },
  });
  return redactWords([line], redact).join(' ');
}
