/** The card of a sandbox: one active virtual card of the owner, paid from the balance in EUR. */
import { CARD_CHANNELS, NO_LIMIT } from '../../lib/cards/card-limits.ts'
import type { Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { sandboxCard } from '../../lib/sandbox/cards.ts'
import { holdCardBalance } from '../cards/card-facts.ts'
import { insertCard } from '../cards/cards.ts'
import type { Database } from '../db/database.ts'
import { inTransaction } from '../db/transaction.ts'

/** The advisory lock of nodes that start at the same time; spells "card". */
const CARD_LOCK = '0x63617264'

/**
 * Issues the card, unless the customer has had a card or no longer has its owner or balance.
 *
 * @throws the driver's errors; then nothing was written
 */
export async function seedCard(
  { database, clock, ids }: { readonly database: Database; readonly clock: Clock; readonly ids: IdSource },
  { customerId, balanceId }: { readonly customerId: string; readonly balanceId: string },
): Promise<void> {
  await inTransaction(database, async (client) => {
    await client.query(`select pg_advisory_xact_lock(${CARD_LOCK})`)
    const {
      rows: [owner],
    } = await client.query<{ user_id: string }>(
      `select user_id from membership where tenant_id = $1 and role = 'owner' and status = 'active'
         and not exists (select from card where customer_id = $1) order by id limit 1`,
      [customerId],
    )
    if (owner === undefined) return
    const balance = await holdCardBalance(client, customerId, balanceId)
    if (balance?.status !== 'active' || balance.provider !== 'sandbox') return
    const [id, now] = [ids.next(), clock.now()]
    const { operatorId, connectionId, shard, currency } = balance
    await insertCard(client, {
      id,
      customerId,
      operatorId,
      connectionId,
      shard,
      balanceId,
      currency,
      holderUserId: owner.user_id,
      type: 'virtual',
      label: 'Sandbox card',
      status: 'active',
      version: 1,
      ...sandboxCard(id, now),
      limits: { ...NO_LIMIT, byCategory: [] },
      controls: {
        channels: CARD_CHANNELS,
        allowedCategories: null,
        blockedCategories: [],
        blockedMccs: [],
        allowedCountries: null,
        blockedCountries: [],
      },
      cancelAfterPayments: null,
      payments: 0,
      used: [],
      zone: 'UTC',
      closeReason: null,
      replacesCardId: null,
      replacedByCardId: null,
      createdBy: owner.user_id,
      createdAt: now,
      updatedAt: now,
    })
  })
}
