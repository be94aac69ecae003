/** The report: single figures and processor time stand beside every rate, in the table, the JSON and the file. */
import t from 'tap'
import { CPU_LEGEND, markdownTable, resultsJson, textTable } from '../../bench/report.ts'
import { judge } from '../../bench/scenario.ts'

const cpu = { main: 117, gc: 10, pool: 1, lane: 66, postgres: 22, other: 0, generator: 17 }
const MACHINE = { processor: 'X', cores: 2, memoryGb: 24, node: 'v26', postgres: '18' }
const CONDITIONS = [{ name: 'clean', holds: true }]

const RESULT = judge({
  id: 'P1',
  scenario: 'payments',
  value: 6_000,
  unit: 'payments/s',
  p50Ms: 9.6,
  p99Ms: 22.4,
  baselines: { bare: 20_000 },
  figures: {
    own: { each: [5_900, 6_100], cpu },
    bare: { each: [19_000, 21_000], cpu: { ...cpu, main: 52, lane: 0, postgres: 0 } },
  },
  note: 'lag at the end (most), s: transactions 0.4 (1.2)',
  targets: [{ baseline: 'bare', times: 0.2, direction: 'atLeast' }],
  conditions: CONDITIONS,
})
/** Of something without a rate. */
const MEMORY = judge({
  id: 'P10',
  scenario: 'memory',
  value: 400,
  unit: 'MB',
  p50Ms: null,
  p99Ms: null,
  baselines: {},
  targets: [],
  conditions: CONDITIONS,
})

t.test('the table for a terminal', async (t) => {
  const [headings, row, memory] = textTable([RESULT, MEMORY]).split('\n')
  t.match(headings, /CPU, µs/)
  t.match(row, /6000 payments\/s \(5900, 6100\)/)
  t.match(row, /bare 20000 \(19000, 21000\)/)
  t.match(row, /0\.30 ×/)
  t.match(row, '117/10/1.0/66/22/0/17 = 233')
  t.match(row, /met; lag at the end \(most\), s: transactions 0\.4 \(1\.2\)/)
  t.notMatch(memory, /\(|\//)
  t.match(CPU_LEGEND, 'main thread / GC and JIT / pool threads')
})

t.test('the file has a row of processor time for each rate, the baselines too', async (t) => {
  const text = markdownTable([RESULT, MEMORY], MACHINE, { seconds: 8, heatSeconds: 10 })
  t.match(text, '8 s per figure, after 10 s of heat')
  t.match(text, '| P1 | payments | 117 | 10 | 1.0 | 66 | 22 | 0 | 17 | 233 |')
  t.match(text, '| P1 | against: bare | 52 | 10 | 1.0 | 0 | 0 | 0 | 17 | 80 |')
  t.notMatch(text, '| P10 | memory | 1')
  for (const line of text.split('\n').filter((each) => each.startsWith('| P')))
    t.notMatch(line, 'undefined', 'no cell without a value')
})

t.test('the JSON', async (t) => {
  const [result, memory] = JSON.parse(resultsJson([RESULT, MEMORY])) as Record<string, unknown>[]
  t.same(result?.['figures'], RESULT.figures)
  t.equal(result?.['note'], RESULT.note)
  t.same(memory?.['figures'], {})
  t.equal(memory?.['note'], null)
})
