/** Changes of a customer by its operator's staff, and of its trading name and attributes by its own members. */
import { inStoredOrder, patchedMetadata } from '../../lib/base/metadata.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { type FieldError, ProblemError, refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import { takeMeasure, type Measure } from '../../lib/customers/customer.ts'
import type { Customer, CustomerMeasure, CustomerRisk, CustomerUpdate } from '../../lib/customers/customer-schema.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { isCountry } from '../../lib/recipients/iban.ts'
import { lockCustomer, measureCustomer } from '../../storage/balances/closure.ts'
import { rateCustomer, tellCustomerStatus, updateCustomer } from '../../storage/customers/customer-rows.ts'
import { readCustomer } from '../../storage/customers/customer-queries.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { recordChange, runChange } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import type { CustomerDeps } from './customer-deps.ts'

/** The facts that the operator alone changes. */
const LEGAL = ['legalName', 'registrationNumber', 'incorporationCountry', 'incorporationDate'] as const

const DONE = { restrict: 'customer.restricted', suspend: 'customer.suspended', lift: 'customer.lifted' } as const

/**
 * Changes the facts of a customer; absent members stay, null clears a fact.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`
 */
export async function changeCustomer(
  deps: CustomerDeps,
  by: Caller<'person'>,
  customerId: string,
  { metadata, ...change }: CustomerUpdate,
  expected: number | bigint | null,
): Promise<Versioned<Customer>> {
  checkChange(by, change, deps.clock.now())
  return await runChange(deps, async (tx) => {
    const { client, now } = tx
    const before = await lockedCustomer(client, customerId)
    checkVersion(before, expected)
    const { legalName, tradingName, registrationNumber, incorporationCountry, incorporationDate } = before.view
    const was = { legalName, tradingName, registrationNumber, incorporationCountry, incorporationDate }
    const merged = metadata === undefined ? before.view.metadata : patchedMetadata(before.view.metadata, metadata)
    if (!fitsMetadata(merged)) refuseField('/metadata', 'too_large', 'The attributes are beyond the limit.')
    const facts = { ...was, ...change, metadata: inStoredOrder(merged) }
    await updateCustomer(client, customerId, facts, now)
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'customer.updated',
      object: { type: 'customer', id: customerId },
      before: { ...was, metadata: before.view.metadata },
      after: facts,
    })
    return await shownTo(by, client, customerId)
  })
}

/** @throws ProblemError `validation-error` that names every fault */
function checkChange(by: Caller<'person'>, change: Omit<CustomerUpdate, 'metadata'>, now: number): void {
  const errors: FieldError[] = []
  if (!isStaff(by))
    for (const name of LEGAL)
      if (change[name] !== undefined)
        errors.push({ field: `/${name}`, code: 'read_only_field', message: 'The operator alone changes legal facts.' })
  if (change.incorporationCountry !== undefined && !isCountry(change.incorporationCountry))
    errors.push({ field: '/incorporationCountry', code: 'invalid_value', message: 'Is no country of ISO 3166.' })
  if (change.incorporationDate != null && change.incorporationDate > timestamp(now).slice(0, 10))
    errors.push({ field: '/incorporationDate', code: 'invalid_value', message: 'Must not be in the future.' })
  if (errors.length > 0) refuse('validation-error', errors[0]!.message, { errors })
}

/**
 * Restricts or suspends a customer, or lifts the measure. A customer that is closing goes on closing when the measure is
 * lifted. When it returns, all nodes decide under the new standing.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function steerCustomer(
  deps: CustomerDeps,
  by: Caller<'person'>,
  customerId: string,
  measure: Measure,
  { reason }: CustomerMeasure,
): Promise<Versioned<Customer>> {
  const { shown, version } = await runChange(deps, async (tx) => {
    const { client, ids, now } = tx
    const { customerStatus, customerMeasure } = (await lockCustomer(client, customerId)) ?? refuseNotFound()
    const moved = takeMeasure({ customerStatus, customerMeasure }, measure)
    if ('refused' in moved) throw new ProblemError(moved.refused)
    const version = await measureCustomer(client, customerId, { measure: moved.measure, by: 'staff', now })
    const [before, after] = [customerMeasure ?? customerStatus, moved.measure ?? customerStatus]
    await tellCustomerStatus(client, {
      customerId,
      status: after,
      previousStatus: before,
      id: ids.next(),
      now,
    })
    // In the trail of the operator: the reason may be an investigation.
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: DONE[measure],
      object: { type: 'customer', id: customerId },
      before: { status: before },
      after: { status: after, reason },
    })
    return { shown: await shownTo(by, client, customerId), version }
  })
  await deps.announce(customerId, version)
  return shown
}

/** Rates the risk of a customer. @throws ProblemError `not-found` */
export async function rateRisk(
  deps: CustomerDeps,
  by: Caller<'person'>,
  customerId: string,
  { risk, reason }: CustomerRisk,
): Promise<Versioned<Customer>> {
  return await runChange(deps, async (tx) => {
    const { client, now } = tx
    const before = await lockedCustomer(client, customerId)
    await rateCustomer(client, customerId, risk, now)
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: 'customer.risk_rated',
      object: { type: 'customer', id: customerId },
      before: { risk: before.view.risk },
      after: { risk, reason },
    })
    return await shownTo(by, client, customerId)
  })
}

const isStaff = (by: Caller<'person'>): boolean => by.principal.capabilities.has('customers.manage')

async function lockedCustomer(client: TransactionClient, id: string): Promise<Versioned<Customer>> {
  await lockCustomer(client, id)
  return (await readCustomer(client, id)) ?? refuseNotFound()
}

/** Reads a customer for a person; its own members do not learn how the operator rates it. */
async function shownTo(by: Caller<'person'>, client: TransactionClient, id: string): Promise<Versioned<Customer>> {
  const { version, view } = (await readCustomer(client, id)) ?? refuseNotFound()
  return { version, view: isStaff(by) ? view : { ...view, risk: null } }
}
