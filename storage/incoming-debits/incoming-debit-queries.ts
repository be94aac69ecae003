/** Incoming debits and the controls of balances, as their customers see them. */
import { sql } from 'kysely'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { incomingDebitJson } from '../../lib/incoming-debits/incoming-debit.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import { Conditions, EMPTY, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { INCOMING_DEBIT } from './incoming-debits.ts'

export interface IncomingDebitFilters {
  readonly status?: readonly string[]
  readonly balanceId?: readonly string[]
  readonly scheme?: readonly string[]
  readonly currency?: readonly string[]
  readonly creditorId?: readonly string[]
  readonly receivedFrom?: string
  readonly receivedTo?: TimeTo
}

export type IncomingDebitListQuery = RowQuery<IncomingDebitFilters, '-receivedAt' | 'receivedAt'>

const COLUMNS = sql.raw(INCOMING_DEBIT.named)

/** Orders by arrival: ids of debits are the bank's, and do not ascend with time. */
const byArrival = (descending: boolean): Order => ({
  keys: [
    { expression: sql`d.received_at`, type: 'timestamptz' },
    { expression: sql`d.id`, type: 'uuid' },
  ],
  descending,
})

/** Lists the debits of a customer. Operators have none of their own. */
export async function listIncomingDebits(
  db: ReadDatabase,
  query: IncomingDebitListQuery,
): Promise<ListResult<ReturnType<typeof incomingDebitJson>>> {
  if (query.tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<object>(db, [incomingDebitBranch(query)], query)
  return { ...page, rows: rows.map((row) => incomingDebitJson(INCOMING_DEBIT.readNamed(row))) }
}

/** The FROM and WHERE of a list. */
export function incomingDebitBranch({ tenant, filters, sort }: IncomingDebitListQuery): Branch {
  const where = new Conditions()
    .add(sql`d.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`d.status`, filters.status, 'text')
    .anyOf(sql`d.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`d.scheme`, filters.scheme, 'text')
    .anyOf(sql`d.currency`, filters.currency, 'bpchar')
    .anyOf(sql`d.creditor_id`, filters.creditorId, 'text')
    .during(sql`d.received_at`, filters.receivedFrom, filters.receivedTo)
  return {
    columns: COLUMNS,
    from: sql`incoming_debit d`,
    where: where.list,
    order: byArrival(sort === '-receivedAt'),
  }
}

/** Reads one debit of a customer with its version; null when it is not the tenant's. */
export async function getIncomingDebit(client: StatementRunner, tenant: Tenant, id: string) {
  if (tenant.kind !== 'customer') return null
  const {
    rows: [row],
  } = await client.query<object>({
    name: 'get_incoming_debit',
    values: [id, tenant.id],
    text: `select ${INCOMING_DEBIT.named} from incoming_debit d where d.id = $1 and d.customer_id = $2`,
  })
  if (row === undefined) return null
  const record = INCOMING_DEBIT.readNamed(row)
  return { version: record.version, view: incomingDebitJson(record) }
}
