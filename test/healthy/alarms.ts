/** The marks of a warning and of a failure. */
const ALARM = /⚠️?|❌/u;

/** The lines with which a message of kdebug alarms its reader: none about a healthy program. */
export const alarmsIn = (text: string): readonly string[] => text.split('\n').filter((line) => ALARM.test(line));
