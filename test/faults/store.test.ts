import { storeFaults } from './store-faults.ts';
import { testFaults } from './support/fault-file.ts';

testFaults('store', storeFaults);
