/** KYB cases of customers. Statements only; rules are in lib/onboarding. */
import type { InferEntity } from '@mikro-orm/core'
import { timestamp } from '../../lib/base/clock.ts'
import { DEFAULT_CAPABILITIES } from '../../lib/onboarding/case-words.ts'
import { NO_COMPANY, type CaseCustomer, type KybCaseRecord } from '../../lib/onboarding/kyb-case.ts'
import type { IdentityType, RiskRating } from '../../lib/customers/customer.ts'
import type { LifeStatus, MeasureTaken } from '../../lib/customers/status.ts'
import type { CustomerType } from '../../lib/customers/types.ts'
import type { Database } from '../db/database.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { KybCase } from './onboarding-entities.ts'

const recordOf = (row: InferEntity<typeof KybCase>): KybCaseRecord => ({
  id: row.id,
  customerId: row.customerId,
  operatorId: row.operatorId,
  status: row.status,
  mode: row.mode,
  provider: row.provider,
  applicantId: row.applicantId ?? null,
  company: row.company,
  personal: row.personal ?? null,
  expectedActivity: row.expectedActivity ?? null,
  attestations: row.attestations,
  terms: row.terms ?? null,
  capabilities: row.capabilities,
  infoRequested: row.infoRequested,
  result: row.result ?? null,
  assigneeId: row.assigneeId ?? null,
  firstApproval: row.firstApproval ?? null,
  decision: row.decision ?? null,
  nextReviewAt: row.nextReviewAt ?? null,
  checkDueAt: row.checkDueAt ?? null,
  lapsedAt: row.lapsedAt ?? null,
  submittedAt: row.submittedAt ?? null,
  reviewedAt: row.reviewedAt ?? null,
  version: BigInt(row.version),
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
})

/** Adds the case of a customer. */
export async function insertCase(client: TransactionClient, { version: _, ...record }: KybCaseRecord): Promise<void> {
  const { customerId, capabilities } = record
  await entitiesOf(client, { customerId }).insert(KybCase, { ...record, capabilities: [...capabilities] })
}

/** Finds the case of a customer; null when it has none. */
export async function findCase(client: StatementRunner, customerId: string): Promise<KybCaseRecord | null> {
  const row = await entitiesOf(client, { customerId }).findOne(KybCase, { customerId })
  return row === null ? null : recordOf(row)
}

/** Finds the case of a customer and locks it until the transaction ends; null when it has none. */
export async function lockCase(client: TransactionClient, customerId: string): Promise<KybCaseRecord | null> {
  const row = await entitiesOf(client, { customerId }).lock(KybCase, { customerId })
  return row === null ? null : recordOf(row)
}

/** Finds what the case of a customer depends on in the customer's own row; null when there is no such customer. */
export async function findCaseCustomer(client: StatementRunner, customerId: string): Promise<CaseCustomer | null> {
  const { rows } = await client.query({
    name: 'customer_of_case',
    text: 'select customer_type, status, measure, risk from customer where id = $1',
    values: [customerId],
  })
  const [row] = rows as {
    customer_type: CustomerType
    status: LifeStatus
    measure: MeasureTaken | null
    risk: RiskRating | null
  }[]
  if (row === undefined) return null
  return { customerType: row.customer_type, status: row.status, measure: row.measure, risk: row.risk }
}

/** Writes members of a locked case as its next version. @returns the case as it is now */
export async function changeCase(
  client: TransactionClient,
  { id, customerId }: Pick<KybCaseRecord, 'id' | 'customerId'>,
  {
    capabilities,
    ...change
  }: Partial<Omit<KybCaseRecord, 'id' | 'customerId' | 'operatorId' | 'version' | 'createdAt'>>,
): Promise<KybCaseRecord> {
  const rows = entitiesOf(client, { customerId })
  const row = await rows.get(KybCase, id)
  Object.assign(row, change, capabilities === undefined ? {} : { capabilities: [...capabilities] })
  await rows.save()
  return recordOf(row)
}

/**
 * Notes the requirements of a case as they are told now, and when the case is looked at next, epoch milliseconds; the
 * version of the case stays. @returns whether they differ from those that were told before
 */
export async function noteRequirements(
  client: TransactionClient,
  id: string,
  { digest, checkDueAt }: { readonly digest: string; readonly checkDueAt: number | null },
): Promise<boolean> {
  const { rows } = await client.query<{ changed: boolean }>({
    name: 'note_requirements',
    text: `update kyb_case c set requirements_digest = $2, check_due_at = $3 from kyb_case o where c.id = $1 and o.id = c.id
      returning o.requirements_digest <> $2 as changed`,
    values: [id, digest, checkDueAt === null ? null : timestamp(checkDueAt)],
  })
  return rows[0]?.changed ?? false
}

/** Lists the customers whose cases are to be looked at until a time in epoch milliseconds. */
export async function listDueCases(database: Database, now: number, max: number): Promise<readonly string[]> {
  const rows = await database.query<[string]>({
    name: 'due_cases',
    text: 'select customer_id from kyb_case where check_due_at <= $1 order by check_due_at, id limit $2',
    values: [timestamp(now), max],
  })
  return rows.map(([customerId]) => customerId)
}

/** Writes the type of a locked customer. */
export async function writeCustomerType(
  client: TransactionClient,
  customerId: string,
  { customerType, identityType }: { readonly customerType: CustomerType; readonly identityType: IdentityType },
  now: number,
): Promise<void> {
  await client.query({
    name: 'type_customer',
    text: 'update customer set customer_type = $2, identity_type = $3, version = version + 1, updated_at = $4 where id = $1',
    values: [customerId, customerType, identityType, timestamp(now)],
  })
}

/** Adds the approved cases of customers of a sandbox, which were reviewed by no person. */
export async function insertApprovedCases(
  client: Pick<TransactionClient, 'query'>,
  cases: readonly { readonly id: string; readonly customerId: string }[],
): Promise<void> {
  await client.query({
    text: `insert into kyb_case (id, customer_id, operator_id, status, mode, provider, company, capabilities, submitted_at, reviewed_at, created_at, updated_at)
      select u.id, c.id, c.operator_id, 'approved', 'wizard', 'sandbox', $3::jsonb || jsonb_build_object('legalName', c.legal_name, 'incorporationCountry', c.incorporation_country),
        $4::text[], c.created_at, c.created_at, c.created_at, c.created_at
      from unnest($1::uuid[], $2::uuid[]) u(id, customer_id) join customer c on c.id = u.customer_id`,
    values: [
      cases.map(({ id }) => id),
      cases.map(({ customerId }) => customerId),
      JSON.stringify(NO_COMPANY),
      DEFAULT_CAPABILITIES,
    ],
  })
}
