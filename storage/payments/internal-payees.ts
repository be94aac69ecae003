/** The payee's side of payments on the rail `internal`, read before they are booked. */
import type { AccountIdentifiers } from '../../lib/accounts/details.ts'
import { feeRuleOf, type FeeRuleJson } from '../../lib/pricing/fees.ts'
import type { InternalPayee } from '../../lib/payments/payment-state.ts'
import { maskAccountNumber, maskIban } from '../../lib/recipients/masking.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import { FEES_OF_BALANCE } from '../pricing/pricing.ts'

type Row = [
  string,
  string,
  string,
  number,
  string,
  FeeRuleJson[] | null,
  string,
  string | null,
  AccountIdentifiers | null,
  string | null,
  string | null,
]

/** The payer's account is that of the paying balance; account details of the balance's own country come first. */
const PAYEES = `select p.id, b.id, b.customer_id, b.shard, b.connection_id, ${FEES_OF_BALANCE}, c.legal_name, t.details->>'endToEndId', d.identifiers, d.bank_name, d.country
  from payment p cross join lateral (select p.details::json as details) t
  join balance b on b.id = (t.details->>'payeeBalanceId')::uuid join customer c on c.id = p.customer_id
  left join lateral (select a.identifiers, a.bank_name, a.country from account_details a
    where a.balance_id = p.paying_balance_id and a.status in ('active', 'replaced', 'closing') and not a.shared
    order by a.status = 'active' desc, a.scope = 'local' desc, a.id limit 1) d on true
  where p.id = any($1::uuid[])`

/**
 * Finds the payees of these payments, by the payments' ids.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function internalPayees(
  database: Pick<Database, 'query'>,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, InternalPayee>> {
  const rows = await database.query<Row>({ name: 'internal_payees', text: PAYEES, values: [plainArray(paymentIds)] })
  return new Map(
    rows.map(
      ([
        paymentId,
        balanceId,
        customerId,
        shard,
        connectionId,
        fees,
        name,
        endToEndId,
        identifiers,
        bankName,
        country,
      ]): [string, InternalPayee] => [
        paymentId,
        {
          balanceId,
          customerId,
          shard,
          connectionId,
          fees: fees?.map(feeRuleOf) ?? [],
          endToEndId,
          payer: { name, maskedIdentifier: maskedOf(identifiers), bankName, country },
        },
      ],
    ),
  )
}

function maskedOf(identifiers: AccountIdentifiers | null): string | null {
  if (identifiers === null) return null
  if (identifiers.iban !== null) return maskIban(identifiers.iban)
  const number = identifiers.accountNumber ?? identifiers.clabe
  return number === null ? null : maskAccountNumber(number)
}
