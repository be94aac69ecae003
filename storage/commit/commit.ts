/**
 * The hot transaction: writes the effects of many decisions in one prepared statement of chained CTEs.
 *
 * Promises
 * - I1/I3: rows are locked in one global order (`order by id for update`, balances before payments). The versions that
 *   the decisions were made on are compared; unless all of them match, nothing is written, and the caller gets the list
 *   of stale decisions and sends the rest again. A single statement is its own transaction: it has committed when its
 *   answer arrives.
 * - I5: a command whose idempotency record or external id exists already is reported with the recorded answer.
 * - I6: posted amounts move only by postings, each of one debit and one credit of the same amount.
 *
 * Decisions, with figures (two cores, fsync on, embedded Postgres 18)
 * - All or nothing, rather than leaving out the stale turns in SQL: a stale turn needs two writers for one customer,
 *   which leases make rare, and a predicate on every insert would slow every commit.
 * - The statement is put together from the sections that have rows and the parameters they share, and each combination
 *   is prepared once under its own name: an empty section costs some 20 µs, and only a few dozen combinations occur.
 * - Sequence numbers and running balances are offsets computed here, added in SQL to the locked row. Cached state may
 *   be older than the row, because credits do not pass through the actor; the locked row is current.
 */
import type { CreditRef, DebitRef } from '../../lib/ledger/account-ref.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { DOCUMENT_FENCES, DOCUMENT_USES } from './commit-documents.ts'
import {
  EXCHANGE_CHANGES,
  EXCHANGE_FENCES,
  EXCHANGES,
  EXCHANGES_OF_CONTRACTS,
  FX_ORDERS,
  FX_ORDERS_DONE,
  QUOTE_FENCES,
  QUOTES,
} from './commit-exchange.ts'
import {
  arrayOf,
  changed,
  changesOf,
  column,
  encode,
  externalIds,
  insert,
  NO_DETAIL,
  section,
  valuesOf,
  type Changeable,
  type SectionColumn,
  type ColumnType,
  type CommandRef,
  type Fence,
  type Section,
  type Value,
} from './commit-section.ts'

/** One decided command of a turn, with the effects to write. */
export interface CommitCommand {
  readonly effects: Effects
}

/**
 * The decisions of one activation. `fence` is the balance version they were made on; null where payments have fences of
 * their own.
 */
export interface CommitTurn {
  readonly fence: { readonly balanceId: string; readonly version: bigint } | null
  readonly commands: readonly CommitCommand[]
}

export interface BalanceAfter {
  readonly id: string
  readonly version: bigint
  readonly posted: bigint
  readonly held: bigint
  readonly sequence: bigint
}

export interface StoredOutcome {
  readonly fingerprint: string
  readonly status: number
  readonly resourceId: string | null
  readonly answer: string | null
  /** Time of the recorded decision, RFC 3339. */
  readonly decidedAt: string
}

/** The reason why a commit wrote nothing: `turn` and `command` are indexes into the caller's list. */
export type Conflict =
  | { readonly kind: 'balance_stale'; readonly turn: number }
  | { readonly kind: 'payment_stale'; readonly command: CommitCommand }
  | { readonly kind: 'fact_stale'; readonly command: CommitCommand }
  | { readonly kind: 'credit_refused'; readonly command: CommitCommand }
  | { readonly kind: 'recorded'; readonly command: CommitCommand; readonly outcome: StoredOutcome }
  | { readonly kind: 'external_id_used'; readonly command: CommitCommand; readonly existingId: string }
  | { readonly kind: 'exchange_stale'; readonly command: CommitCommand }
  /** `existingId`: the exchange that has used it. */
  | { readonly kind: 'quote_used'; readonly command: CommitCommand; readonly existingId: string }

export type CommitResult =
  | { readonly ok: true; readonly balances: readonly BalanceAfter[] }
  | { readonly ok: false; readonly conflicts: readonly Conflict[] }

/** Runs the statement: a dedicated connection of a commit lane. */
export interface CommitConnection {
  query(statement: { name: string; text: string; values: unknown[]; rowMode: 'array' }): Promise<{ rows: unknown[][] }>
}

/**
 * Parameters of a statement. A payment's id is in six of the sections, its customer's in four, its time in five:
 * columns with the same values share one parameter, which halves the bytes sent and saves Postgres a sixth of its time
 * for a payment. Only ids and times are compared: other columns would be equal by chance, and each combination of equal
 * columns is one more statement to prepare.
 */
class Parameters {
  readonly values: unknown[]
  /** The parameter number of every column of every present section. */
  readonly numbers: number[] = []
  readonly #shared: { readonly type: ColumnType; readonly number: number; readonly values: readonly Value[] }[] = []

  constructor(now: string) {
    this.values = [now]
  }

  bind(type: ColumnType, values: readonly Value[]): void {
    if ((type !== 'uuid' && type !== 'timestamptz') || statements.size >= SHAPES_MAX) {
      this.numbers.push(this.values.push(encode(type, values)))
      return
    }
    const same = this.#shared.find((other) => other.type === type && sameValues(other.values, values))
    if (same !== undefined) {
      this.numbers.push(same.number)
      return
    }
    const number = this.values.push(encode(type, values))
    this.numbers.push(number)
    this.#shared.push({ type, number, values })
  }
}

function sameValues(one: readonly Value[], other: readonly Value[]): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}

// ── Sections: one for each kind of row ────────────────────────────────────────────────────────────────────────────────

interface PostingLine {
  readonly posting: NonNullable<Effects['postings']>[number]
  debitNth: number | null
  debitSum: bigint | null
  creditNth: number | null
  creditSum: bigint | null
}

type Of<K extends keyof Effects> =
  NonNullable<Effects[K]> extends readonly (infer Row)[] ? Row : NonNullable<Effects[K]>

