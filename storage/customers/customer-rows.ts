/**
 * Rows of customers. Statements only; rules are elsewhere. Written by hand: moves of a customer lock and change the same
 * row (storage/balances/closure.ts), and read no entity.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { IdentityType, LegalFacts, RiskRating } from '../../lib/customers/customer.ts'
import { customerEvent, type CustomerMove } from '../../lib/customers/customer-event.ts'
import type { CustomerType } from '../../lib/customers/types.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { writeEvent } from '../outbox/outbox.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { homeOfCustomer } from './customers.ts'

export interface NewCustomer extends Omit<LegalFacts, 'incorporationDate'> {
  readonly id: string
  readonly operatorId: string
  readonly number: string
  readonly tradingName: string | null
  readonly identityType: IdentityType
  readonly customerType: CustomerType
  readonly pricingTemplateId: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly now: number
}

/** Adds a draft customer. @returns false when a customer of the operator has this number; then nothing was written */
export async function insertCustomer(client: TransactionClient, customer: NewCustomer): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'insert_customer',
    text: `insert into customer (id, operator_id, number, legal_name, trading_name, identity_type, customer_type, registration_number, incorporation_country,
        pricing_template_id, metadata, status, shard, created_at, updated_at)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'draft', $12, $13, $13) on conflict (operator_id, number) do nothing`,
    values: [
      customer.id,
      customer.operatorId,
      customer.number,
      customer.legalName,
      customer.tradingName,
      customer.identityType,
      customer.customerType,
      customer.registrationNumber,
      customer.incorporationCountry,
      customer.pricingTemplateId,
      JSON.stringify(customer.metadata),
      shardOf(customer.id),
      timestamp(customer.now),
    ],
  })
  return rowCount === 1
}

/** The facts of a locked customer that people change. */
export interface CustomerFacts extends LegalFacts {
  readonly tradingName: string | null
  readonly metadata: Readonly<Record<string, string>>
}

/** Writes the facts of a locked customer as its next version. */
export async function updateCustomer(
  client: TransactionClient,
  id: string,
  facts: CustomerFacts,
  now: number,
): Promise<void> {
  await client.query({
    name: 'update_customer',
    text: `update customer set legal_name = $2, trading_name = $3, registration_number = $4, incorporation_country = $5, incorporation_date = $6,
      metadata = $7, version = version + 1, updated_at = $8 where id = $1`,
    values: [
      id,
      facts.legalName,
      facts.tradingName,
      facts.registrationNumber,
      facts.incorporationCountry,
      facts.incorporationDate,
      JSON.stringify(facts.metadata),
      timestamp(now),
    ],
  })
}

/** Writes the risk rating of a locked customer. */
export async function rateCustomer(
  client: TransactionClient,
  id: string,
  risk: RiskRating,
  now: number,
): Promise<void> {
  await client.query({
    name: 'rate_customer',
    text: 'update customer set risk = $2, version = version + 1, updated_at = $3 where id = $1',
    values: [id, risk, timestamp(now)],
  })
}

/** Records the first approval of a locked customer. */
export async function noteApproval(client: TransactionClient, id: string, now: number): Promise<void> {
  await client.query({
    name: 'approve_customer',
    text: 'update customer set approved_at = coalesce(approved_at, $2) where id = $1',
    values: [id, timestamp(now)],
  })
}

/** Reads which of the customers that a person owns are drafts, and locks them. */
export async function lockDraftsOfOwner(client: TransactionClient, userId: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'drafts_of_owner',
    text: `select c.id from customer c join membership m on m.tenant_id = c.id
      where m.user_id = $1 and m.role = 'owner' and m.status = 'active' and c.status = 'draft' order by c.id for update of c`,
    values: [userId],
  })
  return rows.map(({ id }) => id)
}

/** Writes the event that tells the operator of a customer's move. @returns the customer's shard */
export async function tellCustomerStatus(client: TransactionClient, move: CustomerMove): Promise<number> {
  const home = (await homeOfCustomer(client, move.customerId))!
  await writeEvent(client, customerEvent(move, home))
  return home.shard
}
