/**
 * Statements on drafts outside of the commit.
 *
 * Written by hand: the rows are those of payments, which the commit writes.
 */
import type { DraftFacts } from '../../lib/payments/draft.ts'
import type { RecipientSnapshot } from '../../lib/payments/payment.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'
import type { TransactionClient } from '../db/transaction.ts'

/** Reads the balance and the recipient that a draft names; null for those that are not the customer's. */
export async function readDraftFacts(
  client: Pick<TransactionClient, 'query'>,
  {
    customerId,
    sourceBalanceId,
    recipientId,
  }: { readonly customerId: string; readonly sourceBalanceId: string; readonly recipientId: string },
): Promise<{
  readonly balance: (DraftFacts['balance'] & { readonly operatorId: string; readonly shard: number }) | null
  readonly recipient: DraftFacts['recipient'] | null
}> {
  const {
    rows: [balance],
  } = await client.query<{ name: string; connection_id: string; operator_id: string; shard: number }>({
    name: 'draft_balance',
    text: 'select name, connection_id, operator_id, shard from balance where id = $1 and customer_id = $2',
    values: [sourceBalanceId, customerId],
  })
  const {
    rows: [recipient],
  } = await client.query<RecipientRow>({
    name: 'draft_recipient',
    text: `${RECIPIENTS} = $1 and customer_id = $2 and status <> 'deleted'`,
    values: [recipientId, customerId],
  })
  return {
    balance:
      balance === undefined
        ? null
        : {
            name: balance.name,
            connectionId: balance.connection_id,
            operatorId: balance.operator_id,
            shard: balance.shard,
          },
    recipient: recipient === undefined ? null : snapshotOf(recipient),
  }
}

interface RecipientRow {
  readonly id: string
  readonly name: string
  readonly type: RecipientSnapshot['type']
  readonly masked_identifier: string
  readonly currency: string
  readonly bank_country: string
}
const RECIPIENTS = 'select id, name, type, masked_identifier, currency, bank_country from recipient where id'
const snapshotOf = ({
  name,
  type,
  masked_identifier: maskedIdentifier,
  currency,
  bank_country: bankCountry,
}: RecipientRow): RecipientSnapshot => ({ name, type, maskedIdentifier, currency, bankCountry })

/** Reads the present state of recipients; deleted ones are absent. */
export async function liveRecipients(
  database: Database,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RecipientSnapshot>> {
  const { rows } = await database.pool.query<RecipientRow>({
    name: 'live_recipients',
    text: `${RECIPIENTS} = any($1::uuid[]) and status <> 'deleted'`,
    values: [plainArray(ids)],
  })
  return new Map(rows.map((row) => [row.id, snapshotOf(row)]))
}

/** Finds another payment of the customer that has an external id; null when none has. */
export async function paymentWithExternalId(
  client: Pick<TransactionClient, 'query'>,
  {
    customerId,
    externalId,
    except,
  }: { readonly customerId: string; readonly externalId: string; readonly except: string },
): Promise<string | null> {
  const {
    rows: [row],
  } = await client.query<{ id: string }>({
    name: 'payment_with_external_id',
    text: 'select id from payment where customer_id = $1 and external_id = $2 and id <> $3',
    values: [customerId, externalId, except],
  })
  return row?.id ?? null
}

/** Deletes a draft in the version that was read. @returns false when it has changed since */
export async function deleteDraft(client: TransactionClient, id: string, version: number): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'delete_draft',
    text: `delete from payment where id = $1 and version = $2 and status = 'draft'`,
    values: [id, version],
  })
  if (rowCount !== 1) return false
  await client.query({
    name: 'delete_draft_documents',
    text: 'delete from document_use where object_id = $1',
    values: [id],
  })
  await client.query({
    name: 'delete_draft_updates',
    text: 'delete from status_update where object_id = $1',
    values: [id],
  })
  return true
}
