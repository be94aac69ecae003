/**
 * Payments as the ledger is asked for them, without HTTP: what the flow behind `POST /payments` would hand to the
 * paying balance for the smallest body. The engine and the ceiling are both measured with these.
 */
import { NO_MARKET } from '../lib/exchange/market.ts'
import type { ProblemRequest } from '../lib/base/problem-document.ts'
import { NO_REQUEST } from '../lib/balances/decision.ts'
import { randomInt, randomUUID } from 'node:crypto'
import { systemClock } from '../lib/base/clock.ts'
import { createIdSource, orderNumber } from '../lib/base/ids.ts'
import type { CreatePayment } from '../lib/payments/create-payment-command.ts'
import { NONE_GIVEN } from '../lib/payments/given-schema.ts'
import type { Payer } from './database.ts'

const ids = createIdSource(systemClock)
const NEVER_REFUSED: ProblemRequest = {
  ...NO_REQUEST,
  get instance(): string {
    throw new Error('A payment was refused, although every balance has funds for years.')
  },
}
const AMOUNT = 100n
const SHOWN: CreatePayment['shown'] = {
  chargeBearer: 'shared',
  requestedRail: null,
  reference: 'Invoice 2026-0042',
  endToEndId: 'NOTPROVIDED',
  uetr: null,
  purposeCode: null,
  purpose: null,
  internalNote: null,
  notifyRecipient: false,
}
const QUEUED = { position: 1, etaSeconds: 1, estimatedAt: '2026-05-04T09:30:00.000Z' }
const METADATA = {}
const APPROVING = { sandboxDecision: null, rates: NO_MARKET }
/** Idempotency records are uuids of a hash in life: random, so that their index is used as in life. */
const FINGERPRINT = randomUUID()

/**
 * Every process numbers from a place of its own, so that several may write to one database: four million numbers each.
 */
let orders = BigInt(randomInt(2 ** 28)) << 22n

/** A payment nobody has asked for before. */
export function nextPaymentCommand({ customerId, recipient }: Payer): CreatePayment {
  orders += 1n
  return {
    kind: 'create_payment',
    customerId,
    paymentId: ids.next(),
    holdId: ids.next(),
    seed: ids.next(),
    number: orderNumber('PAY', orders),
    recipient,
    amount: AMOUNT,
    currency: 'EUR',
    rail: 'sepa_instant',
    instant: true,
    executionDate: null,
    createdBy: customerId,
    createdByName: 'Key',
    approving: APPROVING,
    createdVia: 'api_key',
    ...NONE_GIVEN,
    externalIdOwner: null,
    policyRefusal: null,
    shown: SHOWN,
    metadata: METADATA,
    queued: QUEUED,
    key: { id: randomUUID(), fingerprint: FINGERPRINT },
    problemRequest: NEVER_REFUSED,
  }
}
