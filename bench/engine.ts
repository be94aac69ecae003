/**
 * The ledger's actors without HTTP in front: payments asked of the balances themselves, with a fixed number of asks on
 * their way at any time. In a process of its own, as in the service.
 */
import { balanceActor } from '../actors/balances/balance.ts'
import { ActorSystem } from '../actors/runtime/system.ts'
import { systemClock } from '../lib/base/clock.ts'
import type { Payer } from './database.ts'
import { Draw } from './draw.ts'
import { Histogram } from './histogram.ts'
import { nextPaymentCommand } from './payment-commands.ts'
import { answerParent, tellMeasurement, type Tell } from './process.ts'

/** The work of the engine and of the ceiling. */
export interface EnginePlan {
  readonly databaseUrl: string
  /** A payer is drawn at random for each payment, evenly. */
  readonly payers: readonly Payer[]
  readonly lanes: number
  /** Asks on their way at the same time. */
  readonly concurrency: number
  readonly warmupSeconds: number
  readonly seconds: number
}

export interface EngineReport {
  /** Payments a second. */
  readonly rate: number
  /** Of single payments for the engine, of whole batches for the ceiling. */
  readonly histogram: readonly number[]
}

async function run(plan: EnginePlan, tell: Tell): Promise<EngineReport> {
  const { payers } = plan
  let bug: unknown
  const system = new ActorSystem({
    databaseUrl: plan.databaseUrl,
    lanes: plan.lanes,
    clock: systemClock,
    onBug: (error) => {
      bug = error
    },
  })
  const histogram = new Histogram()
  const from = performance.now() + plan.warmupSeconds * 1000
  const until = from + plan.seconds * 1000
  const draw = new Draw(payers.length)
  let payments = 0

  async function keepAsking(): Promise<void> {
    for (;;) {
      const asked = performance.now()
      if (asked >= until) return
      const payer = payers[draw.next()] as Payer
      const outcome = await system.ask(balanceActor, payer.balanceId, payer.shard, nextPaymentCommand(payer))
      if (outcome.kind !== 'decided' || outcome.reply.kind !== 'payment_created')
        throw new Error(`A payment was not made: ${outcome.kind}.`)
      const answered = performance.now()
      if (answered < from || answered >= until) continue
      payments += 1
      histogram.record((answered - asked) * 1000)
    }
  }

  using _ = tellMeasurement(tell, plan)
  try {
    await Promise.all(Array.from({ length: plan.concurrency }, keepAsking))
    if (bug !== undefined) throw bug
    return { rate: payments / plan.seconds, histogram: histogram.sparse() }
  } finally {
    await system.close()
  }
}

if (process.argv[1] === import.meta.filename) answerParent<EnginePlan, EngineReport>(run)
