/** Reads what decisions about cards rest on: cards, and the transactions that messages name, many in one statement. */
import type { CardTransactionState } from '../../lib/cards/card-transaction.ts'
import type { CardRecord } from '../../lib/cards/card.ts'
import type { ProviderId } from '../../lib/providers/provider.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Reader } from '../db/connection.ts'
import { CARD_TRANSACTION } from './card-transactions.ts'
import { CARD, cardOf } from './cards.ts'

/** A card, and the network's reference of a transaction. */
export interface CardQuestion {
  readonly cardId: string
  readonly ref: string
  /** The reference of another transaction of the customer; null for none. */
  readonly relatedRef: string | null
}

/** A card with the transaction that a reference of its connection names; null when there is none. */
export interface FoundCard {
  readonly card: CardRecord
  readonly provider: ProviderId
  readonly transaction: CardTransactionState | null
  /** The transaction that `relatedRef` names; null when there is none. */
  readonly relatedTransactionId: string | null
}

const PLACES = { card: 3, transaction: 3 + CARD.width } as const
const FOUND = `select q.place::int, k.provider, case when q.related is not null then (select r.id from card_transaction r
    where r.ref = q.related and r.connection_id = c.connection_id and r.customer_id = c.customer_id) end, ${CARD.sql}, ${CARD_TRANSACTION.sql}
  from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality q(card_id, ref, related, place)
  join card c on c.id = q.card_id join provider_connection k on k.id = c.connection_id
  left join card_transaction t on t.connection_id = c.connection_id and t.ref = q.ref`

/** Reads cards in the order of the questions; null for a card that does not exist. @throws DatabaseUnavailable */
export async function readFoundCards(
  reader: Reader,
  questions: readonly CardQuestion[],
): Promise<readonly (FoundCard | null)[]> {
  const { rows } = await reader.query({
    name: 'found_cards',
    text: FOUND,
    values: [
      plainArray(questions.map(({ cardId }) => cardId)),
      textArray(questions.map(({ ref }) => ref)),
      textArray(questions.map(({ relatedRef }) => relatedRef)),
    ],
  })
  const found: (FoundCard | null)[] = questions.map(() => null)
  for (const row of rows) {
    const [place, provider, relatedTransactionId] = row as [number, ProviderId, string | null]
    found[place - 1] = {
      card: cardOf(CARD.read(row, PLACES.card)),
      provider,
      relatedTransactionId,
      transaction: row[PLACES.transaction] === null ? null : CARD_TRANSACTION.read(row, PLACES.transaction),
    }
  }
  return found
}
