/** KYB cases of customers. Statements only; rules are in lib/onboarding. */
import type { InferEntity } from '@mikro-orm/core'
import { DEFAULT_CAPABILITIES } from '../../lib/onboarding/case-words.ts'
import { NO_COMPANY, type CaseCustomer, type KybCaseRecord } from '../../lib/onboarding/kyb-case.ts'
import type { RiskRating } from '../../lib/customers/customer.ts'
import type { LifeStatus } from '../../lib/customers/status.ts'
import type { CustomerType } from '../../lib/customers/types.ts'
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
  nextReviewAt: row.nextReviewAt ?? null,
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
    text: 'select customer_type, status, risk from customer where id = $1',
    values: [customerId],
  })
  const [row] = rows as { customer_type: CustomerType; status: LifeStatus; risk: RiskRating | null }[]
  return row === undefined ? null : { customerType: row.customer_type, status: row.status, risk: row.risk }
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
