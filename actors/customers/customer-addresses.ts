/** The addresses of a customer: at most one of them is the registered address. */
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { completeAddress } from '../../lib/contract/address.ts'
import { lockCustomer } from '../../storage/balances/closure.ts'
import * as rows from '../../storage/customers/customer-addresses.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { SettingsDeps } from './settings-deps.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type {
  CustomerAddress,
  CustomerAddressCreate,
  CustomerAddressUpdate,
} from '../../lib/customers/customer-address-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { recordChange, runChange, type ChangeTransaction } from '../commands/changes.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** The maximum number of addresses of one customer. */
const ADDRESSES_MAX = 20

/** Adds an address to a customer. @throws ProblemError `limit-reached`, `validation-error` */
export async function createAddress(
  deps: SettingsDeps,
  by: Caller<'person'>,
  customerId: string,
  { kind, address: given }: CustomerAddressCreate,
): Promise<Versioned<CustomerAddress>> {
  const address = completeAddress(given)
  const id = deps.ids.next()
  await changeCustomer(deps, customerId, async (tx) => {
    const { client, now } = tx
    if ((await rows.listAddresses(client, customerId)).length >= ADDRESSES_MAX) {
      refuse('limit-reached', `A customer has at most ${ADDRESSES_MAX} addresses.`, {
        extra: { limit: ADDRESSES_MAX, resource: 'customer_address' },
      })
    }
    await checkKind(client, customerId, id, kind)
    await rows.insertAddress(client, { id, customerId, kind, address, now })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'customer_address.created',
      object: { type: 'customer_address', id },
      before: null,
      after: { kind, address },
    })
  })
  return await rereadAddress(deps, customerId, id)
}

/**
 * Replaces the kind or the text of an address.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`
 */
export async function updateAddress(
  deps: SettingsDeps,
  by: Caller<'person'>,
  customerId: string,
  id: string,
  body: CustomerAddressUpdate,
  expected: number | bigint | null,
): Promise<Versioned<CustomerAddress>> {
  await changeCustomer(deps, customerId, async (tx) => {
    const { client, now } = tx
    const view = await readAddress(client, customerId, id, expected)
    const { kind = view.kind } = body
    const address = body.address === undefined ? view.address : completeAddress(body.address)
    await checkKind(client, customerId, id, kind)
    await rows.updateAddress(client, { id, customerId, kind, address, now })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'customer_address.updated',
      object: { type: 'customer_address', id },
      before: { kind: view.kind, address: view.address },
      after: { kind, address },
    })
  })
  return await rereadAddress(deps, customerId, id)
}

/** Deletes an address. @throws ProblemError `not-found`, `precondition-failed` */
export async function removeAddress(
  deps: SettingsDeps,
  by: Caller<'person'>,
  customerId: string,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  await changeCustomer(deps, customerId, async (tx) => {
    const { client } = tx
    const view = await readAddress(client, customerId, id, expected)
    await rows.deleteAddress(client, customerId, id)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'customer_address.deleted',
      object: { type: 'customer_address', id },
      before: { kind: view.kind, address: view.address },
      after: null,
    })
  })
}

/** Runs one change of a customer at a time, under the customer's lock. @throws ProblemError `not-found` */
async function changeCustomer(
  deps: SettingsDeps,
  customerId: string,
  work: (tx: ChangeTransaction) => Promise<void>,
): Promise<void> {
  await runChange(deps, async (tx) => {
    if ((await lockCustomer(tx.client, customerId)) === null) refuseNotFound()
    await work(tx)
  })
}

/** Reads the address to be changed. @throws ProblemError `not-found`, `precondition-failed` */
async function readAddress(
  client: TransactionClient,
  customerId: string,
  id: string,
  expected: number | bigint | null,
): Promise<CustomerAddress> {
  const { version, view } = (await rows.findAddress(client, customerId, id)) ?? refuseNotFound()
  checkVersion({ version }, expected)
  return view
}

/** Checks that a customer has only one registered address. */
async function checkKind(
  client: TransactionClient,
  customerId: string,
  id: string,
  kind: CustomerAddress['kind'],
): Promise<void> {
  if (kind !== 'registered') return
  const others = (await rows.listAddresses(client, customerId)).filter(
    ({ view }) => view.kind === 'registered' && view.id !== id,
  )
  if (others.length === 0) return
  const message = 'The customer already has a registered address; change that address.'
  refuse('validation-error', message, { errors: [{ field: '/kind', code: 'invalid_value', message }] })
}

async function rereadAddress(
  { database }: SettingsDeps,
  customerId: string,
  id: string,
): Promise<Versioned<CustomerAddress>> {
  return (await rows.findAddress(database.pool, customerId, id)) ?? refuseNotFound()
}
