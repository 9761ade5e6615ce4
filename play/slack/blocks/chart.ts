import { also } from './coherent.ts';
import { byType, type Check, isObject, list, object, type Shape, string, typed } from './shape.ts';

/** Finite; may be negative. */
const number: Check = (value, { path, report }) => {
  if (typeof value !== 'number' || !Number.isFinite(value)) report(path, 'must be a number');
};

const positive: Check = (value, scope) => {
  number(value, scope);
  if (typeof value === 'number' && value <= 0) scope.report(scope.path, 'must be more than 0');
};

const series = list(
  object({
    required: { name: string(20), data: list(object({ required: { label: string(20), value: number } }), 20) },
  }),
  6,
);

const axes = object({
  required: { categories: list(string(20), 20) },
  optional: { x_label: string(50), y_label: string(50) },
});

const lines: Shape = { required: { series, axis_config: axes } };

/** "Series names must be unique", and each series has exactly one point for each category. */
const fitsTogether: Check = (value, { path, report }) => {
  if (!isObject(value)) return;
  const all = objectsIn(value.series);
  const names = all.map(({ name }) => name);
  if (new Set(names).size < names.length) report(`${path}/series`, 'series names must be unique');
  const { categories } = isObject(value.axis_config) ? value.axis_config : {};
  all.forEach(({ data }, index) => {
    const labels = objectsIn(data).map(({ label }) => label);
    if (Array.isArray(categories) && !isSame(labels, categories))
      report(`${path}/series/${index}/data`, 'labels must match `axis_config.categories`');
  });
};

const objectsIn = (value: unknown): readonly Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : [];

const isSame = (labels: readonly unknown[], categories: readonly unknown[]): boolean =>
  labels.length === categories.length &&
  new Set(categories).size === categories.length &&
  categories.every((category) => labels.includes(category));

/** docs.slack.dev, "data visualization block", by its older and stricter number of series and segments (6, later 12). */
export const chart: Check = byType({
  line: also(typed('line', lines), fitsTogether),
  bar: also(typed('bar', lines), fitsTogether),
  area: also(typed('area', lines), fitsTogether),
  pie: typed('pie', {
    required: { segments: list(object({ required: { label: string(20), value: positive } }), 6) },
  }),
});

/** Undocumented: two in a message (vercel/chat#696). */
export const tooManyCharts = (blocks: readonly unknown[]): readonly string[] =>
  blocks.filter((one) => isObject(one) && one.type === 'data_visualization').length > 2
    ? ['no more than 2 data_visualization blocks allowed [json-pointer:/blocks]']
    : [];
