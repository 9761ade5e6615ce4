import { boolean, byType, type Check, list, object, oneOf, string, typed } from './shape.ts';

/** Text objects and what else blocks are composed of (docs.slack.dev: composition objects). */
export function plainText(max: number, min = 1): Check {
  return typed('plain_text', { required: { text: string(max, min) }, optional: { emoji: boolean } });
}

function mrkdwn(max: number): Check {
  return typed('mrkdwn', { required: { text: string(max) }, optional: { verbatim: boolean } });
}

/** What a person can open. */
export const isAddress = (text: string): boolean => /^(?:https?|mailto|tel|slack):/i.test(text) && URL.canParse(text);

/** Of a button or a link. [guess] Slack refuses what is no address. */
export const address: Check = (value, scope) => {
  string(3000)(value, scope);
  if (typeof value === 'string' && !isAddress(value)) scope.report(scope.path, 'must be a valid URL');
};

export function anyText(max: number): Check {
  return byType({ plain_text: plainText(max), mrkdwn: mrkdwn(max) });
}

export const style = oneOf('primary', 'danger');

export const confirm: Check = object({
  required: { title: plainText(100), text: anyText(300), confirm: plainText(30), deny: plainText(30) },
  optional: { style },
});

function option(text: Check, more: Readonly<Record<string, Check>> = {}): Check {
  return object({ required: { text, value: string(150) }, optional: { description: anyText(75), ...more } });
}

/** Of a menu: "markdown" is for radio buttons and checkboxes only. */
export const plainOption = option(plainText(75));
export const boxOption = option(anyText(75));

const plainOptions = (max: number, min = 1) => list(plainOption, max, min);

/** An answer to `block_suggestion`: like a select menu's own options, but none is allowed too. */
export const suggestedOptions = plainOptions(100, 0);

export const options = {
  select: plainOptions(100),
  /** `url`: "only available in overflow menus". */
  overflow: list(option(plainText(75), { url: address }), 5),
  boxes: list(boxOption, 10),
  groups: list(object({ required: { label: plainText(75), options: plainOptions(100) } }), 100),
};
