/** The payee's side of payments on the rail `internal`, read before they are booked. */
import type { AccountIdentifiers } from '../../lib/accounts/details.ts'
import { feeRuleOf, type FeeRuleJson } from '../../lib/pricing/fees.ts'
import type { InternalPayee } from '../../lib/payments/payment-state.ts'
import { maskAccountNumber, maskIban } from '../../lib/recipients/masking.ts'
import { Balance } from '../balances/balance-entity.ts'
import { plainArray } from '../db/array-literal.ts'
import { pick } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { expression, from, select } from '../db/select.ts'
import type { InternalAccountCache } from '../journal/internal-account-cache.ts'
import { FEES_OF_BALANCE } from '../pricing/pricing.ts'

const PAYEE = select({
  balanceId: expression<string>('b.id'),
  ...pick(from(Balance, 'b'), ['customerId', 'shard', 'connectionId']),
  payerConnectionId: expression<string>('o.connection_id'),
  endToEndId: expression<string | null>(`t.details->>'endToEndId'`),
})
/** The columns from which members of a payee are computed. */
const TERMS = select({
  paymentId: expression<string>('p.id'),
  operatorId: expression<string>('p.operator_id'),
  currency: expression<string>('p.currency'),
  fees: expression<FeeRuleJson[] | null>(FEES_OF_BALANCE),
  identifiers: expression<AccountIdentifiers | null>('d.identifiers'),
})
const PAYER = select({
  name: expression<string>('c.legal_name'),
  bankName: expression<string | null>('d.bank_name'),
  country: expression<string | null>('d.country'),
})

/** The payer's account is that of the paying balance; account details of the balance's own country come first. */
const PAYEES = `select ${PAYEE.sql}, ${TERMS.sql}, ${PAYER.sql}
  from payment p cross join lateral (select p.details::json as details) t
  join balance b on b.id = (t.details->>'payeeBalanceId')::uuid join customer c on c.id = p.customer_id
  join balance o on o.id = p.paying_balance_id
  left join lateral (select a.identifiers, a.bank_name, a.country from account_details a
    where a.balance_id = p.paying_balance_id and a.status in ('active', 'replaced', 'closing') and not a.shared
    order by a.status = 'active' desc, a.scope = 'local' desc, a.id limit 1) d on true
  where p.id = any($1::uuid[])`

const NO_PAYEES: ReadonlyMap<string, InternalPayee> = new Map()

/**
 * Finds the payees of these payments, by the payments' ids, with the accounts of their cash leg.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function internalPayees(
  database: Pick<Database, 'query'>,
  accounts: Pick<InternalAccountCache, 'accounts'>,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, InternalPayee>> {
  if (paymentIds.length === 0) return NO_PAYEES
  const payees = new Map<string, InternalPayee>()
  for (const row of await database.query({
    name: 'internal_payees',
    text: PAYEES,
    values: [plainArray(paymentIds)],
  })) {
    const { paymentId, operatorId, currency, fees, identifiers } = TERMS.read(row, PAYEE.width)
    const payer = PAYER.read(row, PAYEE.width + TERMS.width)
    const payee = PAYEE.read(row)
    const { connectionId: to, payerConnectionId: from } = payee
    const at = (connectionId: string) => accounts.accounts({ operatorId, connectionId, currency })
    payees.set(paymentId, {
      ...payee,
      cash: from === to ? null : { from: await at(from), to: await at(to) },
      fees: fees?.map(feeRuleOf) ?? [],
      payer: { ...payer, maskedIdentifier: maskedOf(identifiers) },
    })
  }
  return payees
}

function maskedOf(identifiers: AccountIdentifiers | null): string | null {
  if (identifiers === null) return null
  if (identifiers.iban !== null) return maskIban(identifiers.iban)
  const number = identifiers.accountNumber ?? identifiers.clabe
  return number === null ? null : maskAccountNumber(number)
}
