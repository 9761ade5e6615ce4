import type { Scenario } from '../scenario.ts';
import { COMMANDS } from './commands.ts';
import { PATCHES } from './patches.ts';
import { RIGHTS } from './rights.ts';
import { STARTS } from './starts.ts';

/** Everything that both clusters are asked; the slow ones first, because they are played side by side. */
export const SCENARIOS: readonly Scenario[] = [...STARTS, ...COMMANDS, ...PATCHES, ...RIGHTS];
