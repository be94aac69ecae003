/** One transaction with its source, its siblings and its updates. */
import { sql } from 'kysely'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { declineFailure } from '../../lib/cards/decline-failure.ts'
import type { CardDeclineReason } from '../../lib/cards/card-transaction.ts'
import type { PaymentFailure, PaymentDetails, PaymentReturn } from '../../lib/payments/payment.ts'
import { attachmentJson } from '../../lib/documents/document.ts'
import { relatedOf, type Sibling, transactionJson, type TransactionRecord } from '../../lib/transactions/transaction.ts'
import { transactionId } from '../../lib/ledger/transaction-id.ts'
import type { Database } from '../db/database.ts'
import { attachmentsOf } from '../documents/documents.ts'
import { annotationsOf } from './annotations.ts'
import { findHolds } from '../balances/hold-queries.ts'
import { linesOfTransaction } from '../balances/journal-queries.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { ReadDatabase } from '../db/page.ts'
import { findTransaction, text } from './transaction-queries.ts'
import { UPDATES_SHOWN, updatesOf } from './transaction-update-queries.ts'

/**
 * Reads a transaction with its related rows and its version; null when the transaction is not the tenant's.
 * `forOperator`: with what customers never see. `now` in epoch milliseconds.
 */
export async function getTransaction(
  database: Database,
  db: ReadDatabase,
  tenant: Tenant,
  id: string,
  { now, forOperator }: { readonly now: number; readonly forOperator: boolean },
) {
  const record = await findTransaction(database, db, tenant, id, now)
  if (record === null) return null
  const source = await sourceOf(db, record)
  const [updates, holds, journalLines, annotations, attachments, siblings] = await Promise.all([
    updatesOf(db, record),
    findHolds(db, source.holdIds, record.currency),
    linesOfTransaction(db, record, record),
    annotationsOf(database, id),
    attachmentsOf(database, id),
    siblingsOf(db, record),
  ])
  return {
    version: record.version,
    view: {
      ...transactionJson(record),
      updates: updates.slice(0, UPDATES_SHOWN),
      holds,
      journalLines,
      annotations,
      attachments: attachments.map(attachmentJson),
      related: relatedOf(record, siblings),
      references: forOperator ? { ...source.references, providerRef: source.providerRef } : source.references,
      failure: source.failure,
      return: source.returned,
      originalAmount:
        record.card?.original == null
          ? null
          : moneyJson({ amountMinor: record.card.original.amount, currency: record.card.original.currency }),
    },
  }
}

async function siblingsOf(db: ReadDatabase, { sourceId, customerId }: TransactionRecord): Promise<readonly Sibling[]> {
  return (
    await sql<Sibling>`select t.id, t.type from account_transaction t where t.source_id = ${sourceId}::uuid and t.customer_id = ${customerId}::uuid order by t.created_at, t.id`.execute(
      db.kysely,
    )
  ).rows
}

/** Reads the facts that only the cause's row has, where the cause is the movement itself. */
async function sourceOf(db: ReadDatabase, { id, sourceObject, sourceId, currency }: TransactionRecord) {
  const nothing = {
    holdIds: [] as string[],
    references: { endToEndId: null as string | null, uetr: null as string | null },
    providerRef: null as string | null,
    failure: null as PaymentFailure | null,
    returned: null as ReturnType<typeof returnJson> | null,
  }
  const parse = <Kind>(json: string | null): Kind | null => (json === null ? null : (JSON.parse(json) as Kind))
  const ids = (...all: readonly (string | null)[]): string[] => all.filter((one) => one !== null)
  switch (sourceObject) {
    case 'payment': {
      const {
        rows: [row],
      } = await sql<{
        hold_id: string | null
        details: string
        failure: string | null
        return_info: string | null
        provider_ref: string | null
      }>`
        select hold_id, details, failure, return_info, provider_ref from payment where id = ${sourceId}::uuid`.execute(
        db.kysely,
      )
      if (row === undefined) return nothing
      const { endToEndId, uetr } = JSON.parse(row.details) as PaymentDetails
      const references = { endToEndId: text(endToEndId), uetr: text(uetr) }
      const providerRef = row.provider_ref
      if (id !== sourceId) return { ...nothing, references, providerRef }
      const returned = parse<PaymentReturn>(row.return_info)
      return {
        holdIds: ids(row.hold_id),
        references,
        providerRef,
        failure: parse<PaymentFailure>(row.failure),
        returned: returned === null ? null : returnJson(returned, currency, sourceId),
      }
    }
    case 'incoming_payment': {
      const {
        rows: [row],
      } = await sql<{ end_to_end_id: string | null; uetr: string | null; recall_hold_id: string | null }>`
        select end_to_end_id, uetr, recall_hold_id from incoming_payment where id = ${sourceId}::uuid`.execute(
        db.kysely,
      )
      return row === undefined
        ? nothing
        : {
            ...nothing,
            holdIds: id === sourceId ? ids(row.recall_hold_id) : [],
            references: { endToEndId: row.end_to_end_id, uetr: row.uetr },
          }
    }
    case 'collection':
    case 'incoming_debit': {
      const {
        rows: [row],
      } = await sql<{ end_to_end_id: string | null }>`
        select end_to_end_id from ${sql.table(sourceObject)} where id = ${sourceId}::uuid`.execute(db.kysely)
      return row === undefined ? nothing : { ...nothing, references: { endToEndId: row.end_to_end_id, uetr: null } }
    }
    case 'card_transaction':
      return id === sourceId ? { ...nothing, ...(await cardFactsOf(db, sourceId)) } : nothing
    case 'transfer': {
      const {
        rows: [row],
      } = await sql<{ failure: string | null; hold_id: string | null }>`
        select t.failure, o.hold_id from transfer t left join transfer_order o on o.transfer_id = t.id where t.id = ${sourceId}::uuid`.execute(
        db.kysely,
      )
      return row === undefined
        ? nothing
        : { ...nothing, holdIds: id === sourceId ? ids(row.hold_id) : [], failure: parse<PaymentFailure>(row.failure) }
    }
    case 'exchange': {
      const {
        rows: [row],
      } = await sql<{
        failure: string | null
        hold_id: string | null
      }>`select failure, hold_id from exchange where id = ${sourceId}::uuid`.execute(db.kysely)
      return row === undefined
        ? nothing
        : { ...nothing, holdIds: id === sourceId ? ids(row.hold_id) : [], failure: parse<PaymentFailure>(row.failure) }
    }
    default:
      return nothing
  }
}

/** The open hold of a card transaction, and why it was declined. */
async function cardFactsOf(db: ReadDatabase, id: string) {
  const {
    rows: [row],
  } = await sql<{ hold_id: string | null; decline_reason: CardDeclineReason | null; at_ms: number }>`
    select hold_id, case when status = 'declined' then decline_reason end as decline_reason, (extract(epoch from authorised_at) * 1000)::float8 as at_ms
    from card_transaction where id = ${id}::uuid`.execute(db.kysely)
  if (row === undefined) return {}
  const { hold_id: holdId, decline_reason: reason } = row
  return {
    holdIds: holdId === null ? [] : [holdId],
    failure: reason === null ? null : { ...declineFailure(reason), at: timestamp(row.at_ms) },
  }
}

const returnJson = (
  { amountMinor, reasonCode, reason, receivedAt, suspended }: PaymentReturn,
  currency: CurrencyCode,
  paymentId: string,
) => ({
  amount: moneyJson({ amountMinor: BigInt(amountMinor), currency }),
  reasonCode,
  reason,
  receivedAt,
  transactionId: suspended === true ? null : transactionId(paymentId, 'return'),
})
