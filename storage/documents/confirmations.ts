/** Payment confirmations as they were first rendered, and the paying party that they show. */
import { timestamp } from '../../lib/base/clock.ts'
import type { ConfirmationParty } from '../../lib/documents/confirmation-page.ts'
import { accountDetailsOf } from '../accounts/account-details.ts'
import type { Database } from '../db/database.ts'
import { expression, select } from '../db/select.ts'

/** Finds the confirmation of one version of an object; null while none was requested. @throws the driver's errors */
export async function findConfirmation(
  database: Database,
  objectId: string,
  version: number,
): Promise<Uint8Array | null> {
  const {
    rows: [row],
  } = await database.pool.query<{ pdf: Buffer }>({
    name: 'find_confirmation',
    text: 'select pdf from confirmation where object_id = $1 and version = $2',
    values: [objectId, version],
  })
  return row?.pdf ?? null
}

/** Stores a confirmation, unless another node was first. @returns the stored one */
export async function keepConfirmation(
  database: Database,
  {
    objectId,
    version,
    customerId,
    now,
  }: { readonly objectId: string; readonly version: number; readonly customerId: string; readonly now: number },
  pdf: Uint8Array,
): Promise<Uint8Array> {
  await database.pool.query({
    name: 'keep_confirmation',
    text: 'insert into confirmation (object_id, version, customer_id, pdf, created_at) values ($1, $2, $3, $4, $5) on conflict do nothing',
    values: [objectId, version, customerId, Buffer.from(pdf), timestamp(now)],
  })
  return (await findConfirmation(database, objectId, version)) ?? pdf
}

const PARTY = select({
  operatorName: expression<string>('o.name'),
  customerName: expression<string>('c.legal_name'),
  accountName: expression<string>('b.name'),
  timezone: expression<string>(
    `coalesce((select s.value->>'timezone' from setting s where s.owner_id = c.id and s.name = 'preferences'), 'UTC')`,
  ),
})

/** Reads the operator and the customer of a balance. */
export async function partyOf(database: Database, balanceId: string): Promise<ConfirmationParty> {
  const [row] = await database.query({
    name: 'confirmation_party',
    values: [balanceId],
    text: `select ${PARTY.sql}
      from balance b join customer c on c.id = b.customer_id join operator o on o.id = b.operator_id where b.id = $1`,
  })
  if (row === undefined) throw new Error(`The balance ${balanceId} has vanished.`)
  const party = PARTY.read(row)
  const details = (await accountDetailsOf(database, [balanceId]))
    .get(balanceId)
    ?.find(({ status, shared }) => status === 'active' && !shared)
  return {
    ...party,
    account: details?.iban ?? details?.accountNumber ?? null,
  }
}
