/** The results of a run as a table, as JSON and as a plot. */
import { cpus, totalmem } from 'node:os'
import { baselineName, type Baseline, type Result } from './scenario.ts'

export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryGb: number
  readonly node: string
  readonly postgres: string
}

export function describeMachine(postgres: string): Machine {
  const all = cpus()
  return {
    processor: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres,
  }
}

/** A line about the origin of the figures. */
export function machineText({ processor, cores, memoryGb, node, postgres }: Machine): string {
  return `${cores} cores (${processor}), ${memoryGb} GB, Node ${node}, Postgres ${postgres}; server, Postgres and load generator share them`
}

/** The members that are promised to whoever reads the JSON. */
export function resultsJson(results: readonly Result[]): string {
  return `${JSON.stringify(
    results.map(({ id, scenario, value, unit, p50Ms, p99Ms, baselines, ratios, target, met, conditions }) => ({
      id,
      scenario,
      value,
      unit,
      p50Ms,
      p99Ms,
      baselines,
      ratios,
      target,
      met,
      conditions,
    })),
    null,
    2,
  )}\n`
}

const HEADINGS = ['', 'Scenario', 'Value', 'p50', 'p99', 'Baselines', 'Ratios', 'Target', 'Verdict'] as const

function cells(result: Result): string[] {
  const { id, scenario, value, unit, p50Ms, p99Ms, baselines, ratios, targets, met } = result
  const list = (figures: Readonly<Partial<Record<Baseline, number>>>, text: (figure: number) => string): string =>
    (Object.entries(figures) as [Baseline, number][])
      .map(([baseline, figure]) => `${baselineName(baseline)} ${text(figure)}`)
      .join(', ')
  return [
    id,
    scenario,
    `${figure(value)} ${unit}`,
    milliseconds(p50Ms),
    milliseconds(p99Ms),
    list(baselines, figure),
    list(ratios, (ratio) => `${ratio.toFixed(2)} ×`),
    targets
      .map(
        ({ baseline, times, direction }) =>
          `${direction === 'atLeast' ? '≥' : '≤'} ${times} × ${baselineName(baseline)}`,
      )
      .join(', '),
    met ? 'met' : 'MISSED',
  ]
}

function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(1)
}
function milliseconds(value: number | null): string {
  return value === null ? '' : `${value.toFixed(1)} ms`
}

/** The table for a terminal. */
export function textTable(results: readonly Result[]): string {
  const rows = [[...HEADINGS], ...results.map(cells)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** The conditions that did not hold, one sentence each. */
export function brokenConditions(results: readonly Result[]): string[] {
  return results.flatMap(({ id, conditions }) =>
    conditions
      .filter(({ holds }) => !holds)
      .map(({ name, found }) => `${id}: not ${name}${found === undefined ? '' : ` (${found})`}`),
  )
}

export function markdownTable(results: readonly Result[], machine: Machine, seconds: number): string {
  const rows = results.map((result) => `| ${cells(result).join(' | ')} |`)
  return (
    [
      `${machineText(machine)}; ${seconds} s per figure.`,
      '',
      `| ${HEADINGS.join(' | ')} |`,
      `|${HEADINGS.map(() => '---').join('|')}|`,
      ...rows,
      '',
      ...brokenConditions(results).map((sentence) => `- ${sentence}`),
    ]
      .join('\n')
      .trimEnd() + '\n'
  )
}

const BAR_HEIGHT = 22
const ROW_HEIGHT = 34
const LABEL_WIDTH = 430
const PLOT_WIDTH = 420
const NOTE_WIDTH = 170
/** Ratios this many times their target end at the edge. */
const SCALE_MAX = 2.5

/** A bar for every ratio, drawn in multiples of its target, so that all of them are read against one line. */
export function barPlot(results: readonly Result[], machine: Machine): string {
  const bars = results.flatMap((result) =>
    result.targets.map(({ baseline, times, direction }) => {
      const ratio = result.ratios[baseline] ?? 0
      const share = direction === 'atLeast' ? ratio / times : times / Math.max(ratio, Number.EPSILON)
      return {
        label: `${result.id} ${result.scenario}`,
        share,
        note: `${ratio.toFixed(2)} × ${baselineName(baseline)} (${direction === 'atLeast' ? '≥' : '≤'} ${times})`,
      }
    }),
  )
  const height = 60 + bars.length * ROW_HEIGHT
  const width = LABEL_WIDTH + PLOT_WIDTH + NOTE_WIDTH
  const line = LABEL_WIDTH + PLOT_WIDTH / SCALE_MAX
  const rows = bars.map(({ label, share, note }, nth) => {
    const y = 40 + nth * ROW_HEIGHT
    const length = (Math.min(share, SCALE_MAX) / SCALE_MAX) * PLOT_WIDTH
    return (
      `<text x="${LABEL_WIDTH - 10}" y="${y + 15}" text-anchor="end">${escape(label.length > 66 ? `${label.slice(0, 65)}…` : label)}</text>` +
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${length.toFixed(1)}" height="${BAR_HEIGHT}" fill="${share >= 1 ? '#2f7d5b' : '#b3442e'}"/>` +
      `<text x="${(LABEL_WIDTH + length + 8).toFixed(1)}" y="${y + 15}">${escape(note)}</text>`
    )
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
<text x="10" y="20">Ratios in multiples of their targets (the line); longer is better. ${escape(`${machine.cores} cores, Node ${machine.node}`)}</text>
${rows.join('\n')}
<line x1="${line}" x2="${line}" y1="32" y2="${height - 12}" stroke="black" stroke-dasharray="4 3"/>
</svg>
`
}

function escape(text: string): string {
  return text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] as string)
}
