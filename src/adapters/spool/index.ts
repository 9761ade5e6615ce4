export { createSpools } from './spools.ts';
