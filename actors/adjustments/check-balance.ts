/** Checks whether an adjustment can move a balance. */
import { overdraws, type AdjustmentKind } from '../../lib/adjustments/adjustment.ts'
import { insufficientFunds } from '../../lib/balances/decision.ts'
import { ProblemError, refuseField, refuseTransition } from '../../lib/base/problems.ts'
import type { RuleId } from '../../lib/ledger/postings.ts'
import type { AdjustedBalance } from '../../storage/adjustments/adjustments.ts'

/**
 * Checks a locked balance. A closed balance moves no more; a frozen one takes money and pays none. Only the rules of G3 take a
 * balance below zero.
 *
 * @throws ProblemError `invalid-transition`, `insufficient-funds`, `validation-error`
 */
export function checkBalance(
  balance: AdjustedBalance,
  {
    kind,
    rule,
    amount,
    side,
  }: {
    readonly kind: AdjustmentKind
    readonly rule: RuleId
    readonly amount: bigint
    readonly side: 'debit' | 'credit' | undefined
  },
): void {
  const { status, posted, available } = balance
  if (status === 'closed') refuseTransition('The balance is closed.', status, ['active', 'frozen', 'closing'])
  // Its customer is leaving: it takes only what ends a debt, or takes back an entry.
  if (side === 'credit' && status === 'closing' && kind !== 'write_off' && kind !== 'reversal')
    refuseTransition('The balance is closing and takes no money.', status, ['active', 'frozen'])
  if (side === 'debit' && status === 'frozen')
    refuseTransition('The balance is frozen and pays nothing.', status, ['active', 'closing'])
  if (kind === 'write_off' && posted >= 0n) refuseField('/balanceId', 'invalid_value', 'The balance is not negative.')
  if (kind === 'write_off' && amount > -posted)
    refuseField('/amount', 'too_large', 'Is more than the balance owes.', { max: (-posted).toString() })
  if (side === 'debit' && amount > available && !overdraws(kind, rule))
    throw new ProblemError(insufficientFunds(balance, amount))
}
