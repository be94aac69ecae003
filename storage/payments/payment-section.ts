/** The sections of the commit statement for payments. */
import type {
  PaymentChange,
  PaymentDecisionRow,
  PaymentReroute,
  PaymentRewrite,
  PaymentRow,
} from '../../lib/payments/effects.ts'
import { computed, NO_COLUMN, type Columns } from '../commit/columns.ts'
import {
  alike,
  changed,
  commandConflict,
  externalIds,
  fence,
  gathered,
  insertInto,
  moves,
  NO_DETAIL,
  section,
  waitsFor,
  type Changeable,
  type Section,
  type VersionRow,
} from '../commit/section.ts'
import { columns, pick, without } from '../db/columns.ts'
import { Payment } from './payment-entity.ts'

export const EXTERNAL_IDS_OF_PAYMENTS = externalIds('payment')

const COLUMNS = columns(Payment)

/** The columns that moves write, and no creation. */
const MOVED = [
  'failure',
  'statusReason',
  'exception',
  'returnedAmount',
  'returnInfo',
  'recall',
  'recallDueAt',
  'providerRef',
  'sentAt',
  'completedAt',
  'failedAt',
  'approvedAt',
  'cancelledAt',
] as const

const CREATED = without(COLUMNS, [...MOVED, 'version', 'payingBalanceId', 'scheduledPaymentId', 'routing', 'updatedAt'])
const CONSTANTS = { version: '1', updated_at: 'u.created_at' }
/** Most payments are paid by their source balance, and need no column for the paying balance. */
const PAID_BY_SOURCE = { ...CONSTANTS, paying_balance_id: 'u.source_balance_id' }
const ROUTING = computed<{ readonly routing?: string }>(COLUMNS.routing, (p) => p.routing ?? null)
const SCHEDULED_PAYMENT = computed<PaymentRow>(COLUMNS.scheduledPaymentId, (p) => p.scheduledPaymentId ?? null)

export const PAYMENTS: Section<PaymentRow> = gathered(
  'payments',
  alike(
    insertInto(
      Payment,
      {
        ...CREATED,
        payingBalanceId: NO_COLUMN,
        scheduledPaymentId: NO_COLUMN,
        routing: NO_COLUMN,
      } satisfies Columns<PaymentRow>,
      PAID_BY_SOURCE,
    ),
    ['status', 'created_via'],
    ['currency', 'rail', 'execution_date'],
    ['external_id', 'fee'],
    ['customer_id', 'operator_id', 'connection_id', 'shard', 'source_balance_id', 'created_by'],
  ),
  (payment, batch) => {
    batch.add(sectionOf(payment), payment)
    const { externalId, customerId } = payment
    if (externalId !== null) batch.add(EXTERNAL_IDS_OF_PAYMENTS, { command: batch.nth, externalId, customerId })
  },
)

/** Inserts payments that a schedule makes. Most payments have none and use the section without this column. */
export const PAYMENTS_OF_SCHEDULES: Section<PaymentRow> = insertInto(
  Payment,
  { ...CREATED, scheduledPaymentId: SCHEDULED_PAYMENT },
  PAID_BY_SOURCE,
  'payment_of_schedule',
)

/** Inserts payments whose currency is bought first: the balance that receives the bought currency pays. */
export const PAYMENTS_CONVERTED: Section<PaymentRow> = insertInto(
  Payment,
  { ...CREATED, payingBalanceId: COLUMNS.payingBalanceId, scheduledPaymentId: SCHEDULED_PAYMENT },
  CONSTANTS,
  'payment_converted',
)

/** Inserts payments that were routed: the section with every column that others leave out. */
export const PAYMENTS_ROUTED: Section<PaymentRow> = insertInto(
  Payment,
  { ...CREATED, payingBalanceId: COLUMNS.payingBalanceId, scheduledPaymentId: SCHEDULED_PAYMENT, routing: ROUTING },
  CONSTANTS,
  'payment_routed',
)

function sectionOf({ payingBalanceId, sourceBalanceId, scheduledPaymentId, routing }: PaymentRow): Section<PaymentRow> {
  if (routing !== undefined) return PAYMENTS_ROUTED
  if (payingBalanceId !== sourceBalanceId) return PAYMENTS_CONVERTED
  return scheduledPaymentId === undefined ? PAYMENTS : PAYMENTS_OF_SCHEDULES
}

/** A draft's owner and origin stay. */
const REWRITTEN = without(COLUMNS, [
  ...MOVED,
  'id',
  'version',
  'customerId',
  'operatorId',
  'shard',
  'number',
  'createdBy',
  'createdVia',
  'createdAt',
  'scheduledPaymentId',
]) satisfies Columns<Omit<PaymentRewrite, 'id' | 'version'>>

export const PAYMENT_REWRITES: Section<PaymentRewrite> = gathered(
  'paymentRewrites',
  section<PaymentRewrite>(
    'payment_rewritten',
    { id: COLUMNS.id, version: NO_COLUMN, ...REWRITTEN },
    (source, bound) => `payment_rewritten_written as (
  update payment p set version = p.version + 1, ${Object.values(REWRITTEN)
    .map(({ name }) => `${name} = u.${name}`)
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
  alike(
    section<PaymentChange>(
      'payment_changed',
      {
        version: NO_COLUMN,
        ...pick(COLUMNS, [
          'id',
          'status',
          'providerRef',
          'failure',
          'exception',
          'sentAt',
          'completedAt',
          'failedAt',
          'updatedAt',
        ]),
      },
      (source, bound) => `payment_changed_written as (
  update payment p set status = u.status, version = p.version + 1, updated_at = u.updated_at,
    provider_ref = coalesce(u.provider_ref, p.provider_ref), failure = coalesce(u.failure, p.failure),
    exception = u.exception, sent_at = coalesce(u.sent_at, p.sent_at),
    completed_at = coalesce(u.completed_at, p.completed_at), failed_at = coalesce(u.failed_at, p.failed_at)
  from ${source} where p.id = u.id and p.id = any(${bound('id')}) and (select ok from verdict))`,
    ),
    ['status', 'failure', 'exception', 'failed_at'],
  ),
  (change, batch) => {
    batch.add(PAYMENT_CHANGES, change)
    batch.change(PAYMENT_FENCES, change.id, change.version)
  },
)

/** The columns that a rare move of a payment may write beside its status. */
const DECIDED: Changeable<PaymentDecisionRow> = pick(COLUMNS, [
  'statusReason',
  'failure',
  'exception',
  'holdId',
  'details',
  'metadata',
  'approvedAt',
  'cancelledAt',
  'completedAt',
  'failedAt',
  'returnedAmount',
  'returnInfo',
  'recall',
  'recallDueAt',
])

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

/** Moves payments to other connections; these columns are written by no other move. */
export const PAYMENT_REROUTES: Section<PaymentReroute> = gathered(
  'paymentReroutes',
  section<PaymentReroute>(
    'payment_rerouted',
    { version: NO_COLUMN, ...pick(COLUMNS, ['id', 'status', 'connectionId', 'routing', 'updatedAt']) },
    (source, bound) => `payment_rerouted_written as (
  update payment p set status = u.status, version = p.version + 1, updated_at = u.updated_at,
    connection_id = u.connection_id, routing = u.routing
  from ${source} where p.id = u.id and p.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (reroute, batch) => {
    batch.add(PAYMENT_REROUTES, reroute)
    batch.change(PAYMENT_FENCES, reroute.id, reroute.version)
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
