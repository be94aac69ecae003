/** The parties of payments, read for the partners that need them. */
import type { AccountIdentifiers } from '../../lib/accounts/details.ts'
import type { PaymentParties } from '../../lib/providers/parties.ts'
import type { ChargeBearer } from '../../lib/rails/rails.ts'
import type { BankValues } from '../../lib/recipients/bank-checks.ts'
import type { KeptAddress } from '../../lib/recipients/validation.ts'
import { plainArray } from '../db/array-literal.ts'
import { expression, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'

const PARTIES = select({
  paymentId: expression<string>('p.id'),
  debtorName: expression<string>('c.legal_name'),
  debtorAddress: expression<KeptAddress | null>('h.address'),
  debtorAccount: expression<AccountIdentifiers | null>('d.identifiers'),
  creditorName: expression<string>(`t.details->'recipient'->>'name'`),
  creditorType: expression<'business' | 'individual'>('r.type'),
  creditorAddress: expression<KeptAddress | null>('r.address'),
  bankCountry: expression<string>('r.bank_country'),
  bank: expression<Readonly<Record<string, string | KeptAddress | null>>>('r.bank'),
  endToEndId: expression<string>(`t.details->>'endToEndId'`),
  uetr: expression<string | null>(`t.details->>'uetr'`),
  purposeCode: expression<string | null>(`t.details->>'purposeCode'`),
  purpose: expression<string | null>(`t.details->>'purpose'`),
  chargeBearer: expression<ChargeBearer>(`t.details->>'chargeBearer'`),
  executionDate: expression<string>(`to_char(p.execution_date, 'YYYY-MM-DD')`),
  bulkPaymentId: expression<string | null>(`t.details->'bulk'->>'bulkPaymentId'`),
})

/** Of the balance's accounts at the connection, one of its own country comes first. */
const READ = `select ${PARTIES.sql}
  from payment p cross join lateral (select p.details::json as details) t
  join customer c on c.id = p.customer_id join recipient r on r.id = p.recipient_id
  left join customer_address h on h.customer_id = c.id and h.kind = 'registered'
  left join lateral (select a.identifiers from account_details a
    where a.balance_id = p.paying_balance_id and a.connection_id = p.connection_id and a.status = 'active' and not a.shared
    order by a.scope = 'local' desc, a.id limit 1) d on true
  where p.id = any($1::uuid[])`

/**
 * Reads the parties of payments, by the payments' ids. Payments that do not exist are absent.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function partiesOfPayments(
  database: Queries,
  paymentIds: readonly string[],
): Promise<ReadonlyMap<string, PaymentParties>> {
  const rows = await database.query({ name: 'parties_of_payments', text: READ, values: [plainArray(paymentIds)] })
  return new Map(rows.map((row) => partiesOf(PARTIES.read(row))))
}

function partiesOf(row: ReturnType<typeof PARTIES.read>): [paymentId: string, PaymentParties] {
  const { paymentId, debtorName, debtorAddress, debtorAccount, creditorName, creditorType, creditorAddress } = row
  const { bankCountry, bank, endToEndId, uetr, purposeCode, purpose, chargeBearer, executionDate, bulkPaymentId } = row
  const { bankAddress = null, ...account } = bank
  return [
    paymentId,
    {
      debtor: {
        name: debtorName,
        address: debtorAddress,
        account: debtorAccount === null ? null : withoutNulls(debtorAccount),
      },
      creditor: {
        name: creditorName,
        type: creditorType,
        address: creditorAddress,
        bankCountry,
        account: withoutNulls(account),
        bankAddress: typeof bankAddress === 'object' ? bankAddress : null,
      },
      endToEndId,
      uetr,
      purposeCode,
      purpose,
      chargeBearer,
      executionDate,
      bulkPaymentId,
    },
  ]
}

/** Members without a value are left out. */
const withoutNulls = (members: object): BankValues =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
