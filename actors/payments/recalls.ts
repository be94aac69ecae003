/**
 * Recalls that are open: each is passed on to the bank, and given up when nobody has answered in time. What is due is a column
 * of the payment, looked at where its shard is at home; the bank takes a reference once, so after a death it is passed on again.
 */
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { RecallCommand } from '../../lib/payments/recall.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { plainArrayOrNull } from '../../storage/db/array-literal.ts'
import type { Database } from '../../storage/db/database.ts'
import type { RecallPartner } from '../providers/bank.ts'
import { paymentActor } from './payment.ts'
import { Poller } from '../runtime/poller.ts'
import type { ActorSystem } from '../runtime/system.ts'

/** How often a node looks for recalls that are due, and how many it takes at a time. */
const TICK_MS = 1_000
const DUE_MAX = 64

const DUE = `select id, shard, recall::json->>'reasonCode', recall::json->>'note', recall::json->>'expiresAt' from payment
  where recall_due_at <= $1::timestamptz and ($2::smallint[] is null or shard = any($2)) order by recall_due_at limit ${DUE_MAX}`

export interface RecallsOptions {
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
    super({ everyMs: TICK_MS, poll: () => this.#poll(), onError: (error) => options.onError(error, 'recalls that are due') })
    this.#options = options
  }

  async #poll(): Promise<void> {
    const { database, bank, clock, ids, shards } = this.#options
    const now = clock.now()
    const owned = shards.owned()
    const rows = await database.query<[string, number, string, string, string]>({
      name: 'recalls_due', text: DUE, values: [timestamp(now), plainArrayOrNull(owned)],
    })
    for (const [id, shard, reasonCode, note, expiresAt] of rows) {
      if (now >= Date.parse(expiresAt)) {
        await this.#ask(id, shard, { kind: 'recall_expired', context: { ids } })
        continue
      }
      // When nobody knows whether it has arrived it stays due, and is passed on again.
      await bank.recall([{ reference: id, reasonCode, note }])
      await this.#ask(id, shard, { kind: 'recall_sent' })
    }
  }

  async #ask(id: string, shard: number, command: RecallCommand): Promise<void> {
    await this.#options.system.ask(paymentActor, id, shard, command)
    this.#options.system.forget('payment', id)
  }
}
