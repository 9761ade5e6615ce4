import { type Change, describeMessage, type LocalSlack, type StoredMessage } from '../slack/index.ts';

/** Prints the changes of one message within this time once, in their newest state. */
const SETTLE_MS = 120;

/**
 * Prints a channel's conversation as it grows: every message when it appears, and again whenever it says something new
 * after an update. `print` gets whole paragraphs.
 */
export class Narrator {
  readonly #slack: LocalSlack;
  readonly #print: (paragraph: string) => void;
  readonly #told = new Map<string, string>();
  readonly #due = new Map<string, NodeJS.Timeout>();
  readonly #listener = (change: Change): void => this.#onChange(change);

  constructor(slack: LocalSlack, print: (paragraph: string) => void) {
    this.#slack = slack;
    this.#print = print;
    slack.changes.on('change', this.#listener);
  }

  /** Tells what is still due, then stops. */
  close(): void {
    this.#slack.changes.off('change', this.#listener);
    for (const [key, timer] of this.#due) {
      clearTimeout(timer);
      this.#tell(key);
    }
  }

  readonly #messages = new Map<string, StoredMessage>();

  #onChange(change: Change): void {
    if (change.kind !== 'posted' && change.kind !== 'updated' && change.kind !== 'ephemeral') return;
    const { message } = change;
    const key = `${message.channel}/${message.ts}`;
    this.#messages.set(key, message);
    if (!this.#due.has(key))
      this.#due.set(
        key,
        setTimeout(() => this.#tell(key), SETTLE_MS),
      );
  }

  #tell(key: string): void {
    this.#due.delete(key);
    const message = this.#messages.get(key);
    if (!message) return;
    const lines = describeMessage(this.#slack.state, message);
    const before = this.#told.get(key);
    const now = lines.slice(1).join('\n');
    if (now === before) return;
    this.#told.set(key, now);
    const indent = message.threadTs === undefined ? '' : '    ';
    const [who = '', ...rest] = lines;
    this.#print(
      [before === undefined ? who : `${who}  (updated)`, ...rest]
        .map((line) => `${indent}${line}`.trimEnd())
        .join('\n'),
    );
  }
}
