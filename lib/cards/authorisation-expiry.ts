/**
 * How long an authorisation reserves money before it expires without a clearing, by network, channel and merchant
 * category. The first row that fits counts. The terms are those of the networks for approved authorisations: five days
 * where the card was present, five where the merchant initiated the purchase, seven where the customer did without the
 * card, thirty for lodging, cruises and rented vehicles. A network that differs is a row before these.
 */
import { DAY_MS } from '../base/clock.ts'
import type { Purchase } from './card-limits.ts'
import { categoryOf, type MerchantCategory } from './merchant-categories.ts'

export const CARD_NETWORKS = ['visa', 'mastercard'] as const
export type CardNetwork = (typeof CARD_NETWORKS)[number]

interface ExpiryRow {
  /** Null: any. */
  readonly networks: readonly CardNetwork[] | null
  readonly categories: readonly MerchantCategory[] | null
  readonly channels: readonly Purchase['channel'][] | null
  readonly days: number
}

const EXPIRY: readonly ExpiryRow[] = [
  { networks: null, categories: ['lodging', 'cruise_lines', 'vehicle_rental'], channels: null, days: 30 },
  { networks: null, categories: null, channels: ['pos_chip', 'contactless', 'atm'], days: 5 },
  { networks: null, categories: null, channels: ['recurring', 'moto'], days: 5 },
  { networks: null, categories: null, channels: ['ecommerce'], days: 7 },
]

/** Returns when an authorisation of `at` expires, epoch milliseconds. */
export function authorisationExpiry(network: CardNetwork, { mcc, channel }: Purchase, at: number): number {
  const category = categoryOf(mcc)
  const row = EXPIRY.find(
    ({ networks, categories, channels }) =>
      (networks === null || networks.includes(network)) &&
      (categories === null || categories.includes(category)) &&
      (channels === null || channels.includes(channel)),
  )
  if (row === undefined) throw new Error(`No row says when an authorisation by ${channel} expires.`)
  return at + row.days * DAY_MS
}
