/** Pods at once. */
const AT_ONCE = Number(process.env.KDEBUG_DEATHS_PODS ?? 6);

/** Uses all items, so many at a time as there may be pods. */
export async function atOnce<T>(items: readonly T[], use: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await use(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
