/**
 * What is drawn from a contract: one side is asked for, the other follows from the contract's rate as it does for any exchange.
 * The last drawdown takes exactly what is left of both, whatever was rounded before, so nothing of a contract is lost.
 *
 * Amounts are bigint minor units.
 */
import { sidesAt, type Fixed, type Rate, type Sides } from './rate.ts'

/** Why an amount cannot be drawn. `remaining` is what could be, of the side that was asked for. */
export type DrawdownRefusal =
  | { readonly kind: 'too_large'; readonly remaining: bigint }
  /** The other side of it, or of what it would leave, comes to nothing. */
  | { readonly kind: 'too_small' }

export type Drawn = { readonly kind: 'drawn'; readonly sides: Sides; readonly left: Sides } | DrawdownRefusal

/** What drawing this much of one side takes of both. */
export function draw(remaining: Sides, asked: Fixed & { readonly rate: Rate }): Drawn {
  const left = remaining[asked.fixedSide]
  if (asked.amount > left) return { kind: 'too_large', remaining: left }
  if (asked.amount === left) return { kind: 'drawn', sides: remaining, left: { sell: 0n, buy: 0n } }
  const sides = sidesAt(asked, asked.rate)
  // Nothing may be left of one side alone: the last drawdown would sell something for nothing.
  if (sides === 'amount_too_small' || sides === 'too_large' || sides.sell >= remaining.sell || sides.buy >= remaining.buy) return { kind: 'too_small' }
  return { kind: 'drawn', sides, left: { sell: remaining.sell - sides.sell, buy: remaining.buy - sides.buy } }
}

/** What is left once a drawdown has failed: what it took is there again. */
export function giveBack(remaining: Sides, sides: Sides): Sides {
  return { sell: remaining.sell + sides.sell, buy: remaining.buy + sides.buy }
}
