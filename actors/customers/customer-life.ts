/** The addresses of a customer, and its closure. */
import { findAddress, listAddresses } from '../../storage/customers/customer-addresses.ts'
import type { SettingsDeps } from './settings-deps.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type {
  CustomerAddress,
  CustomerAddressCreate,
  CustomerAddressUpdate,
  CustomerClosure,
} from '../../lib/customers/customer-address-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { createAddress, removeAddress, updateAddress } from './customer-addresses.ts'
import { requestClosure, withdrawClosure } from './request-closure.ts'

/** The reads. Null: no such address of the customer. */
export interface CustomerLifeReads {
  listAddresses(customerId: string): Promise<readonly CustomerAddress[]>
  getAddress(customerId: string, id: string): Promise<Versioned<CustomerAddress> | null>
}

/** The writes, for a customer that the caller may access. Every refusal is thrown as a problem. */
export interface CustomerLifeCommands {
  createAddress(
    by: Caller<'person'>,
    customerId: string,
    body: CustomerAddressCreate,
  ): Promise<Versioned<CustomerAddress>>
  updateAddress(
    by: Caller<'person'>,
    customerId: string,
    id: string,
    body: CustomerAddressUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<CustomerAddress>>
  deleteAddress(by: Caller<'person'>, customerId: string, id: string, expected: number | bigint | null): Promise<void>
  /** Requests the closure. From then on the customer's balances take no money in and pay none out. */
  requestClosure(by: Caller<'person'>): Promise<CustomerClosure>
  withdrawClosure(by: Caller<'person'>): Promise<void>
}

/** Creates the reads and commands of addresses and closures. */
export function createCustomerLife(deps: SettingsDeps): {
  readonly reads: CustomerLifeReads
  readonly commands: CustomerLifeCommands
} {
  const { database } = deps
  return {
    reads: {
      listAddresses: async (customerId) => (await listAddresses(database.pool, customerId)).map(({ view }) => view),
      getAddress: (customerId, id) => findAddress(database.pool, customerId, id),
    },
    commands: {
      createAddress: (by, customerId, body) => createAddress(deps, by, customerId, body),
      updateAddress: (by, customerId, id, body, expected) => updateAddress(deps, by, customerId, id, body, expected),
      deleteAddress: (by, customerId, id, expected) => removeAddress(deps, by, customerId, id, expected),
      requestClosure: (by) => requestClosure(deps, by),
      withdrawClosure: (by) => withdrawClosure(deps, by),
    },
  }
}
