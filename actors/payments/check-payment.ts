/**
 * Checks a payment without making it: asks the same questions and makes the same decision, and writes nothing. Reports
 * every reason against the payment that can be known at once, not only the first.
 */
import { NO_MARKET } from '../../lib/exchange/market.ts'
import { converterAt } from '../../lib/exchange/worth.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { tierFor, type Convert } from '../../lib/approvals/policy.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import type { ConversionOrder } from '../../lib/payments/conversion.ts'
import { createPayment } from '../../lib/payments/create-payment.ts'
import { calendarOf, type CreatePayment } from '../../lib/payments/create-payment-command.ts'
import { feeOf, feeTaxOf } from '../../lib/pricing/fees.ts'
import type { CalendarTerms } from '../../lib/rails/business-days.ts'
import { chooseRail, type RailQuestion, type RailReason } from '../../lib/rails/choose-rail.ts'
import { RAILS, speedOf, type Rail } from '../../lib/rails/rails.ts'
import { arrivalOf, timingOf } from '../../lib/rails/timing.ts'
import { ProblemError, type Problem, type ProblemSlug } from '../../lib/base/problems.ts'
import { shownVerification, type RecipientVerification } from '../../lib/recipients/verification.ts'
import { paymentWithExternalId } from '../../storage/payments/drafts.ts'
import type { PayableRecipient } from '../../storage/recipients/recipient-cache.ts'
import { loadBalances } from '../../storage/balances/balance-states.ts'
import type { CancelDeps } from './cancel-payment.ts'
import { railQuestion } from '../providers/routing/route-payment.ts'
import { commandOf, type PaymentInput, type PayDeps } from './submit-payment.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { readerOf } from '../../storage/db/transaction.ts'

export interface PaymentIssue {
  readonly severity: 'error' | 'warning'
  readonly code: string
  readonly field: string | null
  readonly message: string
}

/** No payment has this id. */
const NO_PAYMENT = '00000000-0000-0000-0000-000000000000'

/**
 * For each refusal, removes its cause, so that the next decision can show a further one. A refusal that is not listed
 * ends the search.
 */
const WITHOUT: Partial<
  Record<ProblemSlug, (balance: BalanceState, command: CreatePayment) => readonly [BalanceState, CreatePayment]>
> = {
  'duplicate-external-id': (balance, command) => [balance, { ...command, externalIdOwner: null }],
  'recipient-not-approved': (balance, command) => [
    balance,
    { ...command, recipient: { ...command.recipient, status: 'active' } },
  ],
  'verification-mismatch': (balance, command) => [balance, { ...command, policyRefusal: null }],
  'limit-exceeded': (balance, command) =>
    command.policyRefusal === null
      ? [{ ...balance, limits: null }, command]
      : [balance, { ...command, policyRefusal: null }],
}

/**
 * Checks a payment as it would be requested.
 *
 * @throws CalendarUnknown; database errors
 */
export async function checkPayment(deps: CancelDeps, caller: CommandOrigin, input: PaymentInput) {
  const { database } = deps
  const externalId = input.externalId ?? null
  const balance =
    (await loadBalances(readerOf(database), [input.sourceBalanceId], false)).get(input.sourceBalanceId) ?? null
  const remembered = await deps.recipients.find(input.recipientId)
  const current = balance === null || remembered === null || remembered.rails.version === balance.railVersion
  if (!current) deps.recipients.forget(input.recipientId)
  const recipient = current ? remembered : await deps.recipients.find(input.recipientId)
  return await examinePayment(deps, caller, input, {
    payee: recipient?.customerId === caller.customerId ? recipient : null,
    payer: balance?.customerId === caller.customerId ? balance : null,
    externalIdOwner:
      externalId === null
        ? null
        : await paymentWithExternalId(database.pool, { customerId: caller.customerId, externalId, except: NO_PAYMENT }),
  })
}

/** The data for a check; null where the customer has no such object. */
export interface PaymentCheckFacts {
  readonly payee: PayableRecipient | null
  readonly payer: BalanceState | null
  /** The payment that already has this external id. */
  readonly externalIdOwner: string | null
}

/** Checks a payment whose data the caller has read, as for files of many payments. */
export async function examinePayment(
  deps: PayDeps,
  caller: CommandOrigin,
  input: PaymentInput,
  { payee, payer, externalIdOwner }: PaymentCheckFacts,
) {
  const { clock } = deps
  const issues: PaymentIssue[] = []
  if (payer === null) issues.push(field('/sourceBalanceId', 'not_found', 'No such balance.'))
  if (payee === null) issues.push(field('/recipientId', 'not_found', 'No such recipient.'))
  let verification: RecipientVerification | null = null
  let conversion: ConversionOrder | undefined
  let routedRail: Rail | undefined
  let calendar: CreatePayment['calendar']
  if (payee !== null) {
    const asked = await command(deps, caller, input, payee, externalIdOwner)
    if ('problem' in asked) issues.push(...issuesOf(asked.problem))
    else {
      verification = verificationIn(asked.command)
      conversion = asked.command.conversion
      calendar = asked.command.calendar
      if (asked.command.policyRefusal === null) routedRail = asked.command.rail
      if (payer !== null) issues.push(...objections(payer, asked.command, clock.now()))
    }
  }
  const choice =
    payee === null || payee.currency !== input.amount.currency
      ? null
      : chosen(
          railQuestion(deps, input, payee, conversion?.buyBalance.connectionId ?? payer?.connectionId),
          payee,
          routedRail,
        )
  const terms =
    payer === null ||
    payee === null ||
    choice === null ||
    (payer.currency !== input.amount.currency && conversion === undefined)
      ? null
      : termsOf(
          payer,
          {
            rail: choice.rail,
            toOwnAccount: payee.ownAccount,
            quote: conversion?.quote,
            calendar: calendarOf(payer, { ...(calendar === undefined ? {} : { calendar }) }),
            convert: converterAt(deps.market?.rates() ?? NO_MARKET, payer.connectionId, clock.now()),
          },
          input,
          clock.now(),
        )
  if (choice !== null && payee !== null) issues.push(...warnings(payee, choice.rail, verification))
  return {
    valid: issues.every(({ severity }) => severity === 'warning'),
    rail: choice?.rail ?? null,
    railReason: choice?.reason ?? null,
    ...(terms ?? {
      fee: null,
      feeTax: null,
      totalDebit: null,
      executionDate: null,
      estimatedArrival: null,
      approval: { required: false, tier: null, requiredApprovals: null },
    }),
    verification,
    issues,
  }
}

