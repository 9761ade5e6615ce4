/** Frames the report at the end of a log; the termination message holds the same document, shortened. */
export const REPORT_BEGIN = '-----BEGIN KDEBUG REPORT-----';
export const REPORT_END = '-----END KDEBUG REPORT-----';
