import { environmentFaults } from './environment-faults.ts';
import { logFaults } from './log-faults.ts';
import { testFaults } from './support/fault-file.ts';

testFaults('surroundings', environmentFaults, logFaults);
