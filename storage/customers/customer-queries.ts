/** Customers as the API shows them to their operator. */
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import type { AccessStatus, IdentityType, RiskRating } from '../../lib/customers/customer.ts'
import type { Customer } from '../../lib/customers/customer-schema.ts'
import { shownStatus, type LifeStatus, type MeasureTaken } from '../../lib/customers/status.ts'
import type { CustomerType } from '../../lib/customers/types.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { Conditions, EMPTY, readPage, type Branch, type Order, type ReadDatabase, type TimeTo } from '../db/page.ts'
import type { StatementRunner } from '../db/entity-driver.ts'

export interface CustomerFilters {
  readonly status?: readonly string[]
  readonly measure?: readonly string[]
  readonly customerType?: readonly string[]
  readonly identityType?: readonly string[]
  readonly accessStatus?: readonly string[]
  readonly risk?: readonly string[]
  readonly country?: readonly string[]
  readonly number?: readonly string[]
  readonly approvedFrom?: string
  readonly approvedTo?: TimeTo
  readonly id?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

export type CustomerSort = '-createdAt' | 'legalName'
export type CustomerListQuery = RowQuery<CustomerFilters, CustomerSort>

interface CustomerRow {
  readonly id: string
  readonly operator_id: string
  readonly number: string
  readonly legal_name: string
  readonly trading_name: string | null
  readonly identity_type: IdentityType
  readonly registration_number: string | null
  readonly incorporation_country: string
  readonly incorporation_date: string | null
  readonly status: LifeStatus
  readonly measure: MeasureTaken | null
  readonly risk: RiskRating | null
  readonly approved_ms: number | null
  readonly closed_ms: number | null
  readonly created_ms: number
  readonly updated_ms: number
  readonly customer_type: CustomerType
  readonly metadata: Readonly<Record<string, string>>
  readonly access_status: AccessStatus
  readonly version: string
}

/** SQL of the access of the customer `c`: whether an owner can sign in, and else how far the invitation has come. */
const ACCESS = `case
    when exists (select from membership m where m.tenant_id = c.id and m.role = 'owner' and m.status = 'active') then 'active'
    when exists (select from membership m where m.tenant_id = c.id and m.status <> 'removed') then 'locked'
    when exists (select from invitation i where i.customer_id = c.id and i.status in ('pending', 'expired')) then 'invited'
    else 'not_invited' end`

const ms = (column: string, name: string) => `(extract(epoch from c.${column}) * 1000)::float8 as ${name}`

const COLUMNS = `c.id, c.operator_id, c.number, c.legal_name, c.trading_name, c.identity_type, c.registration_number, c.incorporation_country,
  to_char(c.incorporation_date, 'YYYY-MM-DD') as incorporation_date, c.status, c.measure, c.risk, c.customer_type, c.metadata, c.version, ${ACCESS} as access_status,
  ${ms('approved_at', 'approved_ms')}, ${ms('closed_at', 'closed_ms')}, ${ms('created_at', 'created_ms')}, ${ms('updated_at', 'updated_ms')}`

const ORDERS: Readonly<Record<CustomerSort, Order>> = {
  '-createdAt': { keys: [{ expression: sql`c.id`, type: 'uuid' }], descending: true },
  legalName: {
    keys: [
      { expression: sql`lower(c.legal_name)`, type: 'text' },
      { expression: sql`c.id`, type: 'uuid' },
    ],
    descending: false,
  },
}

/** The status that the API shows (`shownStatus`), as a column. */
const SHOWN_STATUS = sql`(case when c.status = 'active' then coalesce(c.measure, c.status) else c.status end)`

/** The searched text, written as in the index. */
const SEARCHED = sql`c.legal_name || ' ' || coalesce(c.trading_name, '') || ' ' || c.number || ' ' || coalesce(c.registration_number, '')`

/** Lists the customers of an operator. A customer has none of its own. @throws the driver's errors */
export async function listCustomers(db: ReadDatabase, query: CustomerListQuery): Promise<ListResult<Customer>> {
  if (query.tenant.kind !== 'operator') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const { rows, ...page } = await readPage<CustomerRow>(db, [branchOf(query)], query)
  return { ...page, rows: rows.map(customerJson) }
}

function branchOf({ tenant, filters, metadata, sort, q }: CustomerListQuery): Branch {
  const where = new Conditions()
    .add(sql`c.operator_id = ${tenant.id}::uuid`)
    .anyOf(SHOWN_STATUS, filters.status, 'text')
    .anyOf(sql`c.measure`, filters.measure, 'text')
    .anyOf(sql`c.customer_type`, filters.customerType, 'text')
    .anyOf(sql`c.identity_type`, filters.identityType, 'text')
    .anyOf(sql`(${sql.raw(ACCESS)})`, filters.accessStatus, 'text')
    .anyOf(sql`c.risk`, filters.risk, 'text')
    .anyOf(sql`c.incorporation_country`, filters.country, 'bpchar')
    .anyOf(sql`c.number`, filters.number, 'text')
    .anyOf(sql`c.id`, filters.id, 'uuid')
    .during(sql`c.approved_at`, filters.approvedFrom, filters.approvedTo)
    .created('c', filters.createdFrom, filters.createdTo)
    .metadata(sql`c.metadata`, metadata)
  if (q !== null) where.add(sql`search_words(c.operator_id, ${SEARCHED}) @@ search_query(${tenant.id}::uuid, ${q})`)
  return { columns: sql.raw(COLUMNS), from: sql`customer c`, where: where.list, order: ORDERS[sort] }
}

/** Reads a customer with its version; null when it does not exist. @throws the driver's errors */
export async function readCustomer(client: StatementRunner, id: string): Promise<Versioned<Customer> | null> {
  const {
    rows: [row],
  } = (await client.query({
    name: 'read_customer',
    text: `select ${COLUMNS} from customer c where c.id = $1`,
    values: [id],
  })) as { rows: CustomerRow[] }
  return row === undefined ? null : { version: BigInt(row.version), view: customerJson(row) }
}

/** Orders the fields as the contract does. */
function customerJson(row: CustomerRow): Customer {
  const at = (time: number | null) => (time === null ? null : timestamp(time))
  return {
    id: row.id,
    operatorId: row.operator_id,
    number: row.number,
    legalName: row.legal_name,
    tradingName: row.trading_name,
    identityType: row.identity_type,
    registrationNumber: row.registration_number,
    incorporationCountry: row.incorporation_country,
    incorporationDate: row.incorporation_date,
    status: shownStatus({ customerStatus: row.status, customerMeasure: row.measure }),
    risk: row.risk,
    approvedAt: at(row.approved_ms),
    closedAt: at(row.closed_ms),
    createdAt: timestamp(row.created_ms),
    updatedAt: timestamp(row.updated_ms),
    customerType: row.customer_type,
    metadata: row.metadata,
    accessStatus: row.access_status,
    measure: row.measure,
  }
}
