import { crashFaults } from './crash-faults.ts';
import { effectFaults } from './effect-faults.ts';
import { raceFaults } from './race-faults.ts';
import { testFaults } from './support/fault-file.ts';

testFaults('crashes', crashFaults, raceFaults, effectFaults);