const POSTINGS = section<PostingLine>(
  'posting',
  [
    column('entry_id', 'uuid', (l) => l.posting.entryId),
    column('ordinal', 'smallint', (l) => l.posting.ordinal),
    column('customer_id', 'uuid', (l) => l.posting.customerId),
    column('rule', 'text', (l) => l.posting.rule),
    column('occurrence', 'smallint', (l) => l.posting.occurrence),
    column('source_object', 'text', (l) => l.posting.sourceObject),
    column('source_id', 'uuid', (l) => l.posting.sourceId),
    column('currency', 'text', (l) => l.posting.currency),
    column('amount', 'bigint', (l) => l.posting.amount),
    column('debit_account', 'uuid', (l) => l.posting.debit.id),
    column('credit_account', 'uuid', (l) => l.posting.credit.id),
    column('debit_nth', 'bigint', (l) => l.debitNth),
    column('debit_sum', 'bigint', (l) => l.debitSum),
    column('credit_nth', 'bigint', (l) => l.creditNth),
    column('credit_sum', 'bigint', (l) => l.creditSum),
    column('description', 'text', (l) => l.posting.description),
    column('reference', 'text', (l) => l.posting.reference),
    column('counterparty', 'text', (l) => l.posting.counterparty),
    column('reversal_of', 'uuid', (l) => l.posting.reversalOf),
    column('booked_at', 'timestamptz', (l) => l.posting.bookedAt),
    column('value_date', 'date', (l) => l.posting.valueDate),
  ],
  (source) => `posting_written as (
  insert into posting (entry_id, ordinal, customer_id, rule, occurrence, source_object, source_id, currency, amount,
    debit_account, credit_account, debit_sequence, debit_balance, credit_sequence, credit_balance,
    description, reference, counterparty, reversal_of, booked_at, value_date)
  select u.entry_id, u.ordinal, u.customer_id, u.rule, u.occurrence, u.source_object, u.source_id, u.currency, u.amount,
    u.debit_account, u.credit_account, d.sequence + u.debit_nth, d.posted + u.debit_sum, c.sequence + u.credit_nth,
    c.posted + u.credit_sum, u.description, u.reference, u.counterparty, u.reversal_of, u.booked_at, u.value_date
  from ${source}
  left join locked d on d.id = u.debit_account and u.debit_nth is not null
  left join locked c on c.id = u.credit_account and u.credit_nth is not null
  where (select ok from verdict))`,
)

const HOLDS = insert<Of<'holds'>>(
  'hold',
  [
    column('id', 'uuid', (h) => h.id),
    column('balance_id', 'uuid', (h) => h.balanceId),
    column('customer_id', 'uuid', (h) => h.customerId),
    column('amount', 'bigint', (h) => h.amount),
    column('subject_type', 'text', (h) => h.subjectType),
    column('subject_id', 'uuid', (h) => h.subjectId),
    column('description', 'text', (h) => h.description),
    column('created_at', 'timestamptz', (h) => h.createdAt),
  ],
  { status: `'active'` },
)

const HOLD_RESOLUTIONS = section<Of<'holdResolutions'>>(
  'hold_resolved',
  [
    column('id', 'uuid', (h) => h.id),
    column('status', 'text', (h) => h.status),
    column('captured_amount', 'bigint', (h) => h.capturedAmount),
    column('resolved_at', 'timestamptz', (h) => h.resolvedAt),
  ],
  (source, bound) => `hold_resolved_written as (
  update hold h set status = u.status, captured_amount = u.captured_amount, resolved_at = u.resolved_at
  from ${source} where h.id = u.id and h.id = any(${bound('id')}) and (select ok from verdict))`,
)

const PAYMENT_COLUMNS = [
  column('id', 'uuid', (p) => p.id),
  column('customer_id', 'uuid', (p) => p.customerId),
  column('operator_id', 'uuid', (p) => p.operatorId),
  column('connection_id', 'uuid', (p) => p.connectionId),
  column('shard', 'smallint', (p) => p.shard),
  column('number', 'text', (p) => p.number),
  column('external_id', 'text', (p) => p.externalId),
  column('status', 'text', (p) => p.status),
  column('source_balance_id', 'uuid', (p) => p.sourceBalanceId),
  column('recipient_id', 'uuid', (p) => p.recipientId),
  column('hold_id', 'uuid', (p) => p.holdId),
  column('currency', 'text', (p) => p.currency),
  column('amount', 'bigint', (p) => p.amount),
  column('fee', 'bigint', (p) => p.fee),
  column('rail', 'text', (p) => p.rail),
  column('execution_date', 'date', (p) => p.executionDate),
  column('created_by', 'uuid', (p) => p.createdBy),
  column('created_via', 'text', (p) => p.createdVia),
  column('details', 'json', (p) => p.details),
  column('metadata', 'jsonb', (p) => p.metadata),
  column('created_at', 'timestamptz', (p) => p.createdAt),
] as const satisfies readonly SectionColumn<Of<'payments'>>[]
const PAYMENT_CONSTANTS = { version: '1', updated_at: 'u.created_at' }
/** Most payments are paid by their source balance, and need no column for the paying balance. */
const PAID_BY_SOURCE = { ...PAYMENT_CONSTANTS, paying_balance_id: 'u.source_balance_id' }

const PAYMENTS = insert('payment', PAYMENT_COLUMNS, PAID_BY_SOURCE)

/** Inserts payments that a schedule makes. Most payments have none and use the section without this column. */
const PAYMENTS_OF_SCHEDULES = insert(
  'payment',
  [...PAYMENT_COLUMNS, column<Of<'payments'>>('scheduled_payment_id', 'uuid', (p) => p.scheduledPaymentId ?? null)],
  PAID_BY_SOURCE,
  'payment_of_schedule',
)

/** Inserts payments whose currency is bought first: the balance that receives the bought currency pays. */
const PAYMENTS_CONVERTED = insert(
  'payment',
  [
    ...PAYMENT_COLUMNS,
    column<Of<'payments'>>('paying_balance_id', 'uuid', (p) => p.payingBalanceId),
    column<Of<'payments'>>('scheduled_payment_id', 'uuid', (p) => p.scheduledPaymentId ?? null),
  ],
  PAYMENT_CONSTANTS,
  'payment_converted',
)

function sectionOf({ payingBalanceId, sourceBalanceId, scheduledPaymentId }: Of<'payments'>): typeof PAYMENTS {
  if (payingBalanceId !== sourceBalanceId) return PAYMENTS_CONVERTED
  return scheduledPaymentId === undefined ? PAYMENTS : PAYMENTS_OF_SCHEDULES
}

