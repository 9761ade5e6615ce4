/** The maximum lengths of lines, in characters. A phone shows about 40 of them in a row. */

/** Of a message's first two lines: three rows each, so that both and the buttons fit the first screen. */
export const LINE_LENGTH = 119;

/** Of a first line that the requester's name follows. */
export const NAMED_LINE_LENGTH = LINE_LENGTH - 15;

/** Of the line and the findings of a verdict, which the thread shows whole. */
export const VERDICT_LINE_LENGTH = 300;

/** Of a pasted file, around the column of a problem: even, because the column is in the middle. */
export const CODE_LINE_LENGTH = 120;

/** Of what others wrote. It stands in a list, where no button follows. */
export const FOREIGN_LINE_LENGTH = 140;
