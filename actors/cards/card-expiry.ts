/** The ends of cards by time: authorisations that no clearing has followed, and cards whose last month is over. */
import type { Clock } from '../../lib/base/clock.ts'
import { dateIn, timestamp } from '../../lib/base/clock.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { CardMessage } from '../../lib/cards/card-message.ts'
import { moveCard, type CardRecord } from '../../lib/cards/card.ts'
import { DAY_MS } from '../../lib/base/clock.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { expiringCards } from '../../storage/cards/card-facts.ts'
import { expiredAuthorisations, type ExpiredAuthorisation } from '../../storage/cards/card-transactions.ts'
import { lockCard, updateCard } from '../../storage/cards/cards.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { derivedId } from '../providers/adapters/derived-id.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Task } from '../runtime/tasks.ts'
import type { Wakes } from '../runtime/wakes.ts'
import type { CardMessages } from './card-messages.ts'

const TICK_MS = 5_000

export interface CardExpiryOptions {
  readonly messages: CardMessages
  readonly database: Database
  readonly clock: Clock
  readonly shards: Shards
  readonly wakes: Wakes
  readonly onError: (error: unknown, what: string) => void
}

/** Ends authorisations on the node that owns their shard. Their money is released, and a late clearing is still paid. */
export function authorisationExpiry(options: CardExpiryOptions): Poller {
  return new Poller({
    everyMs: TICK_MS,
    poll: () => expireAuthorisations(options),
    rest: untilDue(options, ['card_transaction'], ['events']),
    onError: (error) => options.onError(error, 'card authorisations'),
  })
}

async function expireAuthorisations({ messages, database, clock, shards, onError }: CardExpiryOptions): Promise<void> {
  const now = clock.now()
  const expired = await expiredAuthorisations(database, shards.owned(), timestamp(now), LIMITS.partnerBatchMax)
  await Promise.all(
    expired.map((authorisation) =>
      messages
        .take(authorisation.cardId, expiryOf(authorisation), now + LIMITS.requestDeadlineMs)
        .catch((error: unknown) => onError(error, 'card authorisation')),
    ),
  )
}

/** The message of an expiry has an id of its own, so nodes that find the same authorisation end it once. */
const expiryOf = ({ connectionId, ref, id, version }: ExpiredAuthorisation): CardMessage => ({
  id: derivedId(connectionId, 'expiry', id, String(version)),
  phase: 'expiry',
  ref,
  relatedRef: null,
  amount: 0n,
  isFinal: true,
  network: 'visa',
  channel: 'ecommerce',
  mcc: '0000',
  merchantName: '',
  merchantCountry: null,
  merchantAmount: 0n,
  merchantCurrency: '',
  rate: null,
  declined: null,
})

/** Ends the cards whose last month is over everywhere. It runs each hour; what a run leaves, the next one takes. */
export function cardExpiry({ database, clock }: Pick<CardExpiryOptions, 'database' | 'clock'>): Task {
  return {
    name: 'cards.expire',
    cron: '7 * * * *',
    async run() {
      // A day later than in UTC the month is over in every zone; until then each authorisation compares its own zone.
      const month = dateIn(clock.now() - DAY_MS, 'UTC').slice(0, 7)
      await inTransaction(database, async (client) => {
        for (const { id, customerId } of await expiringCards(client, month, LIMITS.partnerBatchMax)) {
          const card: CardRecord | null = await lockCard(client, customerId, id)
          const status = card === null ? null : moveCard(card.status, 'expire')
          if (card !== null && typeof status === 'string') await updateCard(client, card, { status }, clock.now())
        }
      })
    },
  }
}
