const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 1024,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
  Pi: 1024 ** 5,
  Ei: 1024 ** 6,
};

const QUANTITY =
  /^(?<amount>\d{1,18}(?:\.\d{0,9})?|\.\d{1,9})(?:(?<unit>[KMGTPE]i|[numkMGTPE])|[eE](?<power>[+-]?\d{1,2}))?$/;

/** A Kubernetes quantity (apimachinery, resource.Quantity): bytes, or cores. Undefined when invalid or negative. */
export function quantityOf(text: string): number | undefined {
  const { amount, unit, power } = QUANTITY.exec(text)?.groups ?? {};
  if (amount === undefined) return undefined;
  return Number(amount) * (power === undefined ? (UNITS[unit ?? ''] ?? 1) : 10 ** Number(power));
}
