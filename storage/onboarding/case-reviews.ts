/** Notes and screening alerts of KYB cases, and the operator's terms of their review. Statements only. */
import type { InferEntity } from '@mikro-orm/core'
import type { ReviewMonths } from '../../lib/onboarding/case-review.ts'
import type { KybPersonRecord } from '../../lib/onboarding/kyb-person.ts'
import type { AlertChange, ScreeningAlertRecord } from '../../lib/onboarding/screening-alert.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { readOperator } from '../operators/operators.ts'
import { KybNote, ScreeningAlert } from './case-review-entities.ts'
import { KybCase, KybPerson } from './onboarding-entities.ts'

/** The operator's settings for reviews. */
export interface ReviewTerms {
  readonly requireAllPersonsVerified: boolean
  readonly months: ReviewMonths
}

/** Reads the operator's terms of reviews. */
export async function readReviewTerms(client: StatementRunner, operatorId: string): Promise<ReviewTerms> {
  const { kyb } = (await readOperator(client, operatorId))!
  return {
    requireAllPersonsVerified: kyb.requireAllPersonsVerified,
    months: { low: kyb.reviewMonthsLow, medium: kyb.reviewMonthsMedium, high: kyb.reviewMonthsHigh },
  }
}

/** Reads the customer of an operator's case; null when the operator has no such case. */
export async function customerOfCase(client: StatementRunner, operatorId: string, id: string): Promise<string | null> {
  const found = await entitiesOf(client, { operatorId }).findOne(KybCase, { id })
  return found?.customerId ?? null
}

/** Reads how far the verification of the people of a case has come. */
export async function personsOfCase(
  client: StatementRunner,
  customerId: string,
): Promise<readonly Pick<KybPersonRecord, 'id' | 'kind' | 'status'>[]> {
  return await entitiesOf(client, { customerId }).find(KybPerson, {}, { id: 'asc' })
}

/** A note. `createdAt` is epoch milliseconds. */
export type KybNoteRecord = Omit<InferEntity<typeof KybNote>, 'operatorId' | 'caseId'>

/** Lists the notes of a case, oldest first. */
export async function listNotes(
  client: StatementRunner,
  operatorId: string,
  caseId: string,
): Promise<readonly KybNoteRecord[]> {
  return await entitiesOf(client, { operatorId }).find(KybNote, { caseId }, { id: 'asc' })
}

export async function insertNote(client: TransactionClient, note: InferEntity<typeof KybNote>): Promise<void> {
  await entitiesOf(client, { operatorId: note.operatorId }).insert(KybNote, note)
}

const alertOf = (row: InferEntity<typeof ScreeningAlert>): ScreeningAlertRecord => ({
  ...row,
  score: Number(row.score),
  proposal: row.proposal ?? null,
  decision: row.decision ?? null,
})

/** Lists the alerts of a case, oldest first. */
export async function listAlerts(
  client: StatementRunner,
  operatorId: string,
  caseId: string,
): Promise<readonly ScreeningAlertRecord[]> {
  return (await entitiesOf(client, { operatorId }).find(ScreeningAlert, { caseId }, { id: 'asc' })).map(alertOf)
}

/** Adds alerts of a locked case. */
export async function insertAlerts(
  client: TransactionClient,
  operatorId: string,
  alerts: readonly Omit<ScreeningAlertRecord, 'version'>[],
): Promise<void> {
  for (const alert of alerts) await entitiesOf(client, { operatorId }).insert(ScreeningAlert, alert)
}

/** Writes what has changed in an alert of a locked case. */
export async function changeAlert(
  client: TransactionClient,
  { id, operatorId }: Pick<ScreeningAlertRecord, 'id' | 'operatorId'>,
  change: AlertChange & { readonly updatedAt: number },
): Promise<void> {
  const rows = entitiesOf(client, { operatorId })
  Object.assign(await rows.get(ScreeningAlert, id), change)
  await rows.save()
}