const REWRITTEN = [
  column<Of<'paymentRewrites'>>('connection_id', 'uuid', (p) => p.connectionId),
  column<Of<'paymentRewrites'>>('external_id', 'text', (p) => p.externalId),
  column<Of<'paymentRewrites'>>('status', 'text', (p) => p.status),
  column<Of<'paymentRewrites'>>('source_balance_id', 'uuid', (p) => p.sourceBalanceId),
  column<Of<'paymentRewrites'>>('paying_balance_id', 'uuid', (p) => p.payingBalanceId),
  column<Of<'paymentRewrites'>>('recipient_id', 'uuid', (p) => p.recipientId),
  column<Of<'paymentRewrites'>>('hold_id', 'uuid', (p) => p.holdId),
  column<Of<'paymentRewrites'>>('currency', 'text', (p) => p.currency),
  column<Of<'paymentRewrites'>>('amount', 'bigint', (p) => p.amount),
  column<Of<'paymentRewrites'>>('fee', 'bigint', (p) => p.fee),
  column<Of<'paymentRewrites'>>('rail', 'text', (p) => p.rail),
  column<Of<'paymentRewrites'>>('execution_date', 'date', (p) => p.executionDate),
  column<Of<'paymentRewrites'>>('details', 'json', (p) => p.details),
  column<Of<'paymentRewrites'>>('metadata', 'jsonb', (p) => p.metadata),
  column<Of<'paymentRewrites'>>('updated_at', 'timestamptz', (p) => p.updatedAt),
]
const PAYMENT_REWRITES = section<Of<'paymentRewrites'>>(
  'payment_rewritten',
  [column('id', 'uuid', (p) => p.id), ...REWRITTEN],
  (source, bound) => `payment_rewritten_written as (
  update payment p set version = p.version + 1, ${REWRITTEN.map(({ name }) => `${name} = u.${name}`).join(', ')}
  from ${source} where p.id = u.id and p.id = any(${bound('id')}) and (select ok from verdict))`,
)

const PAYMENT_CHANGES = section<Of<'paymentChanges'>>(
  'payment_changed',
  [
    column('id', 'uuid', (p) => p.id),
    column('status', 'text', (p) => p.status),
    column('provider_ref', 'text', (p) => p.providerRef),
    column('failure', 'json', (p) => p.failure),
    column('exception', 'json', (p) => p.exception),
    column('sent_at', 'timestamptz', (p) => p.sentAt),
    column('completed_at', 'timestamptz', (p) => p.completedAt),
    column('failed_at', 'timestamptz', (p) => p.failedAt),
    column('updated_at', 'timestamptz', (p) => p.updatedAt),
  ],
  (source, bound) => `payment_changed_written as (
  update payment p set status = u.status, version = p.version + 1, updated_at = u.updated_at,
    provider_ref = coalesce(u.provider_ref, p.provider_ref), failure = coalesce(u.failure, p.failure),
    exception = u.exception, sent_at = coalesce(u.sent_at, p.sent_at),
    completed_at = coalesce(u.completed_at, p.completed_at), failed_at = coalesce(u.failed_at, p.failed_at)
  from ${source} where p.id = u.id and p.id = any(${bound('id')}) and (select ok from verdict))`,
)

/** The columns that a rare move of a payment may write beside its status. */
const DECIDED = {
  statusReason: ['status_reason', 'text'],
  failure: ['failure', 'text'],
  exception: ['exception', 'text'],
  holdId: ['hold_id', 'uuid'],
  details: ['details', 'text'],
  metadata: ['metadata', 'jsonb'],
  approvedAt: ['approved_at', 'timestamptz'],
  cancelledAt: ['cancelled_at', 'timestamptz'],
  completedAt: ['completed_at', 'timestamptz'],
  failedAt: ['failed_at', 'timestamptz'],
  returnedAmount: ['returned_amount', 'bigint'],
  returnInfo: ['return_info', 'text'],
  recall: ['recall', 'text'],
  recallDueAt: ['recall_due_at', 'timestamptz'],
} as const satisfies Changeable<Of<'paymentDecisions'>>

const PAYMENT_DECISIONS = section<Of<'paymentDecisions'>>(
  'payment_decided',
  [
    column('id', 'uuid', (p) => p.id),
    column('status', 'text', (p) => p.status),
    column('updated_at', 'timestamptz', (p) => p.updatedAt),
    column('changes', 'jsonb', (p) => changesOf<Of<'paymentDecisions'>>(DECIDED, p)),
  ],
  (source, bound) => `payment_decided_written as (
  update payment p set status = u.status, version = p.version + 1, updated_at = u.updated_at,
    ${changed<Of<'paymentDecisions'>>(DECIDED, 'p')}
  from ${source} where p.id = u.id and p.id = any(${bound('id')}) and (select ok from verdict))`,
)

const APPROVALS = insert<Of<'approvals'>>(
  'approval',
  [
    column('id', 'uuid', (a) => a.id),
    column('customer_id', 'uuid', (a) => a.customerId),
    column('operator_id', 'uuid', (a) => a.operatorId),
    column('shard', 'smallint', (a) => a.shard),
    column('subject_type', 'text', (a) => a.subjectType),
    column('subject_id', 'uuid', (a) => a.subjectId),
    column('subject', 'text', (a) => a.subject),
    column('payload', 'text', (a) => a.payload),
    column('kind', 'text', (a) => a.kind),
    column('source', 'text', (a) => a.source),
    column('tier', 'jsonb', (a) => a.tier),
    column('tier_number', 'smallint', (a) => a.tierNumber),
    column('required', 'smallint', (a) => a.required),
    column('converted', 'boolean', (a) => String(a.converted)),
    column('requested_by', 'uuid', (a) => a.requestedBy),
    column('requested_by_name', 'text', (a) => a.requestedByName),
    column('requesters', 'jsonb', (a) => a.requesters),
    column('sandbox_decision', 'text', (a) => a.sandboxDecision),
    column('expires_at', 'timestamptz', (a) => a.expiresAt),
    column('created_at', 'timestamptz', (a) => a.createdAt),
  ],
  { status: `'pending'`, received: '0', version: '1', wake_at: 'u.created_at' },
)

/**
 * Adds outflow to one day or month of a customer or member: one row for each, because a statement cannot write a row
 * twice.
 */
const OUTFLOWS = section<Of<'outflows'>>(
  'outflow',
  [
    column('customer_id', 'uuid', (o) => o.customerId),
    column('spender_id', 'uuid', (o) => o.spenderId),
    column('currency', 'text', (o) => o.currency),
    column('period_kind', 'text', (o) => o.periodKind),
    column('period_start', 'date', (o) => o.periodStart),
    column('amount', 'bigint', (o) => o.amount),
    column('max_amount', 'bigint', (o) => o.maxAmount),
  ],
  (source) => `outflow_written as (
  insert into outflow as o (customer_id, spender_id, currency, period_kind, period_start, amount, max_amount)
  select u.customer_id, u.spender_id, u.currency, u.period_kind, u.period_start, u.amount, u.max_amount from ${source} where (select ok from verdict)
  on conflict (customer_id, spender_id, currency, period_kind, period_start) do update set amount = o.amount + excluded.amount, max_amount = excluded.max_amount)`,
)

