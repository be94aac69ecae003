/** The sections of the commit statement for payments. */
import type { PaymentChange, PaymentDecisionRow, PaymentRewrite, PaymentRow } from '../../lib/payments/effects.ts'
import { columnName, computed, NO_COLUMN, type Columns } from '../commit/columns.ts'
import {
  changed,
  commandConflict,
  externalIds,
  fence,
  gathered,
  insert,
  moves,
  NO_DETAIL,
  section,
  waitsFor,
  type Changeable,
  type Section,
  type VersionRow,
} from '../commit/section.ts'

export const EXTERNAL_IDS_OF_PAYMENTS = externalIds('payment')

const PAYMENT_COLUMNS = {
  id: 'uuid',
  customerId: 'uuid',
  operatorId: 'uuid',
  connectionId: 'uuid',
  shard: 'smallint',
  number: 'text',
  externalId: 'text',
  status: 'text',
  sourceBalanceId: 'uuid',
  recipientId: 'uuid',
  holdId: 'uuid',
  currency: 'text',
  amount: 'bigint',
  fee: 'bigint',
  rail: 'text',
  executionDate: 'date',
  createdBy: 'uuid',
  createdVia: 'text',
  details: 'json',
  metadata: 'jsonb',
  createdAt: 'timestamptz',
} as const satisfies Columns<Omit<PaymentRow, 'payingBalanceId' | 'scheduledPaymentId'>>
const PAYMENT_CONSTANTS = { version: '1', updated_at: 'u.created_at' }
/** Most payments are paid by their source balance, and need no column for the paying balance. */
const PAID_BY_SOURCE = { ...PAYMENT_CONSTANTS, paying_balance_id: 'u.source_balance_id' }
const SCHEDULED_PAYMENT = computed<PaymentRow>('uuid', (p) => p.scheduledPaymentId ?? null)

export const PAYMENTS: Section<PaymentRow> = gathered(
  'payments',
  insert<PaymentRow>(
    'payment',
    { ...PAYMENT_COLUMNS, payingBalanceId: NO_COLUMN, scheduledPaymentId: NO_COLUMN },
    PAID_BY_SOURCE,
  ),
  (payment, batch) => {
    batch.add(sectionOf(payment), payment)
    const { externalId, customerId } = payment
    if (externalId !== null) batch.add(EXTERNAL_IDS_OF_PAYMENTS, { command: batch.nth, externalId, customerId })
  },
)

/** Inserts payments that a schedule makes. Most payments have none and use the section without this column. */
export const PAYMENTS_OF_SCHEDULES = insert<PaymentRow>(
  'payment',
  { ...PAYMENT_COLUMNS, payingBalanceId: NO_COLUMN, scheduledPaymentId: SCHEDULED_PAYMENT },
  PAID_BY_SOURCE,
  'payment_of_schedule',
)

/** Inserts payments whose currency is bought first: the balance that receives the bought currency pays. */
export const PAYMENTS_CONVERTED = insert<PaymentRow>(
  'payment',
  { ...PAYMENT_COLUMNS, payingBalanceId: 'uuid', scheduledPaymentId: SCHEDULED_PAYMENT },
  PAYMENT_CONSTANTS,
  'payment_converted',
)

function sectionOf({ payingBalanceId, sourceBalanceId, scheduledPaymentId }: PaymentRow): Section<PaymentRow> {
  if (payingBalanceId !== sourceBalanceId) return PAYMENTS_CONVERTED
  return scheduledPaymentId === undefined ? PAYMENTS : PAYMENTS_OF_SCHEDULES
}

const REWRITTEN = {
  connectionId: 'uuid',
  externalId: 'text',
  status: 'text',
  sourceBalanceId: 'uuid',
  payingBalanceId: 'uuid',
  recipientId: 'uuid',
  holdId: 'uuid',
  currency: 'text',
  amount: 'bigint',
  fee: 'bigint',
  rail: 'text',
  executionDate: 'date',
  details: 'json',
  metadata: 'jsonb',
  updatedAt: 'timestamptz',
} as const satisfies Columns<Omit<PaymentRewrite, 'id' | 'version'>>

