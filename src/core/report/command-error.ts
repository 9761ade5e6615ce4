import { pointAt } from '../command/caret.ts';
import type { CommandError } from '../command/command.ts';
import { type Message, text } from './message.ts';

/** What was wrong with a command, with a caret under the wrong word. */
export const commandErrorMessage = (error: CommandError): Message => ({
  summary: error.message,
  tone: 'failure',
  parts: [
    { kind: 'paragraph', spans: [text(error.message)] },
    { kind: 'preformatted', text: pointAt(error) },
    ...(error.hint === undefined ? [] : [{ kind: 'paragraph', spans: [text(error.hint)] } as const]),
    {
      kind: 'note',
      spans: [text(`Nothing was started.${namesHelp(error) ? '' : ' Type /kdebug help for what you can do.'}`)],
    },
  ],
});

const namesHelp = ({ hint = '' }: CommandError): boolean => hint.includes('/kdebug help');
