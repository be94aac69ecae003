/**
 * The sandbox's issuer of cards: the facts of a card, which follow from its id, and the amounts by which it declines an
 * authorisation by itself.
 */
import { createHash } from 'node:crypto'
import { timestamp } from '../base/clock.ts'
import type { CardDeclineReason } from '../cards/card-transaction.ts'
import type { CatalogueRule } from './triggers.ts'

/** Years for which a card is valid. */
const VALID_YEARS = 3
const LAST4_VALUES = 10_000

/** Returns the facts that the sandbox tells of a card of this id, ordered `at` (epoch milliseconds). */
export function sandboxCard(id: string, at: number) {
  const hash = createHash('sha256').update(id).digest()
  const today = timestamp(at)
  return {
    last4: String(hash.readUInt16BE(0) % LAST4_VALUES).padStart(4, '0'),
    expiry: `${Number(today.slice(0, 4)) + VALID_YEARS}-${today.slice(5, 7)}`,
    networkTokenRef: `SBXTOK${hash.toString('hex', 2, 10).toUpperCase()}`,
  }
}

const DECLINES: ReadonlyMap<bigint, CardDeclineReason> = new Map([
  [1305n, 'insufficient_funds'],
  [1306n, 'limit_exceeded'],
  [1307n, 'suspected_fraud'],
  [1308n, 'do_not_honour'],
])

/** Returns why the sandbox declines an authorisation of `amount` minor units; null where it does not. */
export const sandboxDecline = (amount: bigint): CardDeclineReason | null => DECLINES.get(amount) ?? null

export const cardRules = (): readonly CatalogueRule[] => [
  ...[...DECLINES].map(([amount, reason]) => ({
    topic: 'cards',
    rule: `card authorisation of ${amount} minor units: declined, ${reason}`,
  })),
  { topic: 'cards', rule: 'card authorisation above the available balance: declined, insufficient_funds' },
  { topic: 'cards', rule: 'phase decline: declined with declineReason of the body, do_not_honour by default' },
]
