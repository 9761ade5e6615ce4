/**
 * Slack's limits, each with its source. A bare quoted heading is one of Slack's Block Kit reference. Checked 2026-11-20 unless a line says
 * otherwise.
 */

/** "blocks": at most 50 in a message. */
export const MAX_BLOCKS = 50;
/** "section": text of 1 to 3,000 characters; we apply it to all our texts. */
export const MAX_TEXT = 3_000;
/** "header": 150 characters. */
export const MAX_HEADER = 150;
/** "context": 10 elements. */
export const MAX_CONTEXT_ELEMENTS = 10;
/** "actions": 25 elements. */
export const MAX_BUTTONS = 25;
/** "button": text and `accessibility_label` 75, value 2,000, url 3,000, `action_id` 255 characters. */
export const MAX_BUTTON_LABEL = 75;
export const MAX_BUTTON_VALUE = 2_000;
export const MAX_BUTTON_URL = 3_000;
export const MAX_ACTION_ID = 255;
/** "confirmation dialog": title 100, text 300, buttons 30 characters. */
export const MAX_CONFIRM_TITLE = 100;
export const MAX_CONFIRM_TEXT = 300;
export const MAX_CONFIRM_BUTTON = 30;
/**
 * "table": 100 rows, 20 columns, 10,000 characters in all cells (below `MAX_BLOCKS_WEIGHT` by then), one in a message. The limit of a cell is
 * ours.
 */
export const MAX_TABLE_ROWS = 100;
export const MAX_TABLE_COLUMNS = 20;
export const MAX_TABLE_CELL = 600;
/** All cells together; we stay below it. */
export const MAX_TABLE_WEIGHT = 9_500;
/**
 * "data_visualization": title 50, names and labels 20 characters, 20 categories, 6 series; two in a message (undocumented, vercel/chat#696).
 * Checked 2026-11-23.
 */
export const MAX_CHARTS = 2;
export const MAX_CHART_TITLE = 50;
export const MAX_CHART_NAME = 20;
export const MAX_CHART_CATEGORIES = 20;
export const MAX_CHART_SERIES = 6;
/**
 * `msg_blocks_too_long` starts near 13,200 characters of all blocks together, undocumented and varying with content (bolt-js issue 2509).
 * We stay below 12,000 as weighed in `views/plain.ts`: bytes of JSON, `& < >` as entities.
 */
export const MAX_BLOCKS_WEIGHT = 12_000;
/** chat.postMessage: Slack advises 4,000 characters of `text` and cuts at 40,000. Ours is only the fallback. */
export const MAX_FALLBACK = 3_000;
/** design.md section 3: request bodies. */
export const MAX_BODY_BYTES = 1024 * 1024;
/**
 * Our limits over HTTP: connections without a verified request yet, and the memory of their bodies. 32 MiB for a thousand connections: a
 * body of up to 32 KiB, as nearly all of Slack's are, is never evicted.
 */
export const MAX_STRANGERS = 1_000;
export const MAX_UNVERIFIED_BYTES = 32 * 1024 * 1024;
/** "Verifying requests from Slack": five minutes. Slack's SDK checks only the past. */
export const MAX_SKEW_MS = 5 * 60_000;
/** Slack stops waiting after 3 s. The flow promises an answer within 2.5 s of its call, but the look-up of the person comes before. */
export const ACK_GUARD_MS = 2_700;
/**
 * Slack closes a Socket Mode connection (close code 1009) that brings a frame of over 20,480 bytes, and what is in flight on it is lost
 * (undocumented, revelrylabs/slax#614). The envelope's own bytes come on top of the acknowledgement's. Over HTTP no limit is known; ours is
 * the same.
 */
export const MAX_ACK_BYTES = 20_000;
/** Ours: the options of a menu, as JSON. */
export const MAX_MENU_BYTES = 16_000;
/**
 * Ours: an event that is older starts nothing. Slack repeats one for five minutes when nobody answers, and may replay it hours later
 * ("Delayed events").
 */
export const MAX_EVENT_AGE_MS = 10 * 60_000;
/** Ours: an edit counts as a request as long as its message is no older. Slack sends `app_mention` again after each edit, whenever it is made. */
export const MAX_EDIT_AGE_MS = 5 * 60_000;
/** By then every request has its answer on the wire, so no stop waits longer for one. */
export const ANSWERED_MS = ACK_GUARD_MS + 200;

/** Slack, "Views": title, submit and close of 24 characters, 100 blocks, `private_metadata` 3,000, `callback_id` 255 characters. */
export const MAX_VIEW_TITLE = 24;
export const MAX_VIEW_BLOCKS = 100;
export const MAX_PRIVATE_METADATA = 3_000;
export const MAX_CALLBACK_ID = 255;
/** "input": label and hint of 2,000 characters. */
export const MAX_LABEL = 2_000;
/** "plain-text input": 3,000 characters; its placeholder 150. */
export const MAX_INPUT = 3_000;
export const MAX_PLACEHOLDER = 150;
/** "select menu": 100 options; "option object": text and description 75, value 150 characters. */
export const MAX_OPTIONS = 100;
export const MAX_OPTION_LABEL = 75;
export const MAX_OPTION_VALUE = 150;
/** Our limits: the message text that the shortcut reads, and the error beside a field. */
export const MAX_MESSAGE_TEXT = 4_000;
export const MAX_FIELD_ERROR = 300;
