/** The addresses of a customer, and its closure. */
import { refuse } from '../../lib/base/problems.ts'
import { tellCustomerStatus } from './closures.ts'
import {
  deleteClosure,
  insertClosure,
  lockCustomer,
  moveCustomer,
  openBusiness,
} from '../../storage/balances/closure.ts'
import { deleteAddress, findAddress, listAddresses, writeAddress } from '../../storage/customers/customer-addresses.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import type { SettingsDeps } from './settings-deps.ts'
import type { ByInTenant } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type {
  CustomerAddress,
  CustomerAddressCreate,
  CustomerAddressUpdate,
  CustomerClosure,
} from '../../lib/customers/customer-address-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'

/** The maximum number of addresses of one customer. */
const ADDRESSES_MAX = 20

/** The optional members of an address, with their defaults. */
const NOTHING_SAID = { line2: null, buildingNumber: null, postalCode: null, state: null }

type Expected = number | bigint | null

/** The reads. Null: no such address of the customer. */
export interface CustomerLifeReads {
  listAddresses(customerId: string): Promise<readonly CustomerAddress[]>
  getAddress(customerId: string, id: string): Promise<Versioned<CustomerAddress> | null>
}

/** The writes, for a customer that the caller may access. Every refusal is thrown as a problem. */
export interface CustomerLifeCommands {
  createAddress(by: ByInTenant, customerId: string, body: CustomerAddressCreate): Promise<Versioned<CustomerAddress>>
  updateAddress(
    by: ByInTenant,
    customerId: string,
    id: string,
    body: CustomerAddressUpdate,
    expected: Expected,
  ): Promise<Versioned<CustomerAddress>>
  deleteAddress(by: ByInTenant, customerId: string, id: string, expected: Expected): Promise<void>
  /** Requests the closure. From then on the customer's balances take no money in and pay none out. */
  requestClosure(by: ByInTenant): Promise<CustomerClosure>
  withdrawClosure(by: ByInTenant): Promise<void>
}

const gone = (): never => refuse('not-found', 'No such resource exists in this tenant.')