export const PAYMENT_REWRITES: Section<PaymentRewrite> = gathered(
  'paymentRewrites',
  section<PaymentRewrite>(
    'payment_rewritten',
    { id: 'uuid', version: NO_COLUMN, ...REWRITTEN },
    (source, bound) => `payment_rewritten_written as (
  update payment p set version = p.version + 1, ${Object.keys(REWRITTEN)
    .map(columnName)
    .map((name) => `${name} = u.${name}`)
    .join(', ')}
  from ${source} where p.id = u.id and p.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (rewrite, batch) => {
    batch.add(PAYMENT_REWRITES, rewrite)
    batch.change(PAYMENT_FENCES, rewrite.id, rewrite.version)
  },
)

export const PAYMENT_CHANGES: Section<PaymentChange> = gathered(
  'paymentChanges',
  section<PaymentChange>(
    'payment_changed',
    {
      id: 'uuid',
      version: NO_COLUMN,
      status: 'text',
      providerRef: 'text',
      failure: 'json',
      exception: 'json',
      sentAt: 'timestamptz',
      completedAt: 'timestamptz',
      failedAt: 'timestamptz',
      updatedAt: 'timestamptz',
    },
    (source, bound) => `payment_changed_written as (
  update payment p set status = u.status, version = p.version + 1, updated_at = u.updated_at,
    provider_ref = coalesce(u.provider_ref, p.provider_ref), failure = coalesce(u.failure, p.failure),
    exception = u.exception, sent_at = coalesce(u.sent_at, p.sent_at),
    completed_at = coalesce(u.completed_at, p.completed_at), failed_at = coalesce(u.failed_at, p.failed_at)
  from ${source} where p.id = u.id and p.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (change, batch) => {
    batch.add(PAYMENT_CHANGES, change)
    batch.change(PAYMENT_FENCES, change.id, change.version)
  },
)

/** The columns that a rare move of a payment may write beside its status. */
const DECIDED: Changeable<PaymentDecisionRow> = {
  statusReason: 'text',
  failure: 'text',
  exception: 'text',
  holdId: 'uuid',
  details: 'text',
  metadata: 'jsonb',
  approvedAt: 'timestamptz',
  cancelledAt: 'timestamptz',
  completedAt: 'timestamptz',
  failedAt: 'timestamptz',
  returnedAmount: 'bigint',
  returnInfo: 'text',
  recall: 'text',
  recallDueAt: 'timestamptz',
}

export const PAYMENT_DECISIONS: Section<PaymentDecisionRow> = gathered(
  'paymentDecisions',
  moves<PaymentDecisionRow>(
    'payment_decided',
    DECIDED,
    (source, bound) => `payment_decided_written as (
  update payment p set status = u.status, version = p.version + 1, updated_at = u.updated_at,
    ${changed(DECIDED, 'p')}
  from ${source} where p.id = u.id and p.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (decision, batch) => {
    batch.add(PAYMENT_DECISIONS, decision)
    batch.change(PAYMENT_FENCES, decision.id, decision.version)
  },
)

const PAYMENT_STALE = commandConflict('payment_stale')

/** Locks the payments that change, after the balances, and compares their versions. */
export const PAYMENT_FENCES = {
  ...fence<VersionRow, ReturnType<typeof PAYMENT_STALE.of>>(
    PAYMENT_STALE,
    'payment_fence',
    { turn: 'integer', id: 'uuid', version: 'integer' },
    (source) => `${NO_DETAIL} from ${source} left join locked_payment l on l.id = u.id
  where l.version is distinct from u.version`,
  ),
  lock: {
    name: 'locked_payment',
    sql: (ids: string, after: readonly string[]) => `
  select p.id, p.version from payment p where p.id = any(${ids}) ${waitsFor(after)}
  order by p.id for update`,
  },
}
