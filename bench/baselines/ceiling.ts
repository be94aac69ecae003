/**
 * The *ceiling* baseline: what Postgres can do with the rows of a payment's creation, on one connection, with no actor
 * and no HTTP around it.
 *
 * The statement is the service's own (storage/commit/commit.ts), 200 payments at a time. Decisions and arrays of the
 * next batch are made while the one before is in flight, so the connection waits for nothing but Postgres: this is a
 * stricter ceiling than a loop that prepares and sends in turn.
 */
import { systemClock } from '../../lib/base/clock.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import { createPayment } from '../../lib/payments/create-payment.ts'
import { commit } from '../../storage/sections/commit.ts'
import type { CommitCommand, CommitConnection, CommitTurn } from '../../storage/commit/turn.ts'
import { Connection } from '../../storage/db/connection.ts'
import { loadBalances } from '../../storage/balances/balance-states.ts'
import type { Payer } from '../database.ts'
import type { EnginePlan, EngineReport } from '../engine.ts'
import { Draw } from '../draw.ts'
import { Histogram } from '../histogram.ts'
import { nextPaymentCommand } from '../payment-commands.ts'
import { answerParent, tellMeasurement, type Tell } from '../process.ts'

const BATCH = 200

type Encoded = Parameters<CommitConnection['query']>[0]

/** Makes batches: decides 200 payments and turns them into the arrays that would be bound. */
class BatchMaker {
  readonly #payers: readonly Payer[]
  readonly #states: Map<string, BalanceState>
  readonly #draw: Draw

  constructor(payers: readonly Payer[], states: Map<string, BalanceState>) {
    this.#payers = payers
    this.#states = states
    this.#draw = new Draw(payers.length)
  }

  async next(): Promise<Encoded> {
    const now = systemClock.now()
    const commands = new Map<string, CommitCommand[]>()
    for (let nth = 0; nth < BATCH; nth++) {
      const payer = this.#payers[this.#draw.next()] as Payer
      const decision = createPayment(this.#states.get(payer.balanceId) as BalanceState, nextPaymentCommand(payer), now)
      this.#states.set(payer.balanceId, decision.state as BalanceState)
      const own = commands.get(payer.balanceId)
      if (own === undefined) commands.set(payer.balanceId, [decision as CommitCommand])
      else own.push(decision as CommitCommand)
    }
    const turns: CommitTurn[] = []
    for (const [balanceId, own] of commands) {
      const state = this.#states.get(balanceId) as BalanceState
      turns.push({ fence: { balanceId, version: state.version }, commands: own })
      // No other process writes here, so the version after the commit is known before it.
      this.#states.set(balanceId, { ...state, version: state.version + 1n })
    }
    let encoded: Encoded | undefined
    await commit(
      {
        query: async (statement) => {
          encoded = statement
          return { rows: [] }
        },
      },
      turns,
      now,
    )
    return encoded as Encoded
  }
}

async function run({ databaseUrl, payers, warmupSeconds, seconds }: EnginePlan, tell: Tell): Promise<EngineReport> {
  const connection = await Connection.open(databaseUrl, 'vostro bench ceiling')
  try {
    const states = await loadBalances(connection, [...new Set(payers.map(({ balanceId }) => balanceId))], false)
    const maker = new BatchMaker(payers, states)
    const histogram = new Histogram()
    let commands = 0
    let next = await maker.next()
    using _ = tellMeasurement(tell, { warmupSeconds, seconds })
    const from = performance.now() + warmupSeconds * 1000
    const until = from + seconds * 1000
    for (;;) {
      const sent = performance.now()
      if (sent >= until) break
      const [{ rows }, following] = await Promise.all([connection.query(next), maker.next()])
      if (rows.some(([kind]) => kind !== 'balance'))
        throw new Error('A batch was refused, although nobody else writes.')
      next = following
      const done = performance.now()
      if (done >= from && done < until) {
        commands += BATCH
        histogram.record((done - sent) * 1000)
      }
    }
    return { rate: commands / seconds, histogram: histogram.sparse() }
  } finally {
    await connection.close()
  }
}

answerParent<EnginePlan, EngineReport>(run)
