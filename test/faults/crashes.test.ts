import { crashFaults } from './crash-faults.ts';
import { effectFaults } from './effect-faults.ts';
import { raceFaults } from './race-faults.ts';
import { testFaults } from './support/fault-file.ts';
import { verbFaults } from './verb-faults.ts';

testFaults('crashes', crashFaults, raceFaults, verbFaults, effectFaults);
