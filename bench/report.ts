/** The results of a run as a table, as JSON and as a plot. */
import { cpus, totalmem } from 'node:os'
import { CPU_PART_NAMES, CPU_PARTS, cpuText, microsText, totalCpu } from './cpu-shares.ts'
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
    results.map((result) => {
      const { id, scenario, value, unit, p50Ms, p99Ms, baselines, ratios, target, met, conditions } = result
      const { figures = {}, note = null } = result
      return { id, scenario, value, unit, p50Ms, p99Ms, baselines, ratios, figures, target, met, note, conditions }
    }),
    null,
    2,
  )}\n`
}

const HEADINGS = ['', 'Scenario', 'Value', 'p50', 'p99', 'Baselines', 'Ratios', 'CPU, µs', 'Target', 'Verdict'] as const

/** What the figures of the CPU column are, in their order. */
export const CPU_LEGEND = `CPU, µs an operation: ${CPU_PARTS.map((part) => CPU_PART_NAMES[part]).join(' / ')} = all. In brackets: each process.`

function cells(result: Result): string[] {
  const { id, scenario, value, unit, p50Ms, p99Ms, baselines, ratios, targets, met } = result
  const { figures = {}, note } = result
  const list = (values: Readonly<Partial<Record<Baseline, number>>>, text: (name: Baseline) => string): string =>
    (Object.keys(values) as Baseline[]).map((baseline) => `${baselineName(baseline)} ${text(baseline)}`).join(', ')
  const cpu = figures.own?.cpu ?? null
  return [
    id,
    scenario,
    `${figure(value)} ${unit}${eachText(figures.own?.each)}`,
    milliseconds(p50Ms),
    milliseconds(p99Ms),
    list(baselines, (name) => `${figure(baselines[name]!)}${eachText(figures[name]?.each)}`),
    list(ratios, (name) => `${ratios[name]!.toFixed(2)} ×`),
    cpu === null ? '' : cpuText(cpu),
    targets
      .map(
        ({ baseline, times, direction }) =>
          `${direction === 'atLeast' ? '≥' : '≤'} ${times} × ${baselineName(baseline)}`,
      )
      .join(', '),
    `${met ? 'met' : 'MISSED'}${note === undefined ? '' : `; ${note}`}`,
  ]
}

/** The single figures behind a median. */
function eachText(each: readonly number[] = []): string {
  return each.length < 2 ? '' : ` (${each.map(figure).join(', ')})`
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

export function markdownTable(
  results: readonly Result[],
  machine: Machine,
  { seconds, heatSeconds }: { readonly seconds: number; readonly heatSeconds: number },
): string {
  return (
    [
      `${machineText(machine)}; ${seconds} s per figure, after ${heatSeconds} s of heat in each process.`,
      '',
      ...markdownRows(HEADINGS, results.map(cells)),
      '',
      CPU_LEGEND,
      '',
      ...cpuTable(results),
      '',
      ...brokenConditions(results).map((sentence) => `- ${sentence}`),
    ]
      .join('\n')
      .trimEnd() + '\n'
  )
}

/** A row for every rate, the baselines' too: where its processor time went. */
function cpuTable(results: readonly Result[]): string[] {
  const rows = results.flatMap(({ id, scenario, figures = {} }) =>
    (Object.keys(figures) as (keyof typeof figures)[]).flatMap((name) => {
      const cpu = figures[name]?.cpu ?? null
      if (cpu === null) return []
      const subject = name === 'own' ? scenario : `against: ${baselineName(name)}`
      return [[id, subject, ...CPU_PARTS.map((part) => microsText(cpu[part])), microsText(totalCpu(cpu))]]
    }),
  )
  return markdownRows(['', 'CPU, µs an operation', ...CPU_PARTS.map((part) => CPU_PART_NAMES[part]), 'all'], rows)
}

function markdownRows(headings: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [
    `| ${headings.join(' | ')} |`,
    `|${headings.map(() => '---').join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ]
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