async function command(
  deps: PayDeps,
  caller: CommandOrigin,
  input: PaymentInput,
  payee: PayableRecipient,
  externalIdOwner: string | null,
): Promise<{ readonly command: CreatePayment } | { readonly problem: Problem }> {
  try {
    // No payment is made, so no order number is used up.
    return {
      command: await commandOf(
        { ...deps, orderNumbers: { take: async () => 0n } },
        { ...caller, key: null },
        input,
        payee,
        { externalIdOwner, usedBy: null, draft: null, draw: false },
      ),
    }
  } catch (error) {
    if (error instanceof ProblemError) return { problem: error.problem }
    throw error
  }
}

/** Lists every refusal that the decision has for a payment, in the order of the decision. */
function objections(payer: BalanceState, asked: CreatePayment, now: number): PaymentIssue[] {
  const issues: PaymentIssue[] = []
  let [balance, command] = [payer, asked] as readonly [BalanceState, CreatePayment]
  for (let step = 0; step <= Object.keys(WITHOUT).length; step++) {
    const { reply } = createPayment(balance, command, now)
    if (reply.kind !== 'refused') break
    issues.push(...issuesOf(reply.problem))
    const without = WITHOUT[reply.problem.slug]
    if (without === undefined) break
    ;[balance, command] = without(balance, command)
  }
  return issues
}

function chosen(
  question: RailQuestion,
  payee: PayableRecipient,
  routed: Rail | undefined,
): { readonly rail: Rail; readonly reason: RailReason } | null {
  const choice = chooseRail(question, payee.rails.table)
  if (!('rail' in choice)) return null
  const row = routed === undefined || routed === choice.rail ? undefined : RAILS.get(routed)
  return row === undefined ? choice : { rail: row.rail, reason: speedOf(row, question.amountMinor) }
}

function termsOf(
  payer: BalanceState,
  {
    rail,
    toOwnAccount,
    quote,
    calendar,
    convert,
  }: {
    readonly rail: Rail
    readonly toOwnAccount: boolean
    readonly quote: QuoteRecord | undefined
    readonly calendar: CalendarTerms | null
    readonly convert: Convert
  },
  input: PaymentInput,
  now: number,
) {
  const amount = BigInt(input.amount.amountMinor)
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: payer.currency as CurrencyCode })
  const fee = quote?.fee ?? feeOf(payer.fees, rail, amount)
  const tax = quote === undefined ? feeTaxOf(payer.fees, rail, fee) : 0n
  const timing = timingOf(rail, input.executionDate ?? null, calendar, now)
  const row = RAILS.get(rail)
  const match =
    payer.policy === null
      ? null
      : tierFor(
          payer.policy,
          {
            amount,
            currency: input.amount.currency,
            balanceId: payer.id,
            rail,
            recipientId: input.recipientId,
            toOwnAccount,
          },
          convert,
        )
  return {
    fee: fee === 0n ? null : money(fee),
    feeTax: tax === 0n ? null : money(tax),
    totalDebit: money((quote?.sellAmount ?? amount) + fee),
    executionDate: timing.executionDate,
    estimatedArrival: timestamp(
      arrivalOf(rail, row !== undefined && speedOf(row, amount) === 'instant', timing, calendar, now),
    ),
    approval: {
      required: match !== null,
      tier: match?.tier.tier ?? null,
      requiredApprovals: match?.tier.requiredApprovals ?? null,
    },
  }
}

/** Reads the answer of the recipient's bank from a command, whether the answer was accepted or refused. */
function verificationIn({ shown, policyRefusal, recipient }: CreatePayment): RecipientVerification | null {
  if (shown.verification !== undefined) return shownVerification(shown.verification, recipient.name)
  return policyRefusal?.slug === 'verification-mismatch'
    ? (policyRefusal.extra?.['verification'] as RecipientVerification)
    : null
}

function warnings(payee: PayableRecipient, rail: Rail, verification: RecipientVerification | null): PaymentIssue[] {
  const found: PaymentIssue[] = []
  const nameMax = RAILS.get(rail)?.nameMax
  if (nameMax !== undefined && [...payee.name].length > nameMax) {
    found.push({
      severity: 'warning',
      code: 'name_will_be_cut',
      field: null,
      message: `The recipient's name is cut to ${nameMax} characters on ${rail}.`,
    })
  }
  if (verification?.outcome === 'unavailable') {
    found.push({
      severity: 'warning',
      code: 'verification-unavailable',
      field: null,
      message: "The name could not be checked with the recipient's bank.",
    })
  }
  return found
}

function issuesOf({ slug, detail, errors }: Problem): PaymentIssue[] {
  if (errors === undefined) return [{ severity: 'error', code: slug, field: null, message: detail }]
  return errors.map(({ field: at, code, message }) => field(at, code, message))
}

const field = (at: string, code: string, message: string): PaymentIssue => ({
  severity: 'error',
  code,
  field: at,
  message,
})
