/**
 * The amounts of a drawdown: one side is given, the other follows from the contract's rate as for any exchange. The
 * last drawdown takes exactly the remaining amounts of both sides, whatever was rounded before, so that no part of a
 * contract is lost.
 *
 * Amounts are bigint minor units.
 */
import { sidesAt, type Fixed, type Rate, type Sides } from './rate.ts'

/**
 * The reasons why an amount cannot be drawn. `remaining` is the largest amount of the given side that could be drawn.
 */
export type DrawdownRefusal =
  | { readonly kind: 'too_large'; readonly remaining: bigint }
  /** The other side of the drawdown, or of the remainder, would be zero. */
  | { readonly kind: 'too_small' }

export type Drawn = { readonly kind: 'drawn'; readonly sides: Sides; readonly left: Sides } | DrawdownRefusal

/** Computes the amounts that a drawdown of one side takes of both. */
export function draw(remaining: Sides, asked: Fixed & { readonly rate: Rate }): Drawn {
  const left = remaining[asked.fixedSide]
  if (asked.amount > left) return { kind: 'too_large', remaining: left }
  if (asked.amount === left) return { kind: 'drawn', sides: remaining, left: { sell: 0n, buy: 0n } }
  const sides = sidesAt(asked, asked.rate)
  // A remainder on one side only is not allowed: the last drawdown would sell or buy an amount for zero.
  if (
    sides === 'amount_too_small' ||
    sides === 'too_large' ||
    sides.sell >= remaining.sell ||
    sides.buy >= remaining.buy
  )
    return { kind: 'too_small' }
  return { kind: 'drawn', sides, left: { sell: remaining.sell - sides.sell, buy: remaining.buy - sides.buy } }
}

/** Computes the remaining amounts after a drawdown has failed: its amounts are added back. */
export function giveBack(remaining: Sides, sides: Sides): Sides {
  return { sell: remaining.sell + sides.sell, buy: remaining.buy + sides.buy }
}
