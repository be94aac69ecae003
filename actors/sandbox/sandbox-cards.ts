/** The sandbox's issuer of cards. It keeps nothing: all that it tells of a card follows from the card's id. */
import { createHash } from 'node:crypto'
import { timestamp } from '../../lib/base/clock.ts'
import type { CardIssuer } from '../cards/issuer.ts'

/** Years for which a card is valid. */
const VALID_YEARS = 3

export const sandboxIssuer: CardIssuer = {
  issues: (provider) => provider === 'sandbox',
  async issue({ reference, at }) {
    const hash = createHash('sha256').update(reference).digest()
    const today = timestamp(at)
    return {
      last4: String(hash.readUInt16BE(0) % 10_000).padStart(4, '0'),
      expiry: `${Number(today.slice(0, 4)) + VALID_YEARS}-${today.slice(5, 7)}`,
      networkTokenRef: `SBXTOK${hash.toString('hex', 2, 10).toUpperCase()}`,
    }
  },
}
