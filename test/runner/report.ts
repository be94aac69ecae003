/**
 * Turns the runner's TAP into a readable report: one line for each file, and for each failure its place and its reason.
 * tap's own reporters redraw a terminal, which fills a log with pages of the same lines, and print nothing at all under
 * CI.
 */
import { Parser } from 'tap-parser'
import type { Result } from 'tap-parser'

export interface Counts {
  passed: number
  failed: number
}

/** Makes a TAP sink that prints each result and adds it to `counts`. End the sink before reading the counts. */
export function createReport(options: { readonly print: (line: string) => void; readonly counts: Counts }): Parser {
  const { print, counts } = options
  const parser = new Parser()
  // A result for each assertion at any depth, and for a file or block that failed without a failing assertion.
  parser.on('result', (result: Result) => {
    if (result.skip || result.todo) return
    counts[result.ok ? 'passed' : 'failed'] += 1
    if (!result.ok) print(describeFailure(result))
  })
  parser.on('assert', (file: Result) => {
    print(`${file.ok ? 'ok    ' : 'FAILED'}  ${file.name}${file.time === null ? '' : `  ${Math.round(file.time)} ms`}`)
  })
  // Pass on output of a test that is not TAP.
  const passOn = (at: Parser) => {
    at.on('extra', (text: string) => print(text.trimEnd()))
    at.on('child', passOn)
  }
  passOn(parser)
  return parser
}

/** The useful parts of the diagnosis, in the order of reading. */
const DETAILS = [
  'diff',
  'found',
  'wanted',
  'doNotWant',
  'pattern',
  'message',
  'signal',
  'exitCode',
  'timeout',
  'at',
  'stack',
  'source',
]

function describeFailure(result: Result): string {
  const diagnosis: Record<string, unknown> = result.diag ?? {}
  const lines = [`FAILED  ${result.fullname}`]
  for (const name of DETAILS) {
    // The difference already shows the found and wanted values.
    if (['found', 'wanted'].includes(name) && diagnosis.diff !== undefined) continue
    const text = describeDetail(name, diagnosis[name])
    if (text !== null)
      lines.push(
        `${name}:`,
        ...text
          .trimEnd()
          .split('\n')
          .map((line) => `  ${line}`),
      )
  }
  return lines.join('\n        ')
}

function describeDetail(name: string, value: unknown): string | null {
  if (value === undefined || value === null) return null
  if (name === 'at' && typeof value === 'object' && 'fileName' in value && 'lineNumber' in value) {
    return `${value.fileName}:${value.lineNumber}`
  }
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
