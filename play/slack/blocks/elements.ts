import { also, oneOfFields, startsWithItsOptions, startsWithinLengths } from './coherent.ts';
import { address, anyText, boxOption, confirm, options, plainOption, plainText, style } from './composition.ts';
import {
  anything,
  boolean,
  byType,
  type Check,
  integer,
  list,
  object,
  oneOf,
  type Shape,
  string,
  typed,
} from './shape.ts';

const actionId = string(255);
const placeholder = plainText(150);

function interactive(type: string, shape: Shape): Check {
  return typed(type, { required: { ...shape.required }, optional: { action_id: actionId, ...shape.optional } });
}

const focusable = { placeholder, focus_on_load: boolean, confirm };

/** Where a picture comes from. */
export const picture = {
  image_url: address,
  slack_file: also(object({ optional: { id: string(255), url: address } }), oneOfFields('id', 'url')),
};
export const hasPicture = oneOfFields('image_url', 'slack_file');

const image = also(typed('image', { required: { alt_text: string(2000) }, optional: picture }), hasPicture);

const button = interactive('button', {
  required: { text: plainText(75) },
  optional: { value: string(2000), url: address, style, confirm, accessibility_label: string(75) },
});

const choice = { ...focusable, initial_option: plainOption };
const several = { ...focusable, max_selected_items: integer(1, 100) };
const ids = list(string(255), 100);

const hasOptions = oneOfFields('options', 'option_groups');

const selects: Record<string, Check> = {
  static_select: also(
    also(
      interactive('static_select', {
        optional: { ...choice, options: options.select, option_groups: options.groups },
      }),
      hasOptions,
    ),
    startsWithItsOptions,
  ),
  external_select: interactive('external_select', { optional: { ...choice, min_query_length: integer(0, 1000) } }),
  users_select: interactive('users_select', { optional: { ...focusable, initial_user: string(255) } }),
  channels_select: interactive('channels_select', {
    optional: { ...focusable, initial_channel: string(255), response_url_enabled: boolean },
  }),
  conversations_select: interactive('conversations_select', {
    optional: {
      ...focusable,
      initial_conversation: string(255),
      default_to_current_conversation: boolean,
      response_url_enabled: boolean,
      filter: anything,
    },
  }),
};

/** In sections and inputs only (docs.slack.dev, "Multi-select menu element"). */
const multiSelects: Record<string, Check> = {
  multi_static_select: also(
    also(
      interactive('multi_static_select', {
        optional: {
          ...several,
          options: options.select,
          option_groups: options.groups,
          initial_options: options.select,
        },
      }),
      hasOptions,
    ),
    startsWithItsOptions,
  ),
  multi_users_select: interactive('multi_users_select', { optional: { ...several, initial_users: ids } }),
  multi_channels_select: interactive('multi_channels_select', { optional: { ...several, initial_channels: ids } }),
  multi_conversations_select: interactive('multi_conversations_select', {
    optional: {
      ...several,
      initial_conversations: ids,
      default_to_current_conversation: boolean,
      filter: anything,
    },
  }),
};

const boxes = { required: { options: options.boxes }, optional: { focus_on_load: boolean, confirm } };

const choices: Record<string, Check> = {
  overflow: interactive('overflow', { required: { options: options.overflow }, optional: { confirm } }),
  checkboxes: also(
    interactive('checkboxes', { ...boxes, optional: { ...boxes.optional, initial_options: options.boxes } }),
    startsWithItsOptions,
  ),
  radio_buttons: also(
    interactive('radio_buttons', { ...boxes, optional: { ...boxes.optional, initial_option: boxOption } }),
    startsWithItsOptions,
  ),
};

const dispatch = object({
  optional: { trigger_actions_on: list(oneOf('on_enter_pressed', 'on_character_entered'), 2) },
});

const inputs: Record<string, Check> = {
  plain_text_input: also(
    interactive('plain_text_input', {
      optional: {
        initial_value: string(3000, 0),
        multiline: boolean,
        min_length: integer(0, 3000),
        max_length: integer(1, 3000),
        placeholder,
        focus_on_load: boolean,
        dispatch_action_config: dispatch,
      },
    }),
    startsWithinLengths,
  ),
  number_input: interactive('number_input', {
    required: { is_decimal_allowed: boolean },
    optional: {
      initial_value: string(255, 0),
      min_value: string(255),
      max_value: string(255),
      placeholder,
      focus_on_load: boolean,
      dispatch_action_config: dispatch,
    },
  }),
};

export const actionElement = byType({ button, ...selects, ...choices });
export const accessory = byType({ button, image, ...selects, ...multiSelects, ...choices });
export const inputElement = byType({ ...selects, ...multiSelects, ...choices, ...inputs });
export const contextElement = byType({
  image,
  plain_text: anyText(3000),
  mrkdwn: anyText(3000),
});
