/** The addresses of a customer, as rows. */
import { timestamp } from '../../lib/base/clock.ts'
import type { TransactionClient } from '../db/transaction.ts'

export type AddressKind = 'registered' | 'operating' | 'correspondence'

/** An address as the API shows it, with its version. */
export interface AddressRecord<Address = object> {
  readonly version: number
  readonly view: {
    readonly id: string
    readonly customerId: string
    readonly kind: AddressKind
    readonly address: Address
    readonly createdAt: string
    readonly updatedAt: string
  }
}

interface AddressRow {
  readonly id: string
  readonly customer_id: string
  readonly kind: AddressKind
  readonly address: object
  readonly version: number
  readonly created_ms: number
  readonly updated_ms: number
}

const SELECT = `select id, customer_id, kind, address, version, (extract(epoch from created_at) * 1000)::float8 as created_ms, (extract(epoch from updated_at) * 1000)::float8 as updated_ms from customer_address`

function record<Address>(row: AddressRow): AddressRecord<Address> {
  return {
    version: row.version,
    view: {
      id: row.id,
      customerId: row.customer_id,
      kind: row.kind,
      address: row.address as Address,
      createdAt: timestamp(row.created_ms),
      updatedAt: timestamp(row.updated_ms),
    },
  }
}

type Client = Pick<TransactionClient, 'query'>

/** Lists all addresses of a customer, oldest first; there are few. */
export async function listAddresses<Address>(
  client: Client,
  customerId: string,
): Promise<readonly AddressRecord<Address>[]> {
  const { rows } = await client.query<AddressRow>({
    name: 'list_addresses',
    text: `${SELECT} where customer_id = $1 order by id`,
    values: [customerId],
  })
  return rows.map((row) => record<Address>(row))
}

/** Finds one address; `lock` locks its row until the transaction ends. */
export async function findAddress<Address>(
  client: Client,
  customerId: string,
  id: string,
  lock = false,
): Promise<AddressRecord<Address> | null> {
  const {
    rows: [row],
  } = await client.query<AddressRow>({
    name: lock ? 'lock_address' : 'find_address',
    text: `${SELECT} where customer_id = $1 and id = $2${lock ? ' for update' : ''}`,
    values: [customerId, id],
  })
  return row === undefined ? null : record<Address>(row)
}

export async function writeAddress(
  client: Client,
  {
    id,
    customerId,
    kind,
    address,
    now,
  }: {
    readonly id: string
    readonly customerId: string
    readonly kind: AddressKind
    readonly address: object
    readonly now: number
  },
): Promise<void> {
  await client.query({
    name: 'write_address',
    text: `insert into customer_address (id, customer_id, kind, address, version, created_at, updated_at) values ($1, $2, $3, $4, 1, $5, $5)
      on conflict (id) do update set kind = excluded.kind, address = excluded.address, version = customer_address.version + 1, updated_at = excluded.updated_at`,
    values: [id, customerId, kind, JSON.stringify(address), timestamp(now)],
  })
}

export async function deleteAddress(client: Client, id: string): Promise<void> {
  await client.query({ name: 'delete_address', text: 'delete from customer_address where id = $1', values: [id] })
}
