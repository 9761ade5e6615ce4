/** Slack's names of the emoji that an app here may send; another one comes back as it was sent. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['✅', 'white_check_mark'],
  ['✔', 'heavy_check_mark'],
  ['❌', 'x'],
  ['⚠', 'warning'],
  ['⏳', 'hourglass_flowing_sand'],
  ['⌛', 'hourglass'],
  ['⏰', 'alarm_clock'],
  ['⏱', 'stopwatch'],
  ['⏸', 'double_vertical_bar'],
  ['⏹', 'black_square_for_stop'],
  ['▶', 'arrow_forward'],
  ['⏭', 'black_right_pointing_double_triangle_with_vertical_bar'],
  ['⛔', 'no_entry'],
  ['🚫', 'no_entry_sign'],
  ['🛑', 'octagonal_sign'],
  ['🔒', 'lock'],
  ['🔓', 'unlock'],
  ['🔐', 'closed_lock_with_key'],
  ['🏁', 'checkered_flag'],
  ['🔑', 'key'],
  ['🔍', 'mag'],
  ['🔎', 'mag_right'],
  ['🔧', 'wrench'],
  ['🔔', 'bell'],
  ['🔥', 'fire'],
  ['🐛', 'bug'],
  ['🚨', 'rotating_light'],
  ['🚀', 'rocket'],
  ['🎉', 'tada'],
  ['👀', 'eyes'],
  ['👍', '+1'],
  ['👎', '-1'],
  ['👋', 'wave'],
  ['🙏', 'pray'],
  ['📄', 'page_facing_up'],
  ['📋', 'clipboard'],
  ['📎', 'paperclip'],
  ['📝', 'memo'],
  ['💬', 'speech_balloon'],
  ['❓', 'question'],
  ['❗', 'exclamation'],
  ['ℹ', 'information_source'],
  ['🔴', 'red_circle'],
  ['🟡', 'large_yellow_circle'],
  ['🟢', 'large_green_circle'],
  ['❤', 'heart'],
]);

const EMOJI = /\p{Extended_Pictographic}\u{FE0F}?/gu;

/** `✅` as `:white_check_mark:`: how Slack gives back what an app sent. */
export function withEmojiNames(text: string): string {
  return text.replace(EMOJI, (found) => {
    const name = NAMES.get(found.replace('\u{FE0F}', ''));
    return name === undefined ? found : `:${name}:`;
  });
}
