/** The page's composer is the local Slack's. */
export { readTyped, type Typed } from '../../slack/index.ts';
