import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const RECORDED = fileURLToPath(new URL('./recorded/', import.meta.url));

/** Seconds since the start of a program's container at which it is asked about. */
export const AGES = [5, 20, 60, 120] as const;

/** Where what the cluster said at one age is; it ends with a slash. */
export const folderAt = (program: string, age: number): string => `${RECORDED}${program}/${age}s/`;

/** Programs of the test bed that are recorded, sorted. */
export const recordedPrograms = (): readonly string[] => (existsSync(RECORDED) ? readdirSync(RECORDED).sort() : []);

/** The pod of a program that is asked about while it is healthy (images/testbed/pod.cjs). */
export const podNameOf = (program: string): string => `${program}-healthy`;
