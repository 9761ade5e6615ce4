/** The samples of kdebug's metrics whose name and labels begin like this, without the prefix, the buckets and the zeros. */
export async function samplesOf(metrics: { text(): Promise<string> }, start = ''): Promise<readonly string[]> {
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith(`kdebug_${start}`));
  return lines.map((line) => line.slice('kdebug_'.length)).filter((line) => !/_bucket\{| 0$/.test(line));
}
