/**
 * Turns the runner's TAP into what a person reads: one line for each file, and for each failure where it is and why.
 * tap's own reporters redraw a terminal, which in a log is pages of the same lines, and print nothing at all under CI.
 */
import { Parser } from 'tap-parser'
import type { Result } from 'tap-parser'

export interface Counts {
  passed: number
  failed: number
}

/** A sink for TAP that prints as it goes and counts in `counts`. End it before reading them. */
export function createReport(options: { readonly print: (line: string) => void; readonly counts: Counts }): Parser {
  const { print, counts } = options
  const parser = new Parser()
  // One for each assertion, however deep, and for a file or block that failed without a failing assertion of its own.
  parser.on('result', (result: Result) => {
    if (result.skip || result.todo) return
    counts[result.ok ? 'passed' : 'failed'] += 1
    if (!result.ok) print(describeFailure(result))
  })
  parser.on('assert', (file: Result) => {
    print(`${file.ok ? 'ok    ' : 'FAILED'}  ${file.name}${file.time === null ? '' : `  ${Math.round(file.time)} ms`}`)
  })
  // What a test printed that is not TAP.
  const passOn = (at: Parser) => {
    at.on('extra', (text: string) => print(text.trimEnd()))
    at.on('child', passOn)
  }
  passOn(parser)
  return parser
}

/** What of the diagnosis helps, in the order to read it. */
const DETAILS = ['diff', 'found', 'wanted', 'doNotWant', 'pattern', 'message', 'signal', 'exitCode', 'timeout', 'at', 'stack', 'source']

function describeFailure(result: Result): string {
  const diagnosis: Record<string, unknown> = result.diag ?? {}
  const lines = [`FAILED  ${result.fullname}`]
  for (const name of DETAILS) {
    // The difference says what was found and wanted already.
    if (['found', 'wanted'].includes(name) && diagnosis.diff !== undefined) continue
    const text = describeDetail(name, diagnosis[name])
    if (text !== null) lines.push(`${name}:`, ...text.trimEnd().split('\n').map(line => `  ${line}`))
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
