/** Collections as the API shows them. */
import { timestamp } from '../base/clock.ts'
import { moneyJson } from '../base/money.ts'
import { transactionId } from '../ledger/transaction-id.ts'
import type { CollectionRecord, RTransaction } from './collection.ts'
import type { ReversalReason } from './reversal.ts'

const time = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

function reversalJson(
  { reversal, reversalStatus }: Pick<CollectionRecord, 'reversal' | 'reversalStatus'>,
  money: (minor: string) => ReturnType<typeof moneyJson>,
) {
  if (reversal === null) return null
  const { reasonCode, note, amountMinor, requestedAt, decidedAt, refusalCode } = reversal
  return {
    status: reversalStatus ?? 'pending',
    reasonCode: reasonCode as ReversalReason,
    note,
    amount: money(amountMinor),
    requestedAt,
    decidedAt,
    refusalCode,
  }
}

/** Builds the collection as the API shows it to its customer. */
export function collectionJson(collection: CollectionRecord) {
  const { currency, preNotification, rTransactions } = collection
  const money = (minor: bigint | string) => moneyJson({ amountMinor: BigInt(minor), currency })
  const shown = ({ type, reasonCode, reason, at, amountMinor, feeMinor, challengeUntil }: RTransaction) => ({
    type,
    reasonCode,
    reason,
    at,
    amount: amountMinor === undefined ? null : money(amountMinor),
    fee: feeMinor === undefined ? null : money(feeMinor),
    challengeUntil: challengeUntil ?? null,
  })
  return {
    id: collection.id,
    customerId: collection.customerId,
    number: collection.number,
    externalId: collection.externalId,
    mandateId: collection.mandateId,
    balanceId: collection.balanceId,
    scheme: collection.scheme,
    status: collection.status,
    statusReason: collection.statusReason,
    amount: money(collection.amount),
    dueDate: collection.dueDate,
    submissionDeadline: timestamp(collection.submissionDeadline),
    sequenceType: collection.sequenceType,
    reference: collection.reference,
    endToEndId: collection.endToEndId,
    preNotification:
      preNotification === null
        ? null
        : {
            sentBy: preNotification.sentBy,
            channel: preNotification.channel,
            sentAt: preNotification.sentAt,
            sendBy: preNotification.sendBy,
            values: {
              amount: money(preNotification.amountMinor),
              dueDate: preNotification.dueDate,
              reference: preNotification.reference,
              creditorName: preNotification.creditorName,
              creditorId: preNotification.creditorId,
              mandateReference: preNotification.mandateReference,
              account: preNotification.account,
            },
          },
    preNotifiedAt: preNotification?.sentAt ?? null,
    submittedAt: time(collection.submittedAt),
    collectedAt: time(collection.collectedAt),
    returnedAt: time(collection.returnedAt),
    failedAt: time(collection.failedAt),
    cancelledAt: time(collection.cancelledAt),
    reversedAt: time(collection.reversedAt),
    rTransactions: rTransactions.map(shown),
    returnedAmount: money(collection.returnedAmount),
    refundableUntil: collection.refundableUntil,
    retry: collection.retry === null ? null : { ...collection.retry },
    attempts: collection.attempts.map((attempt) => ({ ...attempt })),
    reversal: reversalJson(collection, money),
    nextAttemptAt: time(collection.nextAttemptAt),
    willRetry: collection.nextAttemptAt !== null,
    reservedUntil: time(collection.reserveUntil),
    transactionId: collection.collectedAt === null ? null : transactionId(collection.id),
    providerRef: collection.providerRef,
    cancellable: collection.status === 'pending',
    metadata: collection.metadata,
    createdBy: collection.createdBy,
    createdVia: collection.createdVia,
    createdAt: timestamp(collection.createdAt),
    updatedAt: timestamp(collection.updatedAt),
  }
}
