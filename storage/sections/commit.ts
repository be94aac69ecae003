/**
 * The commit of the product: the sections of all nouns, each listed once, and the engine that writes them.
 *
 * A new kind of row has its type in `lib/<noun>/effects.ts`, its section in `storage/<noun>`, and a line here.
 */
import { APPROVALS } from '../approvals/approval-section.ts'
import {
  BALANCE_FENCES,
  BALANCES,
  CREDIT_FENCES,
  DEBIT_FENCES,
  PLACE_FENCES,
  type BalanceAfter,
} from '../balances/balance-section.ts'
import { HOLD_RESOLUTIONS, HOLDS } from '../balances/hold-section.ts'
import { POSTINGS } from '../balances/posting-section.ts'
import {
  CARD_EVENTS,
  CARD_FENCES,
  CARD_TRANSACTION_CHANGES,
  CARD_TRANSACTION_FENCES,
  CARD_TRANSACTIONS,
  CARD_USES,
} from '../cards/card-section.ts'
import { commitOf, type Commit, type CommitSections } from '../commit/commit.ts'
import { IDEMPOTENCY, RECORDED } from '../commit/idempotency-section.ts'
import type { Fence } from '../commit/section.ts'
import { COMPLIANCE_HOLDS, EXCEPTION_ENDS, EXCEPTIONS } from '../compliance/compliance-section.ts'
import { OUTFLOW_RETURNS, OUTFLOWS } from '../customers/outflow-section.ts'
import {
  COLLECTION_CHANGES,
  COLLECTION_FENCES,
  COLLECTION_FILE_FENCES,
  COLLECTIONS,
  EXTERNAL_IDS_OF_COLLECTIONS,
} from '../direct-debits/collection-section.ts'
import { EXPOSURE_CHANGES, EXPOSURE_FENCES } from '../direct-debits/exposure-section.ts'
import { MANDATE_CHANGES, MANDATE_FENCES, MANDATE_REFERENCES, MANDATES } from '../direct-debits/mandate-section.ts'
import { DOCUMENT_FENCES, DOCUMENT_USES } from '../documents/document-section.ts'
import {
  EXCHANGE_CHANGES,
  EXCHANGE_FENCES,
  EXCHANGES,
  EXCHANGES_OF_CONTRACTS,
  EXTERNAL_IDS_OF_EXCHANGES,
  FX_ORDERS,
  FX_ORDERS_DONE,
  QUOTE_FENCES,
  QUOTES,
} from '../exchange/exchange-section.ts'
import {
  INCOMING_DEBIT_CHANGES,
  INCOMING_DEBIT_FENCES,
  INCOMING_DEBITS,
  PAYER_MANDATE_FENCES,
  PAYER_MANDATES,
} from '../incoming-debits/incoming-debit-section.ts'
import { INCOMING_PAYMENTS } from '../incoming-payments/incoming-payment-section.ts'
import { OUTBOX } from '../outbox/outbox-section.ts'
import {
  ATTENTION,
  INSTRUCTIONS,
  INSTRUCTIONS_DONE,
  INSTRUCTIONS_LATER,
  PAYMENTS_DUE,
  PAYMENTS_DUE_DONE,
} from '../payments/instruction-section.ts'
import {
  EXTERNAL_IDS_OF_PAYMENTS,
  PAYMENT_CHANGES,
  PAYMENT_DECISIONS,
  PAYMENT_FENCES,
  PAYMENT_REROUTES,
  PAYMENT_REWRITES,
  PAYMENTS,
  PAYMENTS_CONVERTED,
  PAYMENTS_OF_SCHEDULES,
  PAYMENTS_ROUTED,
} from '../payments/payment-section.ts'
import { CASH_ORDERS } from '../providers/cash/cash-order-section.ts'
import { PROVIDER_EVENTS } from '../providers/provider-event-section.ts'
import { FACT_FENCES } from '../recipients/recipient-section.ts'
import { STATUS_UPDATES } from '../trail/status-update-section.ts'
import { EXTERNAL_IDS_OF_TRANSFERS, TRANSFER_ORDERS, TRANSFERS } from '../transfers/transfer-section.ts'

/** The sections that write, in the order of the statement; the changes of balances come before them. */
const WRITES = [
  POSTINGS,
  HOLDS,
  HOLD_RESOLUTIONS,
  PAYMENTS,
  PAYMENT_CHANGES,
  TRANSFERS,
  STATUS_UPDATES,
  OUTBOX,
  IDEMPOTENCY,
  PROVIDER_EVENTS,
  INSTRUCTIONS,
  INSTRUCTIONS_DONE,
  ATTENTION,
  PAYMENT_DECISIONS,
  APPROVALS,
  OUTFLOWS,
  OUTFLOW_RETURNS,
  COMPLIANCE_HOLDS,
  EXCEPTIONS,
  EXCEPTION_ENDS,
  PAYMENTS_OF_SCHEDULES,
  PAYMENTS_CONVERTED,
  PAYMENTS_ROUTED,
  PAYMENT_REWRITES,
  PAYMENT_REROUTES,
  INSTRUCTIONS_LATER,
  PAYMENTS_DUE,
  PAYMENTS_DUE_DONE,
  INCOMING_PAYMENTS,
  TRANSFER_ORDERS,
  CASH_ORDERS,
  QUOTES,
  EXCHANGES,
  EXCHANGES_OF_CONTRACTS,
  EXCHANGE_CHANGES,
  FX_ORDERS,
  FX_ORDERS_DONE,
  DOCUMENT_USES,
  INCOMING_DEBITS,
  INCOMING_DEBIT_CHANGES,
  PAYER_MANDATES,
  MANDATES,
  MANDATE_CHANGES,
  COLLECTIONS,
  COLLECTION_CHANGES,
  EXPOSURE_CHANGES,
  CARD_TRANSACTIONS,
  CARD_TRANSACTION_CHANGES,
  CARD_EVENTS,
  CARD_USES,
]

/** The sections that find stale facts, in the order of the statement. Rows are locked in this order too. */
const FENCES = [
  BALANCE_FENCES,
  PAYMENT_FENCES,
  FACT_FENCES,
  CREDIT_FENCES,
  DEBIT_FENCES,
  PLACE_FENCES,
  RECORDED,
  EXTERNAL_IDS_OF_PAYMENTS,
  EXTERNAL_IDS_OF_TRANSFERS,
  EXCHANGE_FENCES,
  QUOTE_FENCES,
  EXTERNAL_IDS_OF_EXCHANGES,
  DOCUMENT_FENCES,
  INCOMING_DEBIT_FENCES,
  PAYER_MANDATE_FENCES,
  MANDATE_FENCES,
  MANDATE_REFERENCES,
  COLLECTION_FENCES,
  COLLECTION_FILE_FENCES,
  EXTERNAL_IDS_OF_COLLECTIONS,
  EXPOSURE_FENCES,
  CARD_FENCES,
  CARD_TRANSACTION_FENCES,
]

type ConflictOf<Listed> = Listed extends Fence<never, infer C> ? C : never

/** The reason why a commit wrote nothing: what a fence found, about a turn or a command of the caller's list. */
export type Conflict = ConflictOf<(typeof FENCES)[number]>

export const SECTIONS: CommitSections<BalanceAfter, Conflict> = { answered: BALANCES, writes: WRITES, fences: FENCES }

/** Commits turns together, or writes nothing; see `Commit`. */
export const commit: Commit<BalanceAfter, Conflict> = commitOf(SECTIONS)

/** The result of a commit: the balances as Postgres now holds them, or every reason why nothing was written. */
export type CommitResult = Awaited<ReturnType<typeof commit>>
