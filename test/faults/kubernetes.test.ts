import { kubernetesFaults } from './kubernetes-faults.ts';
import { testFaults } from './support/fault-file.ts';

testFaults('kubernetes', kubernetesFaults);
