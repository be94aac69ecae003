/**
 * Account details from request to end: requested, provided, replaced and closed. Statements only; rules are in
 * lib/accounts.
 */
import type { AccountTerms } from '../../lib/accounts/details.ts'
import type { KnownDetails } from '../../lib/accounts/requests.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { pick } from '../db/columns.ts'
import { from, select } from '../db/select.ts'
import { AccountDetails } from './account-details-entity.ts'

/** Locks all details of a balance until the transaction ends; the caller must hold the lock of the balance. */
export async function lockDetails(client: TransactionClient, balanceId: string): Promise<readonly KnownDetails[]> {
  const { rows } = await client.query<{
    id: string
    scope: KnownDetails['scope']
    status: KnownDetails['status']
    connection_id: string
  }>({
    name: 'lock_details',
    values: [balanceId],
    text: 'select id, scope, status, connection_id from account_details where balance_id = $1 order by id for update',
  })
  return rows.map(({ id, scope, status, connection_id: connectionId }) => ({ id, scope, status, connectionId }))
}

export interface DetailsRequest {
  readonly id: string
  readonly balanceId: string
  readonly scope: AccountTerms['scope']
  readonly rails: readonly string[]
  readonly now: number
}

/** Writes a request for details; the poller of the shard sends it to the partner. */
export async function insertDetailsRequest(
  client: TransactionClient,
  { id, balanceId, scope, rails, now }: DetailsRequest,
): Promise<void> {
  await client.query({
    name: 'insert_details_request',
    values: [id, balanceId, scope, rails, timestamp(now)],
    text: `insert into account_details (id, customer_id, balance_id, currency, scope, rails, status, account_holder_name, shared, created_at, connection_id, shard, due_at)
      select $1, b.customer_id, b.id, b.currency, $3, $4, 'pending', c.legal_name, false, $5, b.connection_id, b.shard, $5
      from balance b join customer c on c.id = b.customer_id where b.id = $2`,
  })
}

/** Details whose next request to the partner is due. */
export interface DueDetails {
  readonly id: string
  readonly balanceId: string
  readonly customerId: string
  readonly connectionId: string
  readonly currency: string
  readonly scope: AccountTerms['scope']
  readonly rails: readonly string[]
  readonly status: KnownDetails['status']
  readonly accountHolderName: string
}

const DUE = select(
  pick(from(AccountDetails, 'd'), [
    'id',
    'balanceId',
    'connectionId',
    'customerId',
    'currency',
    'scope',
    'rails',
    'status',
    'accountHolderName',
  ]),
)

/**
 * Leases due details of these shards (null: all). The lease ends at `until`; then another node may take details that
 * are still due.
 */
export async function takeDueDetails(
  database: Database,
  {
    now,
    until,
    shards,
    max,
  }: { readonly now: number; readonly until: number; readonly shards: string | null; readonly max: number },
): Promise<readonly DueDetails[]> {
  const rows = await database.query({
    name: 'take_due_details',
    values: [timestamp(now), timestamp(until), shards, max],
    text: `with due as materialized (
        select id from account_details where due_at <= $1::timestamptz and ($3::smallint[] is null or shard = any($3)) order by due_at limit $4 for update skip locked)
      update account_details d set due_at = $2 from due where d.id = due.id
      returning ${DUE.sql}`,
  })
  return rows.map((row) => DUE.read(row))
}

/** Sets when the partner is asked next about details that are not settled. */
export async function askDetailsAt(database: Database, id: string, at: number): Promise<void> {
  await database.query({
    name: 'ask_details_at',
    text: 'update account_details set due_at = $2 where id = $1 and due_at is not null',
    values: [id, timestamp(at)],
  })
}

/** Activates details: the partner has opened the account. The identifiers and other terms are the partner's. */
export async function activateDetails(
  client: TransactionClient,
  id: string,
  { identifiers, bankName, bankAddress, country, estimatedArrival }: AccountTerms,
  now: number,
): Promise<void> {
  await client.query({
    name: 'activate_details',
    text: `update account_details set status = 'active', identifiers = $2, bank_name = $3, bank_address = $4, country = $5, estimated_arrival = $6, valid_from = $7, due_at = null
      where id = $1`,
    values: [
      id,
      JSON.stringify(identifiers),
      bankName,
      bankAddress === null ? null : JSON.stringify(bankAddress),
      country,
      estimatedArrival === null ? null : JSON.stringify(estimatedArrival),
      timestamp(now),
    ],
  })
}

/** Marks a request as failed: the partner has refused it. */
export async function failDetails(client: TransactionClient, id: string, reason: string): Promise<void> {
  await client.query({
    name: 'fail_details',
    text: `update account_details set status = 'failed', status_reason = $2, due_at = null where id = $1`,
    values: [id, reason],
  })
}

/**
 * Marks details as replaced by newer ones. Payers may use them until `validUntil`; then the partner is asked to close
 * them.
 */
export async function replaceDetails(
  client: TransactionClient,
  ids: readonly string[],
  { byId, validUntil }: { readonly byId: string; readonly validUntil: number },
): Promise<void> {
  await client.query({
    name: 'replace_details',
    values: [ids, byId, timestamp(validUntil)],
    text: `update account_details set status = 'replaced', replaced_by_id = $2, valid_until = $3, due_at = $3 where id = any($1::uuid[])`,
  })
}

/** Begins to close all details of a balance that are pending, active or replaced; the partner is asked immediately. */
export async function beginClosingDetails(client: TransactionClient, balanceId: string, now: number): Promise<void> {
  await client.query({
    name: 'begin_closing_details',
    values: [balanceId, timestamp(now)],
    text: `update account_details set status = 'closing', valid_until = $2, due_at = $2 where balance_id = $1 and status in ('pending', 'active', 'replaced')`,
  })
}

/** Closes details: money can no longer arrive through them. */
export async function endDetails(client: TransactionClient, id: string, now: number): Promise<void> {
  await client.query({
    name: 'end_details',
    text: `update account_details set status = 'closed', valid_until = $2, due_at = null where id = $1`,
    values: [id, timestamp(now)],
  })
}
