/**
 * Transfers between two balances of one customer: their stored form, their form in the API, and the decision to make
 * one.
 */
import { outcomeRecord } from '../decisions/outcome-record.ts'
import { timestamp } from '../base/clock.ts'
import type { CurrencyCode } from '../base/currency.ts'
import type { BalanceState } from '../balances/balance.ts'
import { moneyProblem } from '../customers/money-access.ts'
import {
  insufficientFunds,
  invalid,
  refuse,
  unrecorded,
  type BalanceDecision,
  type Recorded,
} from '../balances/decision.ts'
import type { Effects } from '../decisions/effects.ts'
import { entry } from '../ledger/entry.ts'
import { moneyJson } from '../base/money.ts'
import type { FailureReason } from '../rails/failure-codes.ts'
import type { Problem } from '../base/problems.ts'
import { transactionId } from '../ledger/transaction-id.ts'

export type TransferStatus = 'processing' | 'completed' | 'on_hold' | 'failed' | 'exception'

export interface TransferRecord {
  readonly id: string
  readonly customerId: string
  readonly number: string
  readonly externalId: string | null
  readonly status: TransferStatus
  readonly version: number
  readonly fromBalanceId: string
  readonly toBalanceId: string
  readonly currency: string
  readonly amount: bigint
  readonly reference: string | null
  readonly createdBy: string
  readonly createdVia: 'api_key' | 'web' | 'mobile' | 'bulk' | 'schedule' | 'system' | 'operator'
  readonly metadata: Readonly<Record<string, string>>
  /** The partner makes the transfer, so it is not completed at its creation. */
  readonly byPartner: boolean
  readonly failure: (FailureReason & { readonly at: string }) | null
  readonly completedAt: number | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** Restores the transfer as its creation answer showed it, whatever its status is now. */
export function createdTransfer(transfer: TransferRecord): TransferRecord {
  return transfer.byPartner
    ? { ...transfer, status: 'processing', version: 1, failure: null, completedAt: null, updatedAt: transfer.createdAt }
    : transfer
}

/** Makes the transfer as the API shows it. */
export function transferJson(transfer: TransferRecord) {
  return {
    id: transfer.id,
    customerId: transfer.customerId,
    number: transfer.number,
    externalId: transfer.externalId,
    status: transfer.status,
    fromBalanceId: transfer.fromBalanceId,
    toBalanceId: transfer.toBalanceId,
    amount: moneyJson({ amountMinor: transfer.amount, currency: transfer.currency as CurrencyCode }),
    reference: transfer.reference,
    failure: transfer.failure,
    transactionIds: [transactionId(transfer.id), transactionId(transfer.id, 'other_side')],
    createdBy: transfer.createdBy,
    createdVia: transfer.createdVia,
    completedAt: transfer.completedAt === null ? null : timestamp(transfer.completedAt),
    metadata: transfer.metadata,
    createdAt: timestamp(transfer.createdAt),
    updatedAt: timestamp(transfer.updatedAt),
  }
}

export interface CreateTransfer extends Recorded {
  readonly kind: 'create_transfer'
  readonly customerId: string
  readonly transferId: string
  readonly entryId: string
  readonly eventId: string
  readonly number: string
  readonly toBalanceId: string
  readonly amount: bigint
  readonly currency: string
  readonly reference: string | null
  readonly createdBy: string
  readonly createdVia: TransferRecord['createdVia']
  readonly externalId: string | null
  /** The transfer that already has this external id. The commit reports it, and the transfer is decided again. */
  readonly externalIdOwner: string | null
  /** A refusal by limits that was found before the balance decides. */
  readonly policyRefusal: Problem | null
  readonly toConnectionId: string
  /** Whether the partner makes it even between balances on one connection: a trigger amount of the sandbox. */
  readonly byPartner: boolean
  /** The hold of the amount until the partner has made the transfer. */
  readonly holdId: string
  /** Whether a commit has found the other balance closed or in another currency. */
  readonly creditRefused: boolean
  readonly metadata: Readonly<Record<string, string>>
  /** The value date of the postings. */
  readonly valueDate: string
}

export interface TransferCreated {
  readonly kind: 'transfer_created'
  readonly transfer: TransferRecord
}

/**
 * Decides a transfer. Between two balances on one connection it is posted at once by L20. Between two connections
 * the partner moves the cash, so the amount is held until that is done (transfer-moves.ts). The paying balance
 * decides; the other balance only has to be open, in the same currency and at the connection that was read, which the
 * commit checks under its row lock.
 */
export function createTransfer(
  balance: BalanceState | null,
  command: CreateTransfer,
  now: number,
): BalanceDecision<TransferCreated> {
  if (balance === null || balance.customerId !== command.customerId) {
    return invalid(balance, { field: '/fromBalanceId', code: 'not_found', message: 'No such balance.' })
  }
  if (balance.currency !== command.currency) {
    return invalid(balance, {
      field: '/amount/currency',
      code: 'currency_mismatch',
      message: `The balance is in ${balance.currency}.`,
    })
  }
  const barred = moneyProblem(balance, 'move')
  if (barred !== null) return unrecorded(balance, barred)
  if (balance.status !== 'active') {
    return {
      ...invalid(balance, { field: '/fromBalanceId', code: 'inactive', message: `The balance is ${balance.status}.` }),
      refused: true,
    }
  }
  if (command.creditRefused) {
    return invalid(balance, { field: '/toBalanceId', code: 'inactive', message: 'The balance does not accept money.' })
  }
  if (command.externalIdOwner !== null) {
    return refuse(balance, command, now, {
      slug: 'duplicate-external-id',
      detail: `externalId ${command.externalId} belongs to another transfer.`,
      extra: { existingId: command.externalIdOwner },
    })
  }
  if (command.policyRefusal !== null) return refuse(balance, command, now, command.policyRefusal)
  if (balance.available < command.amount) {
    return { ...refuse(balance, command, now, insufficientFunds(balance, command.amount)), refused: true }
  }
  const byPartner = command.byPartner || balance.connectionId !== command.toConnectionId
  const transfer: TransferRecord = {
    id: command.transferId,
    customerId: balance.customerId,
    number: command.number,
    externalId: command.externalId,
    status: byPartner ? 'processing' : 'completed',
    version: 1,
    fromBalanceId: balance.id,
    toBalanceId: command.toBalanceId,
    currency: balance.currency,
    amount: command.amount,
    reference: command.reference,
    createdBy: command.createdBy,
    createdVia: command.createdVia,
    metadata: command.metadata,
    byPartner,
    failure: null,
    completedAt: byPartner ? null : now,
    createdAt: now,
    updatedAt: now,
  }
  const effects: Effects = {
    transfers: [
      {
        id: transfer.id,
        customerId: transfer.customerId,
        operatorId: balance.operatorId,
        shard: balance.shard,
        number: transfer.number,
        externalId: transfer.externalId,
        status: transfer.status,
        fromBalanceId: transfer.fromBalanceId,
        toBalanceId: transfer.toBalanceId,
        currency: transfer.currency,
        amount: transfer.amount,
        reference: transfer.reference,
        createdBy: transfer.createdBy,
        createdVia: transfer.createdVia,
        completedAt: transfer.completedAt,
        createdAt: now,
        metadata: Object.keys(transfer.metadata).length > 0 ? JSON.stringify(transfer.metadata) : null,
      },
    ],
    places: [{ balanceId: command.toBalanceId, connectionId: command.toConnectionId }],
    ...(byPartner ? handedOver(balance, transfer, command) : booked(balance, transfer, command)),
    ...outcomeRecord(command.key, 201, { type: 'transfer', id: transfer.id }, null, now),
  }
  return {
    state: { ...balance, available: balance.available - command.amount },
    reply: { kind: 'transfer_created', transfer },
    effects,
  }
}

/** Posts the transfer at once, in both journals. */
function booked(balance: BalanceState, transfer: TransferRecord, command: CreateTransfer): Effects {
  const now = transfer.createdAt
  return {
    postings: entry({
      rule: 'L20',
      amounts: { A: command.amount },
      currency: balance.currency,
      accounts: {},
      balances: { from: balance.id, to: { id: command.toBalanceId, fence: 'open' } },
      entryId: command.entryId,
      customerId: balance.customerId,
      source: { object: 'transfer', id: transfer.id },
      description: `Transfer ${transfer.number}`,
      reference: command.reference,
      bookedAt: now,
      valueDate: command.valueDate,
    }),
    statusUpdates: [
      {
        objectId: transfer.id,
        version: 1,
        customerId: balance.customerId,
        status: 'completed',
        previousStatus: null,
        message: 'Transfer completed.',
        actor: 'member',
        at: now,
      },
    ],
    events: [
      {
        id: command.eventId,
        createdAt: now,
        customerId: balance.customerId,
        operatorId: balance.operatorId,
        shard: balance.shard,
        type: 'transfer.completed',
        object: 'transfer',
        objectId: transfer.id,
        status: 'completed',
        previousStatus: null,
        amount: transfer.amount,
        currency: transfer.currency,
      },
    ],
  }
}

/** Holds the amount, and orders the transfer at the partner. */
function handedOver(balance: BalanceState, transfer: TransferRecord, command: CreateTransfer): Effects {
  const now = transfer.createdAt
  return {
    credits: [{ balanceId: command.toBalanceId, currency: balance.currency }],
    holds: [
      {
        id: command.holdId,
        balanceId: balance.id,
        customerId: balance.customerId,
        amount: transfer.amount,
        subjectType: 'transfer',
        subjectId: transfer.id,
        description: `Transfer ${transfer.number}`,
        createdAt: now,
      },
    ],
    transferOrders: [
      {
        transferId: transfer.id,
        shard: balance.shard,
        holdId: command.holdId,
        fromConnectionId: balance.connectionId,
        toConnectionId: command.toConnectionId,
        dueAt: now,
      },
    ],
    statusUpdates: [
      {
        objectId: transfer.id,
        version: 1,
        customerId: balance.customerId,
        status: transfer.status,
        previousStatus: null,
        message: 'Transfer handed to the bank.',
        actor: 'member',
        at: now,
      },
    ],
  }
}
