/**
 * Cards: their records and the moves of their status. The number of a card is kept by its issuer and is nowhere in this
 * system: a card is known by its id, its last four digits, its month of expiry and the issuer's reference.
 *
 *   inactive ──activate──▶ active ──freeze──▶ frozen ──unfreeze──▶ active
 *   active, frozen ──block──▶ blocked ──unblock──▶ active          (by the issuer or staff)
 *   inactive, active, frozen, blocked ──expire──▶ expired
 *   inactive, active, frozen, blocked ──close──▶ closed
 *
 * A virtual card is active when it is issued, a physical card when its holder has it and activates it.
 */
import type { CurrencyCode } from '../base/currency.ts'
import type { Problem } from '../base/problems.ts'
import type { CardControls, CardLimits, CardUse } from './card-limits.ts'

export const CARD_STATUSES = ['inactive', 'active', 'frozen', 'blocked', 'expired', 'closed'] as const
export type CardStatus = (typeof CARD_STATUSES)[number]

export const CARD_TYPES = ['virtual', 'physical'] as const
export type CardType = (typeof CARD_TYPES)[number]

export const CARD_CLOSE_REASONS = ['lost', 'stolen', 'damaged', 'unwanted'] as const
export type CardCloseReason = (typeof CARD_CLOSE_REASONS)[number]

/** A card. Times are epoch milliseconds, amounts minor units of the balance's currency. */
export interface CardRecord {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  /** The connection of the issuer. */
  readonly connectionId: string
  readonly shard: number
  /** The balance that pays. */
  readonly balanceId: string
  readonly currency: CurrencyCode
  readonly holderUserId: string
  readonly type: CardType
  readonly label: string | null
  readonly status: CardStatus
  readonly version: number
  readonly last4: string
  /** The month after which the card is no longer valid, `YYYY-MM`. */
  readonly expiry: string
  /** The issuer's reference of the card's token; null until the issuer has told it. */
  readonly networkTokenRef: string | null
  readonly limits: CardLimits
  readonly controls: CardControls
  /** The card is closed after this number of payments; null: never. */
  readonly cancelAfterPayments: number | null
  /** The authorisations and force posts of the card that were not reversed in full. */
  readonly payments: number
  /** The amounts used in the current periods of the limits. */
  readonly used: CardUse
  /** The IANA zone in which periods of limits begin: the customer's. */
  readonly zone: string
  readonly closeReason: CardCloseReason | null
  /** The card that this one replaces, and the one by which it was replaced. */
  readonly replacesCardId: string | null
  readonly replacedByCardId: string | null
  readonly createdBy: string
  readonly createdAt: number
  readonly updatedAt: number
}

export const CARD_MOVES = {
  activate: { from: ['inactive'], to: 'active' },
  freeze: { from: ['active'], to: 'frozen' },
  unfreeze: { from: ['frozen'], to: 'active' },
  block: { from: ['active', 'frozen'], to: 'blocked' },
  unblock: { from: ['blocked'], to: 'active' },
  expire: { from: ['inactive', 'active', 'frozen', 'blocked'], to: 'expired' },
  close: { from: ['inactive', 'active', 'frozen', 'blocked'], to: 'closed' },
} as const satisfies Readonly<Record<string, { readonly from: readonly CardStatus[]; readonly to: CardStatus }>>
export type CardMove = keyof typeof CARD_MOVES

/** Returns the status after a move, or the 409 of a status that does not allow it. */
export function moveCard(status: CardStatus, move: CardMove): CardStatus | Problem {
  const { from, to } = CARD_MOVES[move] as { readonly from: readonly CardStatus[]; readonly to: CardStatus }
  return from.includes(status)
    ? to
    : {
        slug: 'invalid-transition',
        detail: `A card that is ${status} does not ${move}.`,
        extra: { currentStatus: status, allowed: [...from] },
      }
}

/** Tells whether the month of expiry is over. `today` is a date of the card's zone, `YYYY-MM-DD`. */
export const isExpiredCard = ({ expiry }: Pick<CardRecord, 'expiry'>, today: string): boolean =>
  today.slice(0, 7) > expiry
