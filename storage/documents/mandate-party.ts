/** The customer of a mandate, as the form of the mandate names it. */
import type { Static } from 'typebox'
import type { Address } from '../../lib/contract/address.ts'
import { accountDetailsOf } from '../accounts/account-details.ts'
import type { Database } from '../db/database.ts'
import { expression, select } from '../db/select.ts'

export interface MandateCustomer {
  readonly operatorName: string
  readonly customerName: string
  /** Null: no registered address is known. */
  readonly address: Static<typeof Address> | null
  /** IBAN or account number of the balance; null when it has neither. */
  readonly account: { readonly iban: string } | { readonly accountNumber: string } | null
}

const PARTY = select({
  operatorName: expression<string>('o.name'),
  customerName: expression<string>('c.legal_name'),
  address: expression<string | null>('a.address::text'),
})

/** Reads the customer of a balance. @throws Error when the balance does not exist, and the driver's errors */
export async function mandateCustomer(database: Database, balanceId: string): Promise<MandateCustomer> {
  const [row] = await database.query({
    name: 'mandate_customer',
    values: [balanceId],
    text: `select ${PARTY.sql} from balance b join customer c on c.id = b.customer_id join operator o on o.id = b.operator_id
      left join customer_address a on a.customer_id = c.id and a.kind = 'registered' where b.id = $1`,
  })
  if (row === undefined) throw new Error(`The balance ${balanceId} has vanished.`)
  const { address, ...party } = PARTY.read(row)
  const details = (await accountDetailsOf(database, [balanceId]))
    .get(balanceId)
    ?.find(({ status, shared }) => status === 'active' && !shared)
  const iban = details?.iban ?? null
  const accountNumber = details?.accountNumber ?? null
  return {
    ...party,
    address: address === null ? null : (JSON.parse(address) as Static<typeof Address>),
    account: iban !== null ? { iban } : accountNumber !== null ? { accountNumber } : null,
  }
}