const OUTFLOW_RETURNS = section<Of<'outflowReturns'>>(
  'outflow_return',
  [
    column('customer_id', 'uuid', (o) => o.customerId),
    column('spender_id', 'uuid', (o) => o.spenderId),
    column('currency', 'text', (o) => o.currency),
    column('day', 'date', (o) => o.day),
    column('amount', 'bigint', (o) => o.amount),
  ],
  (source, bound) => `outflow_returned_written as (
  update outflow o set amount = greatest(o.amount - r.amount, 0)
  from (select u.customer_id, s.spender_id, u.currency, k.kind, k.start, sum(u.amount)::bigint as amount from ${source}
    cross join lateral (select u.customer_id union select u.spender_id) s(spender_id)
    cross join lateral (values ('day', u.day), ('month', date_trunc('month', u.day)::date)) k(kind, start) group by 1, 2, 3, 4, 5) r
  where o.customer_id = r.customer_id and o.spender_id = r.spender_id and o.currency = r.currency and o.period_kind = r.kind and o.period_start = r.start
    and o.customer_id = any(${bound('customer_id')}) and (select ok from verdict))`,
)

const TRANSFERS = insert<Of<'transfers'>>(
  'transfer',
  [
    column('id', 'uuid', (r) => r.id),
    column('customer_id', 'uuid', (r) => r.customerId),
    column('operator_id', 'uuid', (r) => r.operatorId),
    column('shard', 'smallint', (r) => r.shard),
    column('number', 'text', (r) => r.number),
    column('external_id', 'text', (r) => r.externalId),
    column('status', 'text', (r) => r.status),
    column('from_balance_id', 'uuid', (r) => r.fromBalanceId),
    column('to_balance_id', 'uuid', (r) => r.toBalanceId),
    column('currency', 'text', (r) => r.currency),
    column('amount', 'bigint', (r) => r.amount),
    column('reference', 'text', (r) => r.reference),
    column('created_by', 'uuid', (r) => r.createdBy),
    column('created_via', 'text', (r) => r.createdVia),
    column('metadata', 'jsonb', (r) => r.metadata),
    column('completed_at', 'timestamptz', (r) => r.completedAt),
    column('created_at', 'timestamptz', (r) => r.createdAt),
  ],
  { version: '1', updated_at: 'u.created_at' },
)

const TRANSFER_ORDERS = insert<Of<'transferOrders'>>('transfer_order', [
  column('transfer_id', 'uuid', (o) => o.transferId),
  column('shard', 'smallint', (o) => o.shard),
  column('hold_id', 'uuid', (o) => o.holdId),
  column('from_connection_id', 'uuid', (o) => o.fromConnectionId),
  column('to_connection_id', 'uuid', (o) => o.toConnectionId),
  column('due_at', 'timestamptz', (o) => o.dueAt),
])

const INCOMING_PAYMENTS = insert<Of<'incomingPayments'>>(
  'incoming_payment',
  [
    column('id', 'uuid', (i) => i.id),
    column('customer_id', 'uuid', (i) => i.customerId),
    column('balance_id', 'uuid', (i) => i.balanceId),
    column('operator_id', 'uuid', (i) => i.operatorId),
    column('connection_id', 'uuid', (i) => i.connectionId),
    column('shard', 'smallint', (i) => i.shard),
    column('status', 'text', (i) => i.status),
    column('currency', 'text', (i) => i.currency),
    column('amount', 'bigint', (i) => i.amount),
    column('payer_name', 'text', (i) => i.payerName),
    column('payer_identifier', 'text', (i) => i.payerIdentifier),
    column('payer_bank_name', 'text', (i) => i.payerBankName),
    column('payer_country', 'text', (i) => i.payerCountry),
    column('reference', 'text', (i) => i.reference),
    column('rail', 'text', (i) => i.rail),
    column('end_to_end_id', 'text', (i) => i.endToEndId),
    column('uetr', 'uuid', (i) => i.uetr),
    column('value_date', 'date', (i) => i.valueDate),
    column('suspense', 'text', (i) => i.suspense),
    column('suspense_reason', 'text', (i) => i.suspenseReason),
    column('credited_at', 'timestamptz', (i) => i.creditedAt),
    column('received_at', 'timestamptz', (i) => i.receivedAt),
    column('origin_id', 'uuid', (i) => i.originId ?? null),
  ],
  { version: '1', updated_at: 'u.received_at' },
)

const STATUS_UPDATES = insert<Of<'statusUpdates'>>('status_update', [
  column('object_id', 'uuid', (s) => s.objectId),
  column('version', 'integer', (s) => s.version),
  column('customer_id', 'uuid', (s) => s.customerId),
  column('status', 'text', (s) => s.status),
  column('previous_status', 'text', (s) => s.previousStatus),
  column('message', 'text', (s) => s.message),
  column('actor', 'text', (s) => s.actor),
  column('at', 'timestamptz', (s) => s.at),
])

const OUTBOX = insert<Of<'events'>>('outbox', [
  column('id', 'uuid', (e) => e.id),
  column('created_at', 'timestamptz', (e) => e.createdAt),
  column('customer_id', 'uuid', (e) => e.customerId),
  column('operator_id', 'uuid', (e) => e.operatorId),
  column('shard', 'smallint', (e) => e.shard),
  column('type', 'text', (e) => e.type),
  column('object', 'text', (e) => e.object),
  column('object_id', 'uuid', (e) => e.objectId),
  column('status', 'text', (e) => e.status),
  column('previous_status', 'text', (e) => e.previousStatus),
  column('amount', 'bigint', (e) => e.amount),
  column('currency', 'text', (e) => e.currency),
])

const IDEMPOTENCY = insert<Of<'idempotency'>>('idempotency', [
  column('id', 'uuid', (i) => i.id),
  column('day', 'date', (i) => timestamp(i.createdAt).slice(0, 10)),
  column('fingerprint', 'uuid', (i) => i.fingerprint),
  column('status', 'smallint', (i) => i.status),
  column('resource_id', 'uuid', (i) => i.resourceId),
  column('answer', 'text', (i) => i.answer),
  column('created_at', 'timestamptz', (i) => i.createdAt),
])

const PROVIDER_EVENTS = insert<Of<'providerEvents'>>('provider_event', [
  column('id', 'uuid', (e) => e.id),
  column('connection_id', 'uuid', (e) => e.connectionId),
  column('type', 'text', (e) => e.type),
  column('object_id', 'uuid', (e) => e.objectId),
  column('code', 'text', (e) => e.code),
  column('received_at', 'timestamptz', (e) => e.receivedAt),
])

const INSTRUCTIONS = insert<Of<'instructions'>>('partner_instruction', [
  column('payment_id', 'uuid', (i) => i.paymentId),
  column('shard', 'smallint', (i) => i.shard),
])

