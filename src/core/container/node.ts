/** What kdebug reads of a core/v1 Node. */
export interface Node {
  readonly name: string;
  /** core/v1 NodeCondition: `Ready`, `MemoryPressure`, `DiskPressure`, `PIDPressure` and others. */
  readonly conditions: readonly { readonly type: string; readonly status: string }[];
}
