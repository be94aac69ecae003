/**
 * The catalogue of simulations: the operations that cause an event, and the rules by which the sandbox acts without
 * one.
 */
import { accountRules } from './accounts.ts'
import { bulkRules } from './bulk-payments.ts'
import { cardRules } from './cards.ts'
import { debitRules } from './direct-debits.ts'
import { exchangeRules } from './exchanges.ts'
import { incomingDebitRules } from './incoming-debits.ts'
import { incomingRules } from './incoming.ts'
import { jobRules } from './jobs.ts'
import { kycRules } from './kyc.ts'
import { payeeRules } from './payees.ts'
import { scannerRules } from './scanner.ts'
import { catalogueRules, type CatalogueRule } from './triggers.ts'
import { webhookRules } from './webhooks.ts'

export type SimulationProvider = 'sandbox' | 'partner' | 'kyc' | 'platform'

/** One operation that simulates an event. */
export interface SimulationEntry {
  readonly kind: string
  readonly operationId: string
  readonly path: string
  readonly summary: string
  readonly providers: readonly SimulationProvider[]
  /** Facts to know before a call. */
  readonly rules: readonly string[]
}

const BEFORE_IT_IS_SENT = 'only for a payment that the sandbox bank has; replaces what was still planned for it'

/** Every kind of simulation, also those whose operation this version lacks. */
export const SIMULATIONS: readonly SimulationEntry[] = [
  {
    kind: 'payment_status',
    operationId: 'simulatePaymentStatus',
    path: '/v1/simulations/payments/{paymentId}/status',
    summary: 'Simulate the outcome of a payment',
    providers: ['sandbox'],
    rules: [
      BEFORE_IT_IS_SENT,
      'processing: completed, failed or exception; exception: completed, failed or processing',
      'failed: AC01 unless reasonCode says otherwise',
    ],
  },
  {
    kind: 'payment_return',
    operationId: 'simulatePaymentReturn',
    path: '/v1/simulations/payments/{paymentId}/return',
    summary: 'Simulate the return of a payment',
    providers: ['sandbox'],
    rules: [BEFORE_IT_IS_SENT, 'in full and with AC04 unless the body says otherwise'],
  },
  {
    kind: 'payment_recall',
    operationId: 'simulatePaymentRecall',
    path: '/v1/simulations/payments/{paymentId}/recall',
    summary: 'Let the recipient’s bank answer a recall',
    providers: ['sandbox'],
    rules: [
      'nobody need have asked for it',
      'accepted: the money comes back with FOCR; rejected: CUST unless rejectionCode says otherwise, and nothing moves',
    ],
  },
  {
    kind: 'incoming_payment',
    operationId: 'simulateIncomingPayment',
    path: '/v1/simulations/incoming-payments',
    summary: 'Simulate an incoming payment',
    providers: ['sandbox', 'partner'],
    rules: incomingRules().map(({ rule }) => rule),
  },
  {
    kind: 'incoming_recall',
    operationId: 'simulateIncomingRecall',
    path: '/v1/simulations/incoming-payments/{incomingPaymentId}/recall',
    summary: 'Let the payer’s bank ask for money back',
    providers: ['sandbox'],
    rules: [
      'once for each incoming payment that was received',
      'all of it and FRAD unless the body says otherwise; the operator’s people decide',
    ],
  },
  {
    kind: 'incoming_debit',
    operationId: 'simulateIncomingDebit',
    path: '/v1/simulations/incoming-debits',
    summary: 'Simulate a collection from a balance',
    providers: ['sandbox'],
    rules: incomingDebitRules().map(({ rule }) => rule),
  },
  {
    kind: 'scheduled_run',
    operationId: 'simulateScheduledRun',
    path: '/v1/simulations/scheduled-payments/{scheduledPaymentId}/run-now',
    summary: 'Let the next payment of a schedule be due now',
    providers: ['platform'],
    rules: [],
  },
  {
    kind: 'collection_status',
    operationId: 'simulateCollectionStatus',
    path: '/v1/simulations/direct-debits/collections/{collectionId}/status',
    summary: 'Simulate the outcome of a collection',
    providers: ['sandbox'],
    rules: [
      'pending: submitted, collected or failed, with an active mandate; submitted: collected or failed',
      'collected: returned; returned: collected again; exception: collected, failed or returned',
      'failed: for lack of funds unless reasonCode says otherwise; returned: a refund that the payer wants',
      'replaces what was still planned for it',
    ],
  },
  {
    kind: 'mandate_status',
    operationId: 'simulateMandateStatus',
    path: '/v1/simulations/mandates/{mandateId}/status',
    summary: 'Simulate the status of a mandate',
    providers: ['sandbox'],
    rules: [
      'pending: submitted, active or failed; submitted: active or failed',
      'active: suspended, cancelled or expired; suspended: active or cancelled',
      'replaces what was still planned for it',
    ],
  },
  {
    kind: 'exchange_status',
    operationId: 'simulateExchangeStatus',
    path: '/v1/simulations/exchanges/{exchangeId}/status',
    summary: 'Simulate the outcome of an exchange',
    providers: ['sandbox'],
    rules: [
      'processing: completed, failed or exception; exception: completed or failed',
      'replaces what was still planned for it',
    ],
  },
  {
    kind: 'fx_rate',
    operationId: 'simulateFxRateMove',
    path: '/v1/simulations/fx-rates',
    summary: 'Simulate a change of a rate',
    providers: ['sandbox'],
    rules: [
      'from the base rate, for every quote of the pair from now on; the inverse pair moves the other way',
      '0 takes it back to the base rate',
    ],
  },
  {
    kind: 'kyc',
    operationId: 'simulateKycOutcome',
    path: '/v1/simulations/kyc',
    summary: 'Let a review of a person or company end',
    providers: ['kyc'],
    rules: [
      'a case that is submitted, in_review, info_requested or approved; replaces what was still planned for the applicant',
      'approved: green; rejected: red final, and staff decide; retry: the customer is asked for other documents',
    ],
  },
  {
    kind: 'card_transaction',
    operationId: 'simulateCardTransaction',
    path: '/v1/simulations/cards/{cardId}/transactions',
    summary: 'Let a card be used',
    providers: ['sandbox'],
    rules: [
      'authorisation, force_post, atm and decline begin a transaction, whose reference is details.ref; the others name it as relatedRef',
      'a refund without relatedRef begins one too',
      'increment and partial_reversal: amount is the difference',
    ],
  },
  {
    kind: 'statement',
    operationId: 'simulateStatement',
    path: '/v1/simulations/statements',
    summary: 'Simulate a statement',
    providers: ['platform'],
    rules: [
      'that of the month before, made when it is missing',
      'language of a statement or a column of an export with SBX:FAIL: the job fails',
    ],
  },
  {
    kind: 'webhook_event',
    operationId: 'simulateWebhookEvent',
    path: '/v1/simulations/webhook-events',
    summary: 'Simulate a webhook event',
    providers: ['platform'],
    rules: [],
  },
]

/** The rules by which the sandbox acts without a simulation, made from the tables that it reads. */
export function sandboxRules(): readonly CatalogueRule[] {
  return [
    ...catalogueRules(),
    ...bulkRules(),
    ...payeeRules(),
    ...incomingRules(),
    ...incomingDebitRules(),
    ...cardRules(),
    ...debitRules(),
    ...exchangeRules(),
    ...accountRules(),
    ...scannerRules(),
    ...jobRules(),
    ...kycRules(),
    ...webhookRules(),
  ]
}
