/** The approval of a new payment: the tier of the policy that the payment meets, and the opening of its approval. */
import type { IdSource } from '../base/ids.ts'
import { opening } from '../approvals/opening.ts'
import { tierFor, type TierMatch } from '../approvals/policy.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { ExchangePayload } from '../exchange/approval.ts'
import { converterAt } from '../exchange/worth.ts'
import type { CreatePayment } from './create-payment-command.ts'

/** Finds the tier that the payment needs; null where it needs none, or waits for the approval of its bulk file. */
export function approvalTier(balance: BalanceState, command: CreatePayment, now: number): TierMatch | null {
  if (balance.policy === null || command.batchApprovalId !== undefined) return null
  return tierFor(
    balance.policy,
    {
      amount: command.amount,
      currency: command.currency,
      balanceId: balance.id,
      rail: command.rail,
      recipientId: command.recipient.id,
      toOwnAccount: command.recipient.ownAccount,
    },
    converterAt(command.approving.rates, balance.connectionId, now),
  )
}

/** Opens the approval that the payment waits for, with the facts that must be unchanged at the last approval. */
export function openApproval(
  balance: BalanceState,
  command: CreatePayment,
  { tier, converted }: TierMatch,
  ids: IdSource,
  now: number,
): ReturnType<typeof opening> {
  const { recipient, approving } = command
  return opening(
    {
      id: ids.next(),
      eventId: ids.next(),
      customerId: balance.customerId,
      operatorId: balance.operatorId,
      shard: balance.shard,
      subjectType: 'payment',
      subjectId: command.paymentId,
      subject: {
        title: `Payment ${command.number}`,
        amount: { amountMinor: command.amount.toString(), currency: command.currency },
        recipientName: recipient.name,
        sourceBalanceId: balance.id,
        sourceBalanceName: balance.name,
        rail: command.rail,
        itemCount: null,
        recipientMaskedIdentifier: recipient.maskedIdentifier,
      },
      payload: JSON.stringify({
        recipientId: recipient.id,
        recipientDigest: recipient.digest,
        ...(command.conversion === undefined
          ? {}
          : ({ quoteExpiresAt: command.conversion.quote.expiresAt, holdMinutes: null } satisfies ExchangePayload)),
      }),
      kind: 'payment',
      source: 'snapshot',
      tier,
      tierCurrency: balance.policy!.currency,
      converted,
      requestedBy: command.createdBy,
      requestedByName: command.createdByName,
      shapedBy: command.shapedBy ?? [],
      sandboxDecision: approving.sandboxDecision,
    },
    now,
  )
}
