/** Reads a case with everything on which its requirements depend, and tells when they change. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { CustomerAddress } from '../../lib/customers/customer-address-schema.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { KybCase } from '../../lib/onboarding/kyb-case-schema.ts'
import { kybCaseJson, type CaseReader } from '../../lib/onboarding/kyb-case-view.ts'
import { nextCheckAt } from '../../lib/onboarding/due-again.ts'
import { digestOf, requirementsOf, type CaseFacts } from '../../lib/onboarding/requirements.ts'
import { listAddresses } from '../../storage/customers/customer-addresses.ts'
import { homeOfCustomer } from '../../storage/customers/customers.ts'
import type { StatementRunner } from '../../storage/db/entity-driver.ts'
import { findCase, findCaseCustomer, noteRequirements } from '../../storage/onboarding/kyb-cases.ts'
import { listKybDocuments } from '../../storage/onboarding/kyb-documents.ts'
import { listPersons } from '../../storage/onboarding/kyb-persons.ts'
import { writeEvent } from '../../storage/outbox/outbox.ts'
import type { ChangeTransaction } from '../commands/changes.ts'

/** A case with all that the API shows of it. */
export type WholeCase = CaseFacts & { readonly addresses: readonly CustomerAddress[] }

/** Reads the whole case of a customer; null when it has none. */
export async function readWholeCase(client: StatementRunner, customerId: string): Promise<WholeCase | null> {
  const record = await findCase(client, customerId)
  const customer = record === null ? null : await findCaseCustomer(client, customerId)
  if (record === null || customer === null) return null
  const addresses = (await listAddresses(client, customerId)).map(({ view }) => view)
  return {
    record,
    customer,
    addresses,
    persons: await listPersons(client, customerId),
    documents: await listKybDocuments(client, customerId),
    registeredAddress: addresses.some(({ kind }) => kind === 'registered'),
  }
}

/** Returns how a caller reads a case. */
export const readerOf = ({ principal }: Pick<Caller, 'principal'>): CaseReader => ({
  reviewer: principal.capabilities.has('onboarding.review'),
})

/** Builds the view of a case at a time in epoch milliseconds. */
export const shownCase = (found: WholeCase, now: number, reader: CaseReader): Versioned<KybCase> => ({
  version: found.record.version,
  view: kybCaseJson(found, now, reader),
})

/**
 * Reads a case after a change in this transaction. When its requirements differ from those that were told last, the
 * customer is told by an event.
 *
 * @param looked whether the look that was planned is done; a change that comes before it leaves it due
 * @throws ProblemError `not-found` for a customer without a case
 */
export async function recheck(
  { client, ids, now }: ChangeTransaction,
  customerId: string,
  { looked }: { readonly looked: boolean } = { looked: false },
): Promise<WholeCase> {
  const found = (await readWholeCase(client, customerId)) ?? refuseNotFound()
  const { id, operatorId, status, checkDueAt: planned } = found.record
  const isWaiting = !looked && planned !== null && planned <= now
  const checkDueAt = isWaiting ? planned : nextCheckAt(found, now)
  const told = { digest: digestOf(requirementsOf(found, now)), checkDueAt }
  if (await noteRequirements(client, id, told)) {
    const { shard } = (await homeOfCustomer(client, customerId))!
    await writeEvent(client, {
      id: ids.next(),
      createdAt: now,
      customerId,
      operatorId,
      shard,
      type: 'onboarding.requirements_changed',
      object: 'onboarding',
      objectId: id,
      status,
      previousStatus: null,
      amount: null,
      currency: null,
    })
  }
  return found
}
