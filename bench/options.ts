/** The options of the bench. */
import { parseArgs } from 'node:util'
import type { Scenario } from './scenario.ts'
import { SCENARIOS } from './scenarios/index.ts'

/** A compiler needs this long: the same process made 4 423 payments a second before and 5 791 after it. */
const HEAT_SECONDS = 10

/** What the bench is asked to do. */
export interface Options {
  readonly scenarios: readonly Scenario[]
  /** Null: none were asked for. */
  readonly secondsAsked: number | null
  /** How long a new process runs under load before it is measured; not shortened by `--seconds`. */
  readonly heatSeconds: number
  readonly scale: number
  readonly json: string | null
}

/** The arguments cannot be understood; the message says why. */
export class UsageError extends Error {}

function parseValues(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: 'string' },
        seconds: { type: 'string' },
        heat: { type: 'string', default: String(HEAT_SECONDS) },
        scale: { type: 'string', default: '1' },
        json: { type: 'string' },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Reads the arguments. @throws UsageError */
export function readOptions(args: string[]): Options {
  const values = parseValues(args)
  const only = values.only
    ?.split(',')
    .map((id) => id.trim().toUpperCase())
    .filter((id) => id !== '')
  const unknown = only?.find((id) => !SCENARIOS.some((scenario) => scenario.id === id))
  if (unknown !== undefined)
    throw new UsageError(`There is no scenario ${unknown}; there are ${SCENARIOS.map(({ id }) => id).join(', ')}.`)
  const seconds = values.seconds === undefined ? null : Number(values.seconds)
  if (seconds !== null && !(seconds >= 2)) throw new UsageError('--seconds must be a number of at least 2.')
  const heatSeconds = Number(values.heat)
  if (!(heatSeconds >= 0)) throw new UsageError('--heat must be a number of at least 0.')
  const scale = Number(values.scale)
  if (!(scale > 0 && scale <= 1)) throw new UsageError('--scale must be a number above 0, at most 1.')
  return {
    heatSeconds,
    scale,
    scenarios: only === undefined ? SCENARIOS : SCENARIOS.filter(({ id }) => only.includes(id)),
    secondsAsked: seconds,
    json: values.json ?? null,
  }
}
