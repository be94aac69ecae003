/**
 * Passes open recalls on to the bank, and ends those that got no answer in time. The due time is a column of the
 * payment, polled by the node that owns its shard. The bank takes a recall of one reference once, so after a crash the
 * recall is passed on again without harm.
 */
import type { Described } from '../../lib/decisions/seeded.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { RecallCommand } from '../../lib/payments/recall.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import type { Database } from '../../storage/db/database.ts'
import { dueRecalls } from '../../storage/payments/due-recalls.ts'
import type { RecallPartner } from '../providers/bank.ts'
import { paymentActor } from './payment.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import type { ActorSystem } from '../runtime/system.ts'

/** Time between two polls for recalls that are due. */
const TICK_MS = 1_000

export interface RecallsOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly system: ActorSystem
  readonly bank: RecallPartner
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

export class Recalls extends Poller {
  readonly #options: RecallsOptions

  constructor(options: RecallsOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: untilDue(options, ['payment'], ['events']),
      onError: (error) => options.onError(error, 'recalls that are due'),
    })
    this.#options = options
  }

  async #poll(): Promise<void> {
    const { database, bank, clock, shards } = this.#options
    const now = clock.now()
    for (const { paymentId, shard, reasonCode, note, expiresAt } of await dueRecalls(database, {
      now,
      owned: shards.owned(),
    })) {
      if (now >= Date.parse(expiresAt)) {
        await this.#ask(paymentId, shard, { kind: 'recall_expired' })
        continue
      }
      // When this call fails, the recall may or may not have arrived: it stays due, and is passed on again.
      await bank.recall([{ reference: paymentId, reasonCode, note }])
      await this.#ask(paymentId, shard, { kind: 'recall_sent' })
    }
  }

  async #ask(id: string, shard: number, command: Described<RecallCommand>): Promise<void> {
    const { system, ids } = this.#options
    await system.ask(paymentActor, id, shard, { ...command, seed: ids.next() })
    system.forget('payment', id)
  }
}
