import { redactEnv, redactWords } from '../redact/redact-text.ts';
import type { RunRequest } from '../request/command.ts';
import { printCommand } from './print.ts';

/** A request in its canonical spelling, safe to show to everybody. The request itself keeps what was typed. */
export function shownCommandLine(request: RunRequest, redact: readonly string[]): string {
  const env = redactEnv(request.env, redact);
  const line = printCommand({
    kind: 'run',
    request: { ...request, env, command: redactWords(request.command, redact) },
  });
  return redactWords([line], redact).join(' ');
}
