/** The sandbox's issuer of cards. It keeps nothing: all that it tells of a card follows from the card's id. */
import { sandboxCard } from '../../lib/sandbox/cards.ts'
import type { CardIssuer } from '../cards/issuer.ts'

export const sandboxIssuer: CardIssuer = {
  issues: (provider) => provider === 'sandbox',
  issue: ({ reference, at }) => Promise.resolve(sandboxCard(reference, at)),
}
