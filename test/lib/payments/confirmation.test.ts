/** The text of confirmations of payments. */
import t from 'tap'
import { isConfirmed, paymentConfirmation } from '../../../lib/payments/confirmation.ts'
import type { PaymentRecord, PaymentStatus } from '../../../lib/payments/payment.ts'

const AT = Date.UTC(2026, 4, 4, 9, 30, 15)
const PARTY = {
  operatorName: 'Example Bank',
  customerName: 'Example Ltd',
  account: 'NL12SBOX0000000099',
  accountName: 'EUR account',
  timezone: 'UTC',
}

const payment = (change: object = {}): PaymentRecord =>
  ({
    id: '01980d6e-0000-7000-8000-00000000e001',
    number: 'PAY000000G01',
    status: 'completed',
    currency: 'EUR',
    amount: 123_456_789n,
    fee: 0n,
    rail: 'sepa',
    executionDate: '2026-05-04',
    createdAt: AT,
    sentAt: AT + 1_000,
    completedAt: AT + 2_000,
    updatedAt: AT + 2_000,
    returnedAmount: null,
    returnInfo: null,
    details: {
      sourceBalanceName: 'Main',
      recipient: { name: 'Amsterdam Trading BV', maskedIdentifier: 'NL77****0001', bankCountry: 'NL' },
      reference: 'Invoice 42',
      endToEndId: 'E2E-1',
      uetr: null,
      purpose: null,
      purposeCode: null,
      chargeBearer: 'shared',
    },
    ...change,
  }) as unknown as PaymentRecord

const linesOf = (
  record: PaymentRecord,
  party: Partial<typeof PARTY> | { account: null } = PARTY,
): Record<string, Record<string, string>> =>
  Object.fromEntries(
    paymentConfirmation(record, { ...PARTY, ...party }).sections.map(({ title, lines }) => [
      title,
      Object.fromEntries(lines),
    ]),
  )

t.test('what has arrived, or came back, is confirmed and nothing else', async (t) => {
  const all: readonly PaymentStatus[] = [
    'draft',
    'pending_approval',
    'scheduled',
    'processing',
    'on_hold',
    'completed',
    'failed',
    'returned',
    'exception',
    'rejected',
    'cancelled',
  ]
  t.strictSame(
    all.filter((status) => isConfirmed({ status })),
    ['completed', 'returned'],
  )
})

t.test('a payment that has arrived', async (t) => {
  t.match(paymentConfirmation(payment(), PARTY), {
    issuer: 'Example Bank',
    headline: '1,234,567.89 EUR',
    status: 'Completed on 4 May 2026',
    createdAt: AT + 2_000,
  })
  t.strictSame(linesOf(payment()), {
    Payer: { Name: 'Example Ltd', Account: 'NL12SBOX0000000099', 'Account name': 'Main' },
    Recipient: { Name: 'Amsterdam Trading BV', Account: 'NL77****0001', 'Country of the bank': 'NL' },
    Payment: {
      'Order number': 'PAY000000G01',
      Reference: 'Invoice 42',
      'End-to-end id': 'E2E-1',
      Rail: 'SEPA Credit Transfer',
      Charges: 'Shared (SHAR)',
      Amount: '1,234,567.89 EUR',
      'Total debit': '1,234,567.89 EUR',
    },
    Dates: {
      Ordered: '4 May 2026, 09:30:15',
      'Execution date': '4 May 2026',
      Sent: '4 May 2026, 09:30:16',
      Completed: '4 May 2026, 09:30:17',
    },
  })
})

t.test('fees, and currencies of other decimals', async (t) => {
  t.match(linesOf(payment({ fee: 150n })), {
    Payment: { Amount: '1,234,567.89 EUR', Fee: '1.50 EUR', 'Total debit': '1,234,569.39 EUR' },
  })
  t.equal(paymentConfirmation(payment({ currency: 'JPY', amount: 1_000n }), PARTY).headline, '1,000 JPY')
  t.equal(paymentConfirmation(payment({ currency: 'KWD', amount: 5n }), PARTY).headline, '0.005 KWD')
  t.equal(paymentConfirmation(payment({ amount: 100n }), PARTY).headline, '1.00 EUR')
  t.notOk('Account' in linesOf(payment(), { account: null })['Payer']!, 'what there is none of is left out')
})

t.test('what was bought first is debited in the currency of the account it was paid from', async (t) => {
  const { details } = payment()
  const conversion = {
    quoteId: 'q',
    exchangeId: 'x',
    buyBalanceId: 'b',
    sellCurrency: 'EUR',
    sellMinor: '9230',
    feeMinor: '50',
  }
  const bought = payment({ currency: 'JPY', amount: 15_000n, details: { ...details, conversion } })
  t.match(linesOf(bought), { Payment: { Amount: '15,000 JPY', Fee: '0.50 EUR', 'Total debit': '92.80 EUR' } })
  t.match(
    linesOf(
      payment({
        currency: 'JPY',
        amount: 15_000n,
        details: { ...details, conversion: { ...conversion, feeMinor: '0' } },
      }),
    ),
    { Payment: { Fee: undefined, 'Total debit': '92.30 EUR' } },
  )
})

t.test('a payment that came back says so', async (t) => {
  const returned = payment({
    status: 'returned',
    returnedAmount: 100_00n,
    returnInfo: {
      amountMinor: '10000',
      reasonCode: 'AC04',
      reason: 'The account is closed.',
      receivedAt: '2026-05-06T08:00:00.000Z',
    },
  })
  t.equal(paymentConfirmation(returned, PARTY).status, 'Returned on 6 May 2026')
  t.strictSame(linesOf(returned)['Return'], {
    'Amount returned': '100.00 EUR',
    Received: '6 May 2026, 08:00:00',
    Reason: 'AC04 – The account is closed.',
  })
  t.equal(linesOf(returned)['Dates']!['Completed'], '4 May 2026, 09:30:17', 'and that it had arrived')
})

t.test('times are those of where the customer is, and the days with them', async (t) => {
  const late = payment({ createdAt: Date.UTC(2026, 4, 4, 22, 30, 15), completedAt: Date.UTC(2026, 4, 4, 22, 30, 17) })
  const amsterdam = paymentConfirmation(late, { ...PARTY, timezone: 'Europe/Amsterdam' })
  t.equal(amsterdam.status, 'Completed on 5 May 2026')
  t.match(amsterdam.footer, /Times are those of Europe\/Amsterdam\.$/)
  t.match(
    linesOf(late, { timezone: 'Europe/Amsterdam' })['Dates'],
    { Ordered: '5 May 2026, 00:30:15', 'Execution date': '4 May 2026' },
    'a date has no zone',
  )
  t.match(linesOf(late, { timezone: 'America/New_York' })['Dates'], { Ordered: '4 May 2026, 18:30:15' })
  t.match(paymentConfirmation(late, PARTY).footer, /Times are UTC\.$/)
  const returned = payment({
    status: 'returned',
    returnedAmount: 1n,
    returnInfo: { amountMinor: '1', reasonCode: 'AC04', reason: 'Closed.', receivedAt: '2026-05-06T23:10:00.000Z' },
  })
  t.equal(paymentConfirmation(returned, { ...PARTY, timezone: 'Asia/Tokyo' }).status, 'Returned on 7 May 2026')
})
