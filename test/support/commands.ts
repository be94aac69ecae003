/** Commands as the flows pass them to a balance's actor, with defaults for members that a test does not set. */
import { NO_MARKET } from '../../lib/exchange/market.ts'
import type { ProblemRequest } from '../../lib/base/problem-document.ts'
import { randomUUID } from 'node:crypto'
import type { Idempotency } from '../../lib/commands/command.ts'
import { systemClock } from '../../lib/base/clock.ts'
import { createIdSource, orderNumber } from '../../lib/base/ids.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import { NO_CONTROLS } from '../../lib/balances/debit-controls.ts'
import type { CreatePayment } from '../../lib/payments/create-payment-command.ts'
import { NONE_GIVEN } from '../../lib/payments/given-schema.ts'
import type { CreateTransfer } from '../../lib/transfers/transfer.ts'
import { PROBLEMS, type Problem } from '../../lib/base/problems.ts'

export const ids = createIdSource(systemClock)

/** Start time of tests that stop the clock: a Monday morning. */
export const MONDAY = Date.UTC(2026, 4, 4, 9, 30)

let orders = 0n

/** The request that recorded problem documents repeat. */
export const problemRequest: ProblemRequest = {
  problemBase: 'https://docs.example/problems',
  instance: '/v1/payments',
  requestId: 'test',
}

/** Makes an unused Idempotency-Key. */
export const newKey = (): Idempotency => ({ id: randomUUID(), fingerprint: randomUUID(), problemRequest })

export const problemStatus = ({ slug }: Problem): number => PROBLEMS[slug].status

/** The members of a command that a test must set, and those that it may set. */
type Payment = Partial<CreatePayment> & Pick<CreatePayment, 'customerId' | 'amount'>
type Transfer = Partial<CreateTransfer> &
  Pick<CreateTransfer, 'customerId' | 'amount' | 'toBalanceId' | 'toConnectionId'>

/** Makes a payment command in euro, under a new key. */
export function paymentCommand(overrides: Payment): CreatePayment {
  orders += 1n
  return {
    kind: 'create_payment',
    paymentId: ids.next(),
    holdId: ids.next(),
    seed: ids.next(),
    number: orderNumber('PAY', orders),
    recipient: {
      id: ids.next(),
      status: 'active',
      version: 1n,
      name: 'Amsterdam Trading BV',
      type: 'business',
      maskedIdentifier: '**** 0001',
      currency: 'EUR',
      bankCountry: 'NL',
      digest: '',
      ownAccount: false,
      rails: { version: 1 },
    },
    currency: 'EUR',
    rail: 'sepa_instant',
    instant: true,
    executionDate: null,
    createdBy: overrides.customerId,
    createdByName: 'Key',
    createdVia: 'api_key',
    approving: { sandboxDecision: null, rates: NO_MARKET },
    ...NONE_GIVEN,
    externalIdOwner: null,
    policyRefusal: null,
    shown: {
      chargeBearer: 'shared',
      requestedRail: null,
      reference: 'Invoice 1',
      endToEndId: 'NOTPROVIDED',
      uetr: null,
      purposeCode: null,
      purpose: null,
      internalNote: null,
      notifyRecipient: false,
    },
    metadata: {},
    queued: { position: 1, etaSeconds: 1, estimatedAt: '2026-05-04T09:30:01.000Z' },
    key: newKey(),
    problemRequest,
    ...overrides,
  }
}

/** Makes a transfer command in euro, under a new key. */
export function transferCommand(overrides: Transfer): CreateTransfer {
  orders += 1n
  return {
    kind: 'create_transfer',
    byPartner: false,
    holdId: ids.next(),
    transferId: ids.next(),
    entryId: ids.next(),
    eventId: ids.next(),
    number: orderNumber('TRF', orders),
    currency: 'EUR',
    reference: null,
    createdBy: overrides.customerId,
    createdVia: 'api_key',
    externalId: null,
    externalIdOwner: null,
    policyRefusal: null,
    creditRefused: false,
    metadata: {},
    valueDate: '2026-05-04',
    key: newKey(),
    problemRequest,
    ...overrides,
  }
}

/** Makes the state of an open balance in euro, as its actor holds it. */
export function balanceState(overrides: Partial<BalanceState>): BalanceState {
  return {
    id: ids.next(),
    customerId: ids.next(),
    operatorId: ids.next(),
    connectionId: ids.next(),
    shard: 7,
    currency: 'EUR',
    name: 'EUR account',
    status: 'active',
    available: 0n,
    version: 1n,
    policy: null,
    exchangePolicy: null,
    limits: null,
    fees: [],
    calendar: null,
    customerStatus: 'active',
    customerMeasure: null,
    railVersion: 1,
    debitControls: NO_CONTROLS,
    ...overrides,
  }
}