/** Inserts instructions that are handed to the partner later, from `notBefore` on. */
const INSTRUCTIONS_LATER = insert<Of<'instructions'>>(
  'partner_instruction',
  [
    column('payment_id', 'uuid', (i) => i.paymentId),
    column('shard', 'smallint', (i) => i.shard),
    column('not_before', 'timestamptz', (i) => i.notBefore ?? null),
  ],
  {},
  'instruction_later',
)

const INSTRUCTIONS_DONE = section<string>(
  'instruction_done',
  [column('payment_id', 'uuid', (id) => id)],
  (source, bound) => `instruction_done_written as (
  delete from partner_instruction i using ${source}
  where i.payment_id = u.payment_id and i.payment_id = any(${bound('payment_id')}) and (select ok from verdict))`,
)

const ATTENTION = section<Of<'attention'>>(
  'attention',
  [column('payment_id', 'uuid', (i) => i.paymentId), column('attention_at', 'timestamptz', (i) => i.attentionAt)],
  (source, bound) => `attention_written as (
  update partner_instruction i set attention_at = u.attention_at, attempts = i.attempts + 1 from ${source}
  where i.payment_id = u.payment_id and i.payment_id = any(${bound('payment_id')}) and (select ok from verdict))`,
)

const PAYMENTS_DUE = insert<Of<'paymentsDue'>>('payment_due', [
  column('payment_id', 'uuid', (d) => d.paymentId),
  column('shard', 'smallint', (d) => d.shard),
  column('due_at', 'timestamptz', (d) => d.dueAt),
  column('until', 'timestamptz', (d) => d.until),
])

const PAYMENTS_DUE_DONE = section<string>(
  'payment_due_done',
  [column('payment_id', 'uuid', (id) => id)],
  (source, bound) => `payment_due_done_written as (
  delete from payment_due d using ${source}
  where d.payment_id = u.payment_id and d.payment_id = any(${bound('payment_id')}) and (select ok from verdict))`,
)

const COMPLIANCE_HOLDS = insert<Of<'complianceHolds'>>(
  'compliance_hold',
  [
    column('id', 'uuid', (h) => h.id),
    column('kind', 'text', (h) => h.kind),
    column('provider', 'text', (h) => h.provider),
    column('subject_type', 'text', (h) => h.subjectType),
    column('subject_id', 'uuid', (h) => h.subjectId),
    column('customer_id', 'uuid', (h) => h.customerId),
    column('operator_id', 'uuid', (h) => h.operatorId),
    column('shard', 'smallint', (h) => h.shard),
    column('currency', 'text', (h) => h.currency),
    column('amount', 'bigint', (h) => h.amount),
    column('counterparty', 'text', (h) => h.counterparty),
    column('findings', 'json', (h) => JSON.stringify(h.findings)),
    column('sandbox_decision', 'text', (h) => h.decides?.decision ?? null),
    column('wake_at', 'timestamptz', (h) => h.decides?.at ?? null),
    column('created_at', 'timestamptz', (h) => h.createdAt),
  ],
  { status: `'open'`, updated_at: 'u.created_at' },
)

const EXCEPTIONS = section<Of<'exceptions'>>(
  'exception_case',
  [
    column('id', 'uuid', (e) => e.id),
    column('kind', 'text', (e) => e.kind),
    column('code', 'text', (e) => e.code),
    column('message', 'text', (e) => e.message),
    column('subject_type', 'text', (e) => e.subjectType),
    column('subject_id', 'uuid', (e) => e.subjectId),
    column('customer_id', 'uuid', (e) => e.customerId),
    column('operator_id', 'uuid', (e) => e.operatorId),
    column('shard', 'smallint', (e) => e.shard),
    column('currency', 'text', (e) => e.currency),
    column('amount', 'bigint', (e) => e.amount),
    column('created_at', 'timestamptz', (e) => e.createdAt),
  ],
  (source) => `exception_case_written as (
  insert into exception_case (id, kind, code, message, subject_type, subject_id, customer_id, operator_id, shard, currency, amount, created_at, status, updated_at)
  select u.*, 'open', u.created_at from ${source} where (select ok from verdict) on conflict (subject_id) where status = 'open' do nothing)`,
)

const EXCEPTION_ENDS = section<Of<'exceptionEnds'>>(
  'exception_ended',
  [
    column('subject_id', 'uuid', (e) => e.subjectId),
    column('outcome', 'text', (e) => e.outcome),
    column('at', 'timestamptz', (e) => e.at),
  ],
  (source, bound) => `exception_ended_written as (
  update exception_case e set status = 'resolved', outcome = u.outcome, resolved_at = u.at, updated_at = u.at, version = e.version + 1
  from ${source} where e.subject_id = u.subject_id and e.subject_id = any(${bound('subject_id')}) and e.status = 'open' and (select ok from verdict))`,
)

// ── Fences and stale facts ────────────────────────────────────────────────────────────────────────────────────────────

const BALANCE_FENCES = section<Fence>(
  'balance_fence',
  [
    column('turn', 'integer', (f) => f.turn),
    column('id', 'uuid', (f) => f.id),
    column('version', 'bigint', (f) => f.version),
  ],
  (source) => `select 'balance_stale', u.turn, ${NO_DETAIL} from ${source} left join locked l on l.id = u.id
  where l.version is distinct from u.version`,
)

const PAYMENT_FENCES = section<Fence>(
  'payment_fence',
  [
    column('turn', 'integer', (f) => f.turn),
    column('id', 'uuid', (f) => f.id),
    column('version', 'integer', (f) => f.version),
  ],
  (source) => `select 'payment_stale', u.turn, ${NO_DETAIL} from ${source} left join locked_payment l on l.id = u.id
  where l.version is distinct from u.version`,
)

const FACT_FENCES = section<CommandRef & { readonly version: bigint }>(
  'fact_fence',
  [
    column('command', 'integer', (f) => f.command),
    column('id', 'uuid', (f) => f.id),
    column('version', 'bigint', (f) => f.version),
  ],
  (source, bound) => `select 'fact_stale', u.command, ${NO_DETAIL} from ${source}
  left join (select r.id, r.version from recipient r where r.id = any(${bound('id')})) r on r.id = u.id
  where r.version is distinct from u.version`,
)

const CREDIT_FENCES = section<CommandRef & { readonly currency: string }>(
  'credit_fence',
  [
    column('command', 'integer', (f) => f.command),
    column('id', 'uuid', (f) => f.id),
    column('currency', 'text', (f) => f.currency),
  ],
  (source) => `select 'credit_refused', u.command, ${NO_DETAIL} from ${source} left join locked l on l.id = u.id
  where l.status is null or l.status not in ('active', 'frozen') or l.currency <> u.currency`,
)

