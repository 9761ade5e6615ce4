import { slackFaults } from './slack-faults.ts';
import { testFaults } from './support/fault-file.ts';

testFaults('slack', slackFaults);
