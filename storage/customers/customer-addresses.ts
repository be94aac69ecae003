/** The addresses of a customer. */
import type { InferEntity } from '@mikro-orm/core'
import { timestamp } from '../../lib/base/clock.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { CustomerAddress as AddressView } from '../../lib/customers/customer-address-schema.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { CustomerAddress } from './customer-address-entity.ts'

const record = ({
  version,
  createdAt,
  updatedAt,
  ...row
}: InferEntity<typeof CustomerAddress>): Versioned<AddressView> => ({
  version,
  view: {
    id: row.id,
    customerId: row.customerId,
    kind: row.kind,
    address: row.address,
    createdAt: timestamp(createdAt),
    updatedAt: timestamp(updatedAt),
  },
})

/** Lists all addresses of a customer, oldest first; there are few. */
export async function listAddresses(
  client: StatementRunner,
  customerId: string,
): Promise<readonly Versioned<AddressView>[]> {
  return (await entitiesOf(client, { customerId }).find(CustomerAddress, {}, { id: 'asc' })).map(record)
}

/** Finds one address of a customer. */
export async function findAddress(
  client: StatementRunner,
  customerId: string,
  id: string,
): Promise<Versioned<AddressView> | null> {
  const found = await entitiesOf(client, { customerId }).findOne(CustomerAddress, { id })
  return found === null ? null : record(found)
}

/** The new text of an address. `now` is epoch milliseconds. */
interface AddressChange extends Pick<AddressView, 'id' | 'customerId' | 'kind' | 'address'> {
  readonly now: number
}

export async function insertAddress(client: TransactionClient, { now, ...address }: AddressChange): Promise<void> {
  const { customerId } = address
  await entitiesOf(client, { customerId }).insert(CustomerAddress, { ...address, createdAt: now, updatedAt: now })
}

/**
 * Writes the new kind and text of an address that this transaction has read.
 *
 * @throws ProblemError `precondition-failed` when another transaction has changed it since
 */
export async function updateAddress(
  client: TransactionClient,
  { id, customerId, kind, address, now }: AddressChange,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  Object.assign(await rows.get(CustomerAddress, id), { kind, address, updatedAt: now })
  await rows.save()
}

/** Deletes an address that this transaction has read. */
export async function deleteAddress(client: TransactionClient, customerId: string, id: string): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  await rows.remove(await rows.get(CustomerAddress, id))
}