/**
 * Finds recorded answers of idempotency keys. A key lives for a day, so its record is in the partition of this day or
 * the one before. Days are in UTC, whatever the session's time zone: a time zone ahead of UTC would skip yesterday's
 * records, and a repeated command would move money again.
 */
const RECORDED = section<CommandRef & { readonly since: number }>(
  'recorded',
  [
    column('command', 'integer', (r) => r.command),
    column('id', 'uuid', (r) => r.id),
    column('since', 'timestamptz', (r) => r.since),
  ],
  (source, bound) => `select 'recorded', u.command, i.fingerprint, i.resource_id, i.status, i.answer, i.created_at
  from ${source} join idempotency i on i.id = u.id and i.id = any(${bound('id')}) and i.created_at > u.since
  where i.day >= ((${bound('since')})[1] at time zone 'UTC')::date`,
)

const EXTERNAL_IDS_OF_PAYMENTS = externalIds('payment')
const EXTERNAL_IDS_OF_TRANSFERS = externalIds('transfer')
const EXTERNAL_IDS_OF_EXCHANGES = externalIds('exchange')

/**
 * Whether an error means that a commit would have exceeded a limit: another balance or node has used the remaining
 * amount since it was read. As with any stale decision, nothing was written, and the command is decided again on
 * current facts.
 */
export function isBeyondLimit(error: unknown): boolean {
  return (error as { readonly constraint?: unknown } | null)?.constraint === 'outflow_within_limit'
}

/** Retention of an idempotency key, in milliseconds. */
export const IDEMPOTENCY_RETENTION_MS = 24 * 60 * 60 * 1000

// ── The statement ─────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * SQL condition: the time is not near midnight (UTC). When two nodes receive one key at once, the unique row of the
 * key, one for each day, keeps them apart. Near midnight their rows may be of two days; then every turn moves the
 * version of its balance, even a turn that refuses or holds no money, so that the second turn is stale, is decided
 * again and finds the key. The margin is five minutes, more than a command may wait (15 s) and more than clocks may
 * differ.
 */
const ABOUT_MIDNIGHT = `($1::timestamptz at time zone 'UTC')::time not between '00:05' and '23:55'`

/** The changes of one balance row in this commit. */
interface BalanceDelta {
  posted: bigint
  held: bigint
  sequence: number
  version: number
}

const BALANCE_DELTAS = section<readonly [string, BalanceDelta]>(
  'balance',
  [
    column('id', 'uuid', ([id]) => id),
    column('posted', 'bigint', ([, d]) => d.posted),
    column('held', 'bigint', ([, d]) => d.held),
    column('sequence', 'bigint', ([, d]) => d.sequence),
    column('version', 'bigint', ([, d]) => d.version),
  ],
  (source, bound) => `balance_written as (
  update balance b set posted = l.posted + u.posted, held = l.held + u.held, sequence = l.sequence + u.sequence,
    version = l.version + u.version, updated_at = greatest(b.updated_at, $1::timestamptz)
  from ${source} join locked l on l.id = u.id where b.id = u.id and b.id = any(${bound('id')}) and (select ok from verdict)
    -- A turn that takes and gives nothing leaves the balance as it was, its version too; except about midnight (ABOUT_MIDNIGHT).
    and (u.posted <> 0 or u.held <> 0 or u.sequence <> 0 or (u.version > 0 and ${ABOUT_MIDNIGHT}))
  returning b.id, b.version, b.posted, b.held, b.sequence)`,
)

const WRITE_SECTIONS = [
  BALANCE_DELTAS,
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
  PAYMENT_REWRITES,
  INSTRUCTIONS_LATER,
  PAYMENTS_DUE,
  PAYMENTS_DUE_DONE,
  INCOMING_PAYMENTS,
  TRANSFER_ORDERS,
  QUOTES,
  EXCHANGES,
  EXCHANGES_OF_CONTRACTS,
  EXCHANGE_CHANGES,
  FX_ORDERS,
  FX_ORDERS_DONE,
  DOCUMENT_USES,
] as const
const FENCE_SECTIONS = [
  BALANCE_FENCES,
  PAYMENT_FENCES,
  FACT_FENCES,
  CREDIT_FENCES,
  RECORDED,
  EXTERNAL_IDS_OF_PAYMENTS,
  EXTERNAL_IDS_OF_TRANSFERS,
  EXCHANGE_FENCES,
  QUOTE_FENCES,
  EXTERNAL_IDS_OF_EXCHANGES,
  DOCUMENT_FENCES,
] as const
const SECTIONS: readonly Section[] = [...WRITE_SECTIONS, ...FENCE_SECTIONS]

/**
 * Statements that are prepared, at most; each takes some 100 kB on each lane. A day of payments needs about two dozen,
 * three for each combination of sections. Beyond this number parameters are no longer shared, which leaves one
 * statement for each combination.
 */
const SHAPES_MAX = 256

/** The prepared texts, by their sections and shared parameters. */
const statements = new Map<string, { name: string; text: string }>()

function statementFor(present: readonly number[], numbers: readonly number[]): { name: string; text: string } {
  const shape = `${present.join('.')}:${numbers.join(',')}`
  let statement = statements.get(shape)
  if (statement) return statement
  let next = 0
  const writes: string[] = []
  const fences: string[] = []
  let lockedPayment = ''
  let lockedExchange = ''
  let balanceIds = 'array[]::uuid[]'
  for (const index of present) {
    const part = SECTIONS[index] as Section
    const bound = new Map(part.columns.map((c) => [c.name, arrayOf(c.type, numbers[next++] as number)]))
    const source = `unnest(${[...bound.values()].join(', ')}) as u(${[...bound.keys()].join(', ')})`
    const sql = part.sql(source, (name) => bound.get(name) as string)
    if (part === BALANCE_DELTAS) balanceIds = bound.get('id') as string
    if (part === PAYMENT_FENCES) {
      // The count makes this part wait for the balances: without it the planner chose which table is locked first,
      // batch by batch, and two nodes that moved the same payments deadlocked.
      lockedPayment = `, locked_payment as materialized (
  select p.id, p.version from payment p where p.id = any(${bound.get('id')}) and (select count(*) from locked) >= 0
  order by p.id for update)`
    }
    if (part === EXCHANGE_FENCES) {
      lockedExchange = `, locked_exchange as materialized (
  select e.id, e.version from exchange e where e.id = any(${bound.get('id')}) and (select count(*) from locked) >= 0
    ${lockedPayment === '' ? '' : 'and (select count(*) from locked_payment) >= 0'} order by e.id for update)`
    }
    if ((WRITE_SECTIONS as readonly Section[]).includes(part)) writes.push(sql)
    else fences.push(sql)
  }
  const stale = fences.length > 0 ? fences.join('\n  union all ') : `select null, null, ${NO_DETAIL} where false`
  const text = `with locked as materialized (
  select b.id, b.version, b.posted, b.held, b.sequence, b.status, b.currency from balance b
  where b.id = any(${balanceIds}) order by b.id for update)${lockedPayment}${lockedExchange},
stale(kind, nth, fingerprint, resource_id, status, answer, decided_at) as materialized (
  ${stale}),
verdict as materialized (select not exists (select from stale) and (select count(*) from locked) >= 0 and $1::timestamptz is not null as ok),
${writes.join(',\n')}
select kind, nth, fingerprint, resource_id, status, answer, decided_at, null::bigint, null::bigint, null::bigint, null::bigint from stale
${present[0] !== 0 ? '' : `union all select 'balance', null, null, id, null, null, null, version, posted, held, sequence from balance_written`}`
  statement = { name: `commit_${statements.size}`, text }
  statements.set(shape, statement)
  return statement
}

