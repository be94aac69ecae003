/** Sends a collection back to its payer, as its creditor asks. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { Refused } from '../../lib/balances/decision.ts'
import type { CollectionReverse } from '../../lib/direct-debits/collection-schema.ts'
import { schemeDate } from '../../lib/direct-debits/dates.ts'
import type { CollectionReversed, ReverseCollection } from '../../lib/direct-debits/reversals/reverse-collection.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import { findCollection } from '../../storage/direct-debits/collections.ts'
import { findMandate } from '../../storage/direct-debits/mandates.ts'
import { reversingBalance } from '../balances/balance.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { readHome } from '../providers/cash/home-accounts.ts'
import { askUntilDecided } from '../runtime/ask-until-decided.ts'
import type { DebitMoverDeps } from './debit-mover.ts'

/**
 * Reverses a collection of the caller.
 *
 * @throws ProblemError `not-found`; Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to repeat under the same key
 */
export async function reverseCollectionOf(
  { system, database, accounts, ids, clock }: DebitMoverDeps,
  caller: CommandOrigin,
  id: string,
  { reasonCode, note = null }: CollectionReverse,
): Promise<CollectionReversed | Refused | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }> {
  const first = await findCollection(database, id)
  const mandate = first === null ? null : await findMandate(database, first.mandateId)
  if (first === null || mandate === null || first.customerId !== caller.customerId) return refuseNotFound()
  const { operatorId, connectionId, currency, scheme, balanceId } = first
  const internal = await accounts.accounts({ operatorId, connectionId, currency })
  const homeNow = async () => await readHome(database, accounts, first)
  let home = await homeNow()
  let collection = first
  return await askUntilDecided(
    { ...caller, system, actor: reversingBalance, id: balanceId },
    (): ReverseCollection => ({
      kind: 'reverse_collection',
      collection,
      counterparty: { name: mandate.counterparty.name, kind: mandate.counterparty.kind },
      reasonCode,
      note,
      accounts: internal,
      home,
      valueDate: schemeDate(DEBIT_SCHEMES[scheme], clock.now()),
      key: caller.key,
      problemRequest: caller.problemRequest,
      seed: ids.next(),
    }),
    async (conflict): Promise<'again'> => {
      // The balance has moved to another connection.
      if (conflict.kind === 'fact_stale') home = await homeNow()
      else if (conflict.kind !== 'collection_stale') throw new Error(`Reversing a collection met ${conflict.kind}.`)
      collection = (await findCollection(database, id)) ?? collection
      return 'again'
    },
    'balance',
  )
}
