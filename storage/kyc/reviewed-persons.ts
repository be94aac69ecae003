/** The persons of a KYB case as providers review them. The case is locked while they change. */
import type { KybPersonRecord } from '../../lib/onboarding/kyb-person.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { KybPerson } from '../onboarding/onboarding-entities.ts'

/** A person, or a company among the owners, as far as a provider needs it. */
export type ReviewedPerson = Pick<KybPersonRecord, 'id' | 'details' | 'status'>

/** Lists the persons of a customer's case. */
export async function listReviewedPersons(
  client: StatementRunner,
  customerId: string,
): Promise<readonly ReviewedPerson[]> {
  return await entitiesOf(client, { customerId }).find(KybPerson, {}, { id: 'asc' })
}

/** Whether a customer's case has a person of this id. */
export async function hasPerson(client: StatementRunner, customerId: string, id: string): Promise<boolean> {
  return (await entitiesOf(client, { customerId }).count(KybPerson, { id })) > 0
}

/** Writes what the provider has told of a person. */
export async function writePersonReview(
  client: TransactionClient,
  customerId: string,
  id: string,
  review: Partial<Pick<KybPersonRecord, 'status' | 'applicantId' | 'rejectLabels' | 'updatedAt'>>,
): Promise<void> {
  const { rejectLabels, ...rest } = review
  const rows = entitiesOf(client, { customerId })
  Object.assign(
    await rows.get(KybPerson, id),
    rest,
    rejectLabels === undefined ? {} : { rejectLabels: [...rejectLabels] },
  )
  await rows.save()
}