/** Rows gathered from many turns, ready to be bound. */
class Batch {
  readonly rows: unknown[][] = SECTIONS.map(() => [])
  readonly commands: CommitCommand[] = []
  readonly balances = new Map<string, BalanceDelta>()
  readonly outflows = new Map<string, Of<'outflows'>>()
  /**
   * Commands that change a row that an earlier command of this commit changes: both rest on the same version, so the
   * later one is stale.
   */
  readonly late: Extract<Conflict, { kind: 'payment_stale' | 'exchange_stale' }>[] = []
  readonly #changed = new Set<string>()
  /**
   * Records that a command changes a row. One statement writes a row once: a second change would be lost, while its
   * postings would not.
   */
  changes(id: string, kind: 'payment_stale' | 'exchange_stale', command: CommitCommand): void {
    if (this.#changed.has(id)) this.late.push({ kind, command })
    else this.#changed.add(id)
  }

  add<Row>(part: { readonly name: string; readonly row?: Row }, row: Row): void {
    ;(this.rows[SECTION_INDEX.get(part.name) as number] as unknown[]).push(row)
  }

  addAll<Row>(part: { readonly name: string; readonly row?: Row }, rows: readonly Row[] | undefined): void {
    if (rows !== undefined) for (const row of rows) this.add(part, row)
  }

  balance(id: string): BalanceDelta {
    let delta = this.balances.get(id)
    if (delta === undefined) this.balances.set(id, (delta = { posted: 0n, held: 0n, sequence: 0, version: 0 }))
    return delta
  }

  /** Adds to the outflow of a customer's day or month; rows are written in the order of their keys. */
  outflow(outflow: Of<'outflows'>): void {
    const key = `${outflow.customerId} ${outflow.spenderId} ${outflow.currency} ${outflow.periodKind} ${outflow.periodStart}`
    const known = this.outflows.get(key)
    this.outflows.set(key, known === undefined ? outflow : { ...outflow, amount: known.amount + outflow.amount })
  }

  /** Books one side of a posting; returns its offset from the locked row, or nulls for an internal account. */
  side(account: DebitRef | CreditRef, amount: bigint): { nth: number | null; sum: bigint | null } {
    if (account.kind === 'internal') return INTERNAL_SIDE
    const delta = this.balance(account.id)
    delta.posted += amount
    delta.sequence += 1
    return { nth: delta.sequence, sum: delta.posted }
  }

  /** `decides`: the balance whose turn this is. */
  command(command: CommitCommand, decides: string | null): void {
    this.effects(command.effects, command, this.commands.push(command) - 1, decides)
  }

  /**
   * Refuses credits to a balance that accepts none any more. @throws when the credit names a deciding balance that does
   * not decide here, a bug
   */
  fenceCredit(
    { id, fence }: Extract<CreditRef, { kind: 'balance' }>,
    currency: string,
    nth: number,
    decides: string | null,
  ): void {
    if (fence === 'open') this.add(CREDIT_FENCES, { command: nth, id, currency })
    else if (id !== decides) throw new Error(`The balance ${id} is credited as if it decided this by itself.`)
  }

  /** Adds the effects of a command: its own, and those that its moves of exchanges cause for their payments. */
  effects(effects: Effects, command: CommitCommand, nth: number, decides: string | null): void {
    if (effects.postings) {
      for (const posting of effects.postings) {
        const debit = this.side(posting.debit, -posting.amount)
        const credit = this.side(posting.credit, posting.amount)
        if (posting.credit.kind === 'balance') this.fenceCredit(posting.credit, posting.currency, nth, decides)
        this.add(POSTINGS, {
          posting,
          debitNth: debit.nth,
          debitSum: debit.sum,
          creditNth: credit.nth,
          creditSum: credit.sum,
        })
      }
    }
    if (effects.holds) {
      for (const hold of effects.holds) {
        this.balance(hold.balanceId).held += hold.amount
        this.add(HOLDS, hold)
      }
    }
    if (effects.holdResolutions) {
      for (const hold of effects.holdResolutions) {
        this.balance(hold.balanceId).held -= hold.amount
        this.add(HOLD_RESOLUTIONS, hold)
      }
    }
    if (effects.payments) {
      for (const payment of effects.payments) {
        this.add(sectionOf(payment), payment)
        if (payment.externalId !== null)
          this.add(EXTERNAL_IDS_OF_PAYMENTS, { command: nth, id: payment.externalId, customerId: payment.customerId })
      }
    }
    if (effects.paymentRewrites) {
      for (const rewrite of effects.paymentRewrites) {
        this.changes(rewrite.id, 'payment_stale', command)
        this.add(PAYMENT_REWRITES, rewrite)
        this.add(PAYMENT_FENCES, { turn: nth, id: rewrite.id, version: rewrite.version })
      }
    }
    if (effects.transfers) {
      for (const transfer of effects.transfers) {
        this.add(TRANSFERS, transfer)
        if (transfer.externalId !== null)
          this.add(EXTERNAL_IDS_OF_TRANSFERS, {
            command: nth,
            id: transfer.externalId,
            customerId: transfer.customerId,
          })
      }
    }
    if (effects.paymentChanges) {
      for (const change of effects.paymentChanges) {
        this.changes(change.id, 'payment_stale', command)
        this.add(PAYMENT_CHANGES, change)
        this.add(PAYMENT_FENCES, { turn: nth, id: change.id, version: change.version })
      }
    }
    if (effects.paymentDecisions) {
      for (const decision of effects.paymentDecisions) {
        this.changes(decision.id, 'payment_stale', command)
        this.add(PAYMENT_DECISIONS, decision)
        this.add(PAYMENT_FENCES, { turn: nth, id: decision.id, version: decision.version })
      }
    }
    if (effects.idempotency) {
      this.add(IDEMPOTENCY, effects.idempotency)
      this.add(RECORDED, {
        command: nth,
        id: effects.idempotency.id,
        since: effects.idempotency.createdAt - IDEMPOTENCY_RETENTION_MS,
      })
    }
    if (effects.facts)
      for (const fact of effects.facts)
        this.add(FACT_FENCES, { command: nth, id: fact.recipientId, version: fact.version })
    if (effects.credits) {
      for (const credit of effects.credits) {
        this.balance(credit.balanceId)
        this.add(CREDIT_FENCES, { command: nth, id: credit.balanceId, currency: credit.currency })
      }
    }
    if (effects.exchanges) {
      for (const exchange of effects.exchanges) {
        this.add(exchange.kind === 'spot' ? EXCHANGES : EXCHANGES_OF_CONTRACTS, exchange)
        if (exchange.quoteId !== null) this.add(QUOTE_FENCES, { command: nth, id: exchange.quoteId })
        if (exchange.externalId !== null)
          this.add(EXTERNAL_IDS_OF_EXCHANGES, {
            command: nth,
            id: exchange.externalId,
            customerId: exchange.customerId,
          })
      }
    }
    if (effects.exchangeChanges) {
      for (const change of effects.exchangeChanges) {
        this.changes(change.id, 'exchange_stale', command)
        if (typeof change.payment !== 'string') this.effects(change.payment, command, nth, decides)
        this.add(EXCHANGE_CHANGES, change)
        this.add(EXCHANGE_FENCES, { turn: nth, id: change.id, version: change.version })
      }
    }
    this.addAll(QUOTES, effects.quotes)
    this.addAll(FX_ORDERS, effects.fxOrders)
    this.addAll(FX_ORDERS_DONE, effects.fxOrdersDone)
    this.addAll(INCOMING_PAYMENTS, effects.incomingPayments)
    this.addAll(TRANSFER_ORDERS, effects.transferOrders)
    if (effects.documentUses) {
      for (const use of effects.documentUses) {
        this.add(DOCUMENT_USES, use)
        this.add(DOCUMENT_FENCES, { command: nth, id: use.documentId })
      }
    }
    this.addAll(STATUS_UPDATES, effects.statusUpdates)
    this.addAll(OUTBOX, effects.events)
    this.addAll(PROVIDER_EVENTS, effects.providerEvents)
    if (effects.instructions)
      for (const instruction of effects.instructions)
        this.add(instruction.notBefore === undefined ? INSTRUCTIONS : INSTRUCTIONS_LATER, instruction)
    this.addAll(PAYMENTS_DUE, effects.paymentsDue)
    this.addAll(PAYMENTS_DUE_DONE, effects.paymentsDueDone)
    this.addAll(INSTRUCTIONS_DONE, effects.instructionsDone)
    this.addAll(ATTENTION, effects.attention)
    this.addAll(APPROVALS, effects.approvals)
    this.addAll(COMPLIANCE_HOLDS, effects.complianceHolds)
    this.addAll(EXCEPTIONS, effects.exceptions)
    this.addAll(EXCEPTION_ENDS, effects.exceptionEnds)
    this.addAll(OUTFLOW_RETURNS, effects.outflowReturns)
    if (effects.outflows) for (const outflow of effects.outflows) this.outflow(outflow)
  }

  turn(turn: CommitTurn, index: number): void {
    for (const command of turn.commands) this.command(command, turn.fence?.balanceId ?? null)
    if (turn.fence !== null) {
      this.balance(turn.fence.balanceId).version += 1
      this.add(BALANCE_FENCES, { turn: index, id: turn.fence.balanceId, version: turn.fence.version })
    }
  }
}

const INTERNAL_SIDE = { nth: null, sum: null } as const
const SECTION_INDEX = new Map(SECTIONS.map((part, index) => [part.name, index]))

/**
 * Commits the turns together, or writes nothing.
 *
 * @param nowMs the time the batch is written at; balances show it as `updatedAt`.
 * @returns the balances as Postgres now holds them, or every reason why nothing was written.
 * @throws the driver's errors. An error with an SQLSTATE proves that nothing was written; a lost connection does not
 * (I7).
 */
export async function commit(
  connection: CommitConnection,
  turns: readonly CommitTurn[],
  nowMs: number,
): Promise<CommitResult> {
  const batch = new Batch()
  turns.forEach((turn, index) => batch.turn(turn, index))
  if (batch.late.length > 0) return { ok: false, conflicts: batch.late }
  for (const entry of batch.balances) batch.add(BALANCE_DELTAS, entry)
  if (batch.outflows.size > 0)
    for (const [, outflow] of [...batch.outflows].sort(([left], [right]) => (left < right ? -1 : 1)))
      batch.add(OUTFLOWS, outflow)
  /** Indexes of the sections that have rows, ascending; the section of balances is the first. */
  const present: number[] = []
  const parameters = new Parameters(timestamp(nowMs))
  SECTIONS.forEach((part, index) => {
    const rows = batch.rows[index] as unknown[]
    if (rows.length === 0) return
    present.push(index)
    for (const c of part.columns) parameters.bind(c.type, valuesOf(rows, c as unknown as SectionColumn<unknown>))
  })
  const { rows } = await connection.query({
    ...statementFor(present, parameters.numbers),
    values: parameters.values,
    rowMode: 'array',
  })
  const conflicts: Conflict[] = []
  const balances: BalanceAfter[] = []
  for (const row of rows) {
    if (row[0] === 'balance') {
      balances.push({
        id: row[3] as string,
        version: BigInt(row[7] as string),
        posted: BigInt(row[8] as string),
        held: BigInt(row[9] as string),
        sequence: BigInt(row[10] as string),
      })
    } else conflicts.push(conflictOf(row, batch.commands))
  }
  return conflicts.length > 0 ? { ok: false, conflicts } : { ok: true, balances }
}

function conflictOf(row: unknown[], commands: readonly CommitCommand[]): Conflict {
  const [kind, nth, fingerprint, resourceId, status, answer, decidedAt] = row as [
    Conflict['kind'],
    number,
    string,
    string,
    number,
    string | null,
    Date,
  ]
  if (kind === 'balance_stale') return { kind, turn: nth }
  const command = commands[nth] as CommitCommand
  if (kind === 'recorded')
    return { kind, command, outcome: { fingerprint, status, resourceId, answer, decidedAt: decidedAt.toISOString() } }
  if (kind === 'external_id_used' || kind === 'quote_used') return { kind, command, existingId: resourceId }
  return { kind, command }
}
