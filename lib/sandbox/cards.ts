/** The amounts by which the sandbox's issuer declines an authorisation by itself. */
import type { CardDeclineReason } from '../cards/card-transaction.ts'
import type { CatalogueRule } from './triggers.ts'

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
