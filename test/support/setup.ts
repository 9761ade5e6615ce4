import { seedProperties } from './sample.ts';

seedProperties();
