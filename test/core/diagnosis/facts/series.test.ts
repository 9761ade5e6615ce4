import { describe, expect, it } from 'vitest';
import { chartsOf, readSeries } from '../../../../src/core/diagnosis/facts/series.ts';

const words = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const CPU = {
  text: 'CPU in use',
  unit: 'millicores',
  section: 'cpu',
  points: [
    [300, 20],
    [600, 480],
    [900, 500],
  ],
};
const read = (...all: readonly unknown[]) => readSeries(all, words);
const charts = (all: readonly unknown[], ...sections: string[]) => chartsOf(readSeries(all, words), new Set(sections));

describe('the series of a report', () => {
  it.each<[string, unknown]>([
    ['another unit', { ...CPU, unit: 'parsecs' }],
    ['no text', { ...CPU, text: 7 }],
    ['a section that is no word', { ...CPU, section: 'CPU!' }],
    ['points that are none', { ...CPU, points: 'many' }],
    ['a point without a value', { ...CPU, points: [[300, 1], [600], [900, 2]] }],
    [
      'a negative value',
      {
        ...CPU,
        points: [
          [0, 1],
          [300, -1],
          [600, 2],
        ],
      },
    ],
    [
      'a value that is no number',
      {
        ...CPU,
        points: [
          [0, 1],
          [300, '2'],
          [600, 2],
        ],
      },
    ],
    ['two points', { ...CPU, points: CPU.points.slice(1) }],
    [
      'moments that do not rise',
      {
        ...CPU,
        points: [
          [900, 1],
          [600, 2],
          [300, 3],
        ],
      },
    ],
    ['nothing', null],
  ])('drops one with %s', (_, series) => {
    expect(read(series, CPU)).toEqual([CPU]);
  });

  it('keeps four of them, twenty points of each, and a limit above nothing', () => {
    const points = Array.from({ length: 50 }, (_, index) => [index * 100, index]);
    const many = read(...Array.from({ length: 9 }, () => ({ ...CPU, points, limit: 0 })));
    expect(many).toHaveLength(4);
    expect(many[0]?.points).toHaveLength(20);
    expect(many[0]?.limit).toBeUndefined();
    expect(readSeries('x', words)).toEqual([]);
  });

  it('leaves out a reading that comes within a tenth of a second: each moment has a name of its own', () => {
    const points = [...CPU.points, [950, 1], [1000, 2]];
    expect(read({ ...CPU, points })[0]?.points).toEqual([...CPU.points, [1000, 2]]);
  });
});

describe('a chart', () => {
  it('shows the readings of a section with a finding, and its limit', () => {
    expect(charts([{ ...CPU, limit: 500 }], 'cpu')).toEqual([
      {
        title: 'CPU in use',
        unit: 'millicores',
        moments: ['0.3 s', '0.6 s', '0.9 s'],
        lines: [
          { name: 'CPU in use', values: [20, 480, 500] },
          { name: 'limit', values: [500, 500, 500] },
        ],
      },
    ]);
  });

  it('shows bytes in MiB', () => {
    const points = [
      [0, 1_048_576],
      [300, 2_621_440],
      [600, 4_194_304],
    ];
    const [chart] = charts([{ ...CPU, unit: 'bytes', section: 'memory', points }], 'memory');
    expect([chart?.unit, chart?.lines]).toEqual(['MiB', [{ name: 'CPU in use', values: [1, 2.5, 4] }]]);
  });

  it('is not drawn without a finding, nor where one number says as much', () => {
    const steady = {
      ...CPU,
      points: [
        [0, 500],
        [300, 480],
        [600, 495],
      ],
    };
    const zero = { ...CPU, points: [...Array(3)].map((_, index) => [index * 100, 0]) };
    expect(charts([CPU], 'memory')).toEqual([]);
    expect(charts([steady, zero], 'cpu')).toEqual([]);
  });

  it('has at most one more beside it', () => {
    expect(charts([CPU, CPU, CPU], 'cpu')).toHaveLength(2);
  });

  it('have a name for each moment and for each line, as Slack wants', () => {
    const points = [
      [250, 20],
      [350, 480],
      [450, 500],
    ];
    const [chart] = charts([{ ...CPU, text: 'limit', limit: 500, points }], 'cpu');
    expect(chart?.moments).toEqual(['0.3 s', '0.4 s', '0.5 s']);
    expect(chart?.lines.map(({ name }) => name)).toEqual(['value', 'limit']);
  });
});
