/** Reads what the ids of a tenant's resources are. */
import type { IdKind, KindsOfIds } from '../../lib/integration/id-kinds.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

/** Where the resources of a kind are: their table, and the rows that their customer sees. */
const TABLES: Readonly<Record<Exclude<IdKind, 'customer'>, { readonly table: string; readonly seen?: string }>> = {
  balance: { table: 'balance' },
  recipient: { table: 'recipient', seen: `x.status <> 'deleted'` },
  payment: { table: 'payment' },
  transfer: { table: 'transfer' },
  exchange: { table: 'exchange' },
  quote: { table: 'quote' },
  scheduled_payment: { table: 'scheduled_payment' },
  bulk_payment: { table: 'bulk_payment' },
  // Money under review is not shown.
  incoming_payment: { table: 'incoming_payment', seen: 'x.credited_at is not null' },
  incoming_debit: { table: 'incoming_debit' },
  card: { table: 'card' },
  card_transaction: { table: 'card_transaction' },
  mandate: { table: 'mandate' },
  collection: { table: 'collection' },
  funds_request: { table: 'funds_request' },
  approval: { table: 'approval' },
  document: { table: 'document' },
  statement: { table: 'statement' },
  job: { table: 'job' },
  // The transaction of a payment has its id, and may be made only when the payment has ended.
  transaction: {
    table: `(select id, customer_id from account_transaction union select id, customer_id from payment where status = 'processing')`,
  },
}

const OWNED =
  '(x.customer_id = $2 or exists (select from customer c where c.id = x.customer_id and c.operator_id = $2))'

const FIND = `${Object.entries(TABLES)
  .map(
    ([kind, { table, seen = 'true' }], place) =>
      `select ${place} as place, '${kind}' as kind, x.id::text from ${table} x where x.id = any($1::uuid[]) and ${OWNED} and ${seen}`,
  )
  .join(
    '\nunion all\n',
  )}\nunion all\nselect 99, 'customer', x.id::text from customer x where x.id = any($1::uuid[]) and $2 in (x.id, x.operator_id)
order by 1`

/**
 * Finds the kinds of ids among the resources of a tenant: a customer's own, or those of an operator's customers. Ids of
 * others are absent. @throws the driver's errors
 */
export async function findKinds(database: Database, tenantId: string, ids: readonly string[]): Promise<KindsOfIds> {
  const rows = await database.query<[number, IdKind, string]>({
    name: 'id_kinds',
    text: FIND,
    values: [plainArray(ids), tenantId],
  })
  const kinds = new Map<string, IdKind[]>()
  for (const [, kind, id] of rows) kinds.set(id, [...(kinds.get(id) ?? []), kind])
  return kinds
}