export function createCustomerLife({ database, clock, ids }: SettingsDeps): {
  readonly reads: CustomerLifeReads
  readonly commands: CustomerLifeCommands
} {
  async function changing<Result>(
    by: ByInTenant,
    customerId: string,
    work: (
      client: TransactionClient,
      now: number,
      trail: (
        action: string,
        object: { readonly type: string; readonly id: string },
        before: object | null,
        after: object | null,
      ) => Promise<void>,
    ) => Promise<Result>,
  ): Promise<Result> {
    return await inTransaction(database, async (client) => {
      const now = clock.now()
      // Changes of one customer run one after another, under the customer's lock.
      if ((await lockCustomer(client, customerId)) === null) gone()
      return await work(client, now, (action, object, before, after) =>
        writeAudit(client, {
          ...auditCaller(by),
          id: ids.next(),
          tenantId: customerId,
          at: now,
          action,
          object,
          before,
          after,
        }),
      )
    })
  }

  /** Checks that a customer has only one registered address. */
  async function checkKind(
    client: TransactionClient,
    customerId: string,
    id: string,
    kind: CustomerAddress['kind'],
  ): Promise<void> {
    if (kind !== 'registered') return
    const others = (await listAddresses(client, customerId)).filter(
      ({ view }) => view.kind === 'registered' && view.id !== id,
    )
    if (others.length === 0) return
    const message = 'There is a registered address already; change that one.'
    refuse('validation-error', message, { errors: [{ field: '/kind', code: 'invalid_value', message }] })
  }

  async function reread(customerId: string, id: string): Promise<Versioned<CustomerAddress>> {
    return (await findAddress<CustomerAddress['address']>(database.pool, customerId, id)) ?? gone()
  }

  return {
    reads: {
      listAddresses: async (customerId) =>
        (await listAddresses<CustomerAddress['address']>(database.pool, customerId)).map(({ view }) => view),
      getAddress: (customerId, id) => findAddress<CustomerAddress['address']>(database.pool, customerId, id),
    },
    commands: {
      async createAddress(by, customerId, { kind, address: given }) {
        const address = { ...NOTHING_SAID, ...given }
        const id = ids.next()
        await changing(by, customerId, async (client, now, trail) => {
          if ((await listAddresses(client, customerId)).length >= ADDRESSES_MAX) {
            refuse('limit-reached', `A customer has at most ${ADDRESSES_MAX} addresses.`, {
              extra: { limit: ADDRESSES_MAX, resource: 'customer_address' },
            })
          }
          await checkKind(client, customerId, id, kind)
          await writeAddress(client, { id, customerId, kind, address, now })
          await trail('customer_address.created', { type: 'customer_address', id }, null, { kind, address })
        })
        return await reread(customerId, id)
      },
      async updateAddress(by, customerId, id, body, expected) {
        await changing(by, customerId, async (client, now, trail) => {
          const { version, view } =
            (await findAddress<CustomerAddress['address']>(client, customerId, id, true)) ?? gone()
          if (expected !== null && BigInt(expected) !== BigInt(version))
            refuse('precondition-failed', 'The address has changed since it was read.')
          const { kind = view.kind } = body
          const address = body.address === undefined ? view.address : { ...NOTHING_SAID, ...body.address }
          await checkKind(client, customerId, id, kind)
          await writeAddress(client, { id, customerId, kind, address, now })
          await trail(
            'customer_address.updated',
            { type: 'customer_address', id },
            { kind: view.kind, address: view.address },
            { kind, address },
          )
        })
        return await reread(customerId, id)
      },
      async deleteAddress(by, customerId, id, expected) {
        await changing(by, customerId, async (client, _now, trail) => {
          const { version, view } = (await findAddress(client, customerId, id, true)) ?? gone()
          if (expected !== null && BigInt(expected) !== BigInt(version))
            refuse('precondition-failed', 'The address has changed since it was read.')
          await deleteAddress(client, id)
          await trail(
            'customer_address.deleted',
            { type: 'customer_address', id },
            { kind: view.kind, address: view.address },
            null,
          )
        })
      },
      async requestClosure(by) {
        const customerId = by.tenant.id
        await inTransaction(database, async (client) => {
          const now = clock.now()
          const status = await lockCustomer(client, customerId)
          if (status !== 'active' && status !== 'restricted') {
            refuse('invalid-transition', `The customer is ${status}.`, {
              extra: { currentStatus: status, allowed: status === 'closing' ? ['active'] : [] },
            })
          }
          await moveCustomer(client, customerId, { from: 'active', to: 'closing', now })
          const { payments, transfers, exchanges } = await openBusiness(client, customerId)
          if (payments > 0)
            refuse('invalid-transition', `${payments} payments are under way; wait for them or cancel them first.`, {
              extra: { currentStatus: status, allowed: [] },
            })
          if (transfers > 0)
            refuse('invalid-transition', `${transfers} transfers are under way.`, {
              extra: { currentStatus: status, allowed: [] },
            })
          if (exchanges > 0)
            refuse('invalid-transition', `${exchanges} exchanges or contracts are not over.`, {
              extra: { currentStatus: status, allowed: [] },
            })
          await insertClosure(client, { customerId, by: by.session.userId, now })
          await tellCustomerStatus(client, {
            customerId,
            status: 'closing',
            previousStatus: status,
            id: ids.next(),
            now,
          })
          await writeAudit(client, {
            ...auditCaller(by),
            id: ids.next(),
            tenantId: customerId,
            at: now,
            action: 'closure.requested',
            object: { type: 'customer', id: customerId },
            before: { status },
            after: { status: 'closing' },
          })
        })
        return { customerId, status: 'closing' }
      },
      async withdrawClosure(by) {
        const customerId = by.tenant.id
        await inTransaction(database, async (client) => {
          const now = clock.now()
          const status = await lockCustomer(client, customerId)
          if (status !== 'closing')
            refuse('invalid-transition', `The customer is ${status}.`, {
              extra: { currentStatus: status, allowed: [] },
            })
          if (await deleteClosure(client, customerId))
            refuse('invalid-transition', 'The accounts of the customer are being closed.', {
              extra: { currentStatus: status, allowed: [] },
            })
          await moveCustomer(client, customerId, { from: 'closing', to: 'active', now })
          await tellCustomerStatus(client, {
            customerId,
            status: 'active',
            previousStatus: status,
            id: ids.next(),
            now,
          })
          await writeAudit(client, {
            ...auditCaller(by),
            id: ids.next(),
            tenantId: customerId,
            at: now,
            action: 'closure.withdrawn',
            object: { type: 'customer', id: customerId },
            before: { status },
            after: { status: 'active' },
          })
        })
      },
    },
  }
}
