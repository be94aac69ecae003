/** The state tables of the contract, row by row and refusal by refusal, through the pure functions that decide them. */
import t from 'tap'
import { HOUR_MS, MINUTE_MS } from '../../lib/base/clock.ts'
import { RAILS } from '../../lib/rails/rails.ts'
import { nextAttemptAt, PAUSE_AFTER_FAILURES, RETRY_WINDOW_MS } from '../../lib/webhooks/schedule.ts'
import { DRAWDOWN_MOVES, QUOTE_MOVES, RECALL_RAILS, type ContractMove } from './data/money-moves.ts'
import * as others from './data/other-moves.ts'
import { EXCHANGES, FORWARDS, HELD_RATES } from './exchange-machines.ts'
import { onlyKnown, onlyKnownBeyond, WALKED_OVER_HTTP } from './known.ts'
import { DEBIT_MACHINES } from './debit-machines.ts'
import { OTHER_MACHINES } from './other-machines.ts'
import { PAYMENT_COMMANDS, PAYMENT_RECALLS, PAYMENTS, TRANSFERS } from './payment-machines.ts'
import { walk } from './walk.ts'

const MACHINES = [
  PAYMENTS,
  PAYMENT_RECALLS,
  TRANSFERS,
  EXCHANGES,
  FORWARDS,
  HELD_RATES,
  ...OTHER_MACHINES,
  ...DEBIT_MACHINES,
]

/** Tables of which no row is decided by a pure function. */
const ELSEWHERE: Readonly<Record<string, readonly ContractMove[]>> = {
  quote: QUOTE_MOVES,
  drawdown: DRAWDOWN_MOVES,
  'bulk row': others.ROW_MOVES,
  customer: others.CUSTOMER_MOVES,
  endpoint: others.ENDPOINT_MOVES,
  hold: others.HOLD_MOVES,
  'API key': others.API_KEY_MOVES,
  connection: others.CONNECTION_MOVES,
  card: others.CARD_MOVES,
  registration: others.REGISTRATION_MOVES,
}

t.test('each row leads where the table says, and every other trigger is refused', (t) => {
  const elsewhere: string[] = []
  const beyond: string[] = []
  let total = 0
  for (const machine of MACHINES) {
    const walked = walk(t, machine)
    total += walked.cells
    elsewhere.push(...walked.elsewhere)
    beyond.push(...walked.beyond)
    t.comment(`${machine.name}: ${walked.cells} cells of ${machine.moves.length} rows`)
  }
  for (const [name, moves] of Object.entries(ELSEWHERE))
    elsewhere.push(...new Set(moves.map(({ id }) => `${name} ${id}`)))
  t.comment(`${total} cells`)
  const overHttp = new Set(WALKED_OVER_HTTP.flatMap(({ rows }) => rows))
  t.strictSame(
    [...overHttp].filter((row) => !elsewhere.includes(row)),
    [],
    'no row is walked here and said to be walked over HTTP',
  )
  onlyKnown(
    t,
    'moves',
    elsewhere.filter((row) => !overHttp.has(row)),
  )
  onlyKnownBeyond(t, 'moves', beyond)
  t.end()
})

t.test('each command of a payment is a row of the table, or says what it is', (t) => {
  const rows = new Set(PAYMENTS.moves.map(({ id }) => id))
  for (const [command, where] of Object.entries(PAYMENT_COMMANDS))
    for (const id of where.match(/\bP\d+\b/g) ?? []) t.ok(rows.has(id), `${command}: ${id}`)
  t.end()
})

t.test('a payment can be recalled on the rails of the contract', (t) => {
  t.strictSame(
    [...RAILS.values()]
      .filter(({ recallDays }) => recallDays !== null)
      .map(({ rail }) => rail)
      .sort(),
    [...RECALL_RAILS].sort(),
  )
  t.end()
})

t.test('a delivery is tried at the times of the contract', (t) => {
  t.equal(PAUSE_AFTER_FAILURES, others.FAILURES_THAT_PAUSE)
  t.equal(RETRY_WINDOW_MS, others.DELIVERY_WINDOW_HOURS * HOUR_MS)
  const delay = (attempts: number) =>
    nextAttemptAt({ endedAt: 0, attempts, windowEndsAt: RETRY_WINDOW_MS, retryAfterMs: null, chance: 0 })
  const wanted = others.DELIVERY_DELAYS_MINUTES
  for (const [nth, minutes] of [...wanted, wanted.at(-1)!].entries())
    t.equal(delay(nth + 1), minutes * MINUTE_MS, `after attempt ${nth + 1}`)
  t.end()
})
