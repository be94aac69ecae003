/** The people and companies of KYB cases. Statements only; rules are in lib/onboarding. */
import type { InferEntity } from '@mikro-orm/core'
import type { KybPersonRecord } from '../../lib/onboarding/kyb-person.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { KybPerson } from './onboarding-entities.ts'

const recordOf = (row: InferEntity<typeof KybPerson>): KybPersonRecord => ({
  id: row.id,
  customerId: row.customerId,
  kind: row.kind,
  roles: row.roles,
  details: row.details,
  ownershipPercent: row.ownershipPercent ?? null,
  ownedBy: row.ownedBy ?? null,
  nominee: row.nominee,
  status: row.status,
  applicantId: row.applicantId ?? null,
  rejectLabels: row.rejectLabels,
  version: BigInt(row.version),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

/** Lists the persons of a case, the oldest first; there are few. */
export async function listPersons(client: StatementRunner, customerId: string): Promise<readonly KybPersonRecord[]> {
  return (await entitiesOf(client, { customerId }).find(KybPerson, {}, { id: 'asc' })).map(recordOf)
}

/** Adds a person to a case. */
export async function insertPerson(
  client: TransactionClient,
  { version: _, roles, rejectLabels, ...person }: KybPersonRecord,
): Promise<void> {
  const { customerId } = person
  const arrays = { roles: [...roles], rejectLabels: [...rejectLabels] }
  await entitiesOf(client, { customerId }).insert(KybPerson, { ...person, ...arrays })
}

/** The members of a person that changes write. */
export type PersonChange = Partial<Omit<KybPersonRecord, 'id' | 'customerId' | 'kind' | 'version' | 'createdAt'>>

/** Writes members of a person as its next version. The case of the person is locked. */
export async function changePerson(
  client: TransactionClient,
  { id, customerId }: Pick<KybPersonRecord, 'id' | 'customerId'>,
  { roles, rejectLabels, ...change }: PersonChange,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  Object.assign(await rows.get(KybPerson, id), {
    ...change,
    ...(roles === undefined ? {} : { roles: [...roles] }),
    ...(rejectLabels === undefined ? {} : { rejectLabels: [...rejectLabels] }),
  })
  await rows.save()
}

/** Deletes a person. The case of the person is locked. */
export async function deletePerson(
  client: TransactionClient,
  { id, customerId }: Pick<KybPersonRecord, 'id' | 'customerId'>,
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  await rows.remove(await rows.get(KybPerson, id))
}
