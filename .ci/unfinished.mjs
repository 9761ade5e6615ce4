import { writeFileSync } from 'node:fs';

/**
 * A reporter that speaks only when the run is ended from outside (SIGTERM, a time limit): it writes the tests and hooks that had
 * begun and not ended, a line each, to the file KDEBUG_UNFINISHED. Without it nobody would know what hung.
 */
// biome-ignore lint/style/noDefaultExport: vitest loads a reporter by its default export.
export default class Unfinished {
  #running = new Map();

  constructor() {
    // Before vitest's own, which exits.
    process.prependOnceListener('SIGTERM', () => this.#tell(process.env.KDEBUG_UNFINISHED));
  }

  onTestCaseReady(test) {
    this.#running.set(test.id, { what: `${test.module.relativeModuleId} > ${test.fullName}`, sinceMs: Date.now() });
  }

  onTestCaseResult(test) {
    this.#running.delete(test.id);
  }

  onHookStart({ name, entity }) {
    const what = `${entity.module?.relativeModuleId ?? entity.relativeModuleId} > ${name}`;
    this.#running.set(`${name} ${entity.id}`, { what, sinceMs: Date.now() });
  }

  onHookEnd({ name, entity }) {
    this.#running.delete(`${name} ${entity.id}`);
  }

  /** @param {string | undefined} path */
  #tell(path) {
    if (path === undefined) return;
    const line = ({ what, sinceMs }) => `not ended after ${Math.round((Date.now() - sinceMs) / 1000)} s: ${what}\n`;
    writeFileSync(path, [...this.#running.values()].map(line).join(''));
  }
}
