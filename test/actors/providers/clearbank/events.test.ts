/** ClearBank's webhooks and lists, and the requests that are made of orders: everything that needs no connection. */
import t from 'tap'
import { clearbankAdapter } from '../../../../actors/providers/adapters/clearbank/clearbank-adapter.ts'
import { derivedId } from '../../../../actors/providers/adapters/derived-id.ts'
import type { InboxMessage, RawProviderEvent } from '../../../../actors/providers/adapters/adapter.ts'
import type { PartnerHttp } from '../../../../actors/providers/adapters/partner-http.ts'
import { paymentRequest, referenceOf } from '../../../../actors/providers/adapters/clearbank/clearbank-requests.ts'
import { sentenceReason } from '../../../../actors/providers/adapters/clearbank/clearbank-codes.ts'
import { failureFor } from '../../../../lib/rails/failure-codes.ts'
import { FakeClearbank, type Transaction, type Webhook } from '../../../support/clearbank/fake-clearbank.ts'
import { makeKeys, signatureFits } from '../../../support/clearbank/clearbank-keys.ts'
import { CLEARBANK_CONNECTION, clearbankOrder } from '../../../support/clearbank/clearbank-orders.ts'
import { NO_FILES } from '../../../support/no-files.ts'

const NOW = Date.parse('2026-08-24T10:00:00Z')
const HOUR = 3_600_000
const bank = new FakeClearbank(() => NOW)
const { id } = CLEARBANK_CONNECTION
const noWay: PartnerHttp = { send: () => Promise.reject(new Error('These tests call nothing.')) }
const connection = clearbankAdapter.open(
  { ...CLEARBANK_CONNECTION, config: bank.config('http://127.0.0.1:1'), credentials: bank.credentials() },
  {
    http: () => noWay,
    files: NO_FILES,
  },
)

const judge = (webhook: Webhook, now = NOW, secret = bank.bank.publicPem) =>
  connection.verify!({ bytes: Buffer.from(webhook.body), headers: webhook.headers }, secret, now)

const eventOf = ({ body }: Webhook, type = 'x'): RawProviderEvent => ({
  source: 'webhook',
  eventId: 'e',
  type,
  body: Buffer.from(body),
  headers: {},
  occurredAt: null,
})

const messagesOf = (webhook: Webhook) => connection.translate(eventOf(webhook))

/** The only message of an event, which is for a port. */
function soleMessage(messages: readonly InboxMessage[]) {
  const [message] = messages
  if (messages.length !== 1 || message === undefined || message.port === 'none')
    throw new Error(`Not one message: ${JSON.stringify(messages)}`)
  return message
}

const REFERENCE = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'

const payment = (change: Partial<Transaction> = {}): Transaction => ({
  transactionId: 'd9162680-7d35-7994-4e38-fa80716899a2',
  endToEndIdentifier: REFERENCE.replaceAll('-', ''),
  debitCreditCode: 'DBIT',
  pounds: 1234.56,
  reference: 'Rent May',
  name: 'Grace Payee',
  at: NOW - HOUR,
  status: 'PDNG',
  fpid: 'FPID-1',
  ...change,
})

t.test('a payment that is out is settled, by a webhook and by a list under one id', (t) => {
  const { port, message } = soleMessage(messagesOf(bank.settled(payment())))
  t.equal(port, 'bank')
  t.match(message, { type: 'settled', reference: REFERENCE, providerRef: 'FPID-1', amount: null })
  t.equal(message.id, derivedId(id, REFERENCE, 'settled'))
  const row = {
    transactionId: payment().transactionId,
    endToEndIdentifier: payment().endToEndIdentifier,
    debitCreditCode: 'DBIT',
    status: 'ACSC',
    amount: { instructedAmount: 1234.56, currency: 'GBP' },
  }
  const listed = (change: object) =>
    connection.translate({
      ...eventOf({ body: JSON.stringify({ transaction: { ...row, ...change }, account: null }), headers: {} }),
      type: 'ListedTransaction',
      source: 'poll',
    })
  t.equal(soleMessage(listed({})).message.id, message.id)
  for (const status of ['ACCP', 'ACSP', 'ACTC', 'ACWC', 'PART', 'PDNG', 'RCVD', 'RJCT', 'NEWWORD'])
    t.match(listed({ status }), [{ port: 'none', isFault: false }], status)
  t.match(listed({ endToEndIdentifier: 'theirs' }), [{ port: 'none', isFault: false }])
  t.match(listed({ transactionId: null }), [{ port: 'none', isFault: true }])
  t.match(listed({ debitCreditCode: 'CRDT' }), [{ port: 'none', isFault: true }], 'a credit of our own id')
  t.end()
})

t.test('a rejection is translated to our reasons, and an unknown code is passed on', (t) => {
  const codeOf = (code: string | null) => {
    const { message } = soleMessage(messagesOf(bank.rejected(payment(), code)))
    t.match(message, { type: 'rejected', reference: REFERENCE })
    return (message as { schemeCode: string | null }).schemeCode
  }
  for (const [code, failure] of [
    ['AC03', 'account_not_found'],
    ['PY01', 'account_not_found'],
    ['AC07', 'account_closed'],
    ['CB_AccountSwitched', 'account_closed'],
    ['AC06', 'account_blocked'],
    ['CB_CancelledCreditAccountDisabled', 'account_blocked'],
    ['AG01', 'account_not_eligible'],
    ['CB_AccountNameAndNumberMismatch', 'name_mismatch'],
    ['CB_AccountNameInvalid', 'name_mismatch'],
    ['CB_PaymentBeneficiaryNameMissing', 'regulatory_information_missing'],
    ['CB_PaymentReferenceMissing', 'reference_invalid'],
    ['CB_FailedModulusCheck', 'invalid_account_details'],
    ['MS03', 'refused_by_recipient_bank'],
    ['MS02', 'refused_by_recipient'],
    ['MD09', 'recipient_deceased'],
    ['HOPRJ', 'declined'],
    ['CB_SomethingNew', 'unknown'],
  ] as const)
    t.equal(failureFor(codeOf(code) ?? '').code, failure, code)
  t.equal(codeOf('CB_SomethingNew'), 'CB_SomethingNew')
  t.equal(codeOf(null), null)
  t.end()
})

t.test('a failed assessment fails the payment, except when the bank has it already', (t) => {
  const ours = REFERENCE.replaceAll('-', '')
  for (const [sentence, failure] of [
    ['InsufficientFunds', 'insufficient_funds'],
    ['The account has insufficient funds', 'insufficient_funds'],
    ['Scheme amount limit exceeded. 1000000.01 exceeds the limit', 'amount_limit_exceeded'],
    ['Modulus check failed', 'invalid_account_details'],
    ['UnexecutableCode.InboundSchemeNotAccepted', 'bank_unreachable'],
    ['Inbound payments disabled', 'account_blocked'],
    ['Outbound payments disabled', 'account_not_eligible'],
    ['No internal account located for Creditor main account', 'account_not_found'],
  ] as const) {
    const { message } = soleMessage(messagesOf(bank.assessmentFailed(ours, [sentence])))
    t.match(message, { type: 'rejected', reference: REFERENCE })
    t.equal(failureFor((message as { schemeCode: string }).schemeCode).code, failure, sentence)
  }
  t.equal(sentenceReason(['A sentence that is in no list, and longer than a code may be']).length, 35)
  const duplicate = bank.assessmentFailed(ours, ['Duplicate transaction has been detected'])
  t.match(messagesOf(duplicate), [{ port: 'none', isFault: false }])
  const validation = bank.webhook('PaymentMessageValidationFailed', 1, {
    MessageId: 'm',
    ValidationFailure: [
      { EndToEndId: ours, Reasons: ['Payments-0[0].Creditor IBAN - must match'] },
      { EndToEndId: 'theirs', Reasons: ['x'] },
    ],
  })
  t.match(messagesOf(validation), [
    { port: 'bank', message: { schemeCode: 'AC01' } },
    { port: 'none', isFault: false },
  ])
  t.match(messagesOf(bank.assessmentFailed('x', [])), [{ port: 'none' }])
  t.match(messagesOf(bank.webhook('PaymentMessageAssesmentFailed', 1, {})), [{ port: 'none', isFault: true }])
  t.end()
})

t.test('a payment that came back is returned, named by our id or by that of the scheme', (t) => {
  const out = payment()
  const named = soleMessage(messagesOf(bank.cameBack(out, 'AC07')))
  t.match(named, {
    port: 'bank',
    message: { type: 'returned', reference: REFERENCE, schemeCode: 'AC07', amount: 123_456n },
  })
  const unnamed = soleMessage(messagesOf(bank.cameBack(out, 'CB_AccountNameInvalid', 'THEIRS')))
  t.match(unnamed.message, { type: 'returned', reference: 'FPID-1', schemeCode: 'NAME_AND_NUMBER_MISMATCH' })
  const [back] = bank.transactions
  const row = {
    transactionId: back!.transactionId,
    endToEndIdentifier: 'THEIRS',
    debitCreditCode: 'CRDT',
    status: 'ACSC',
    amount: { instructedAmount: 1234.56, currency: 'GBP' },
    transactionTime: '2026-08-24T10:00:00Z',
  }
  const body = Buffer.from(JSON.stringify({ transaction: row, account: null }))
  const listed = soleMessage(connection.translate({ ...eventOf(bank.signed('')), type: 'ListedTransaction', body }))
  t.equal(listed.message.id, unnamed.message.id, 'the list does not bring the same money again')
  const nothing = bank.settled(payment({ endToEndIdentifier: 'THEIRS', debitCreditCode: 'CRDT' }), { isReturn: true })
  t.match(messagesOf(nothing), [{ port: 'none', isFault: true }])
  t.end()
})

t.test('a credit carries its facts, and a returned credit is named by the id of the scheme', (t) => {
  const credit = bank.receive({ pounds: 0.07, name: 'Ada Payer', reference: 'Invoice 7' })
  const { port, message } = soleMessage(messagesOf(bank.settled(credit)))
  t.equal(port, 'credit')
  t.match(message, {
    id: derivedId(id, credit.transactionId, 'incoming'),
    type: 'account.credited',
    reference: credit.transactionId,
    connectionId: id,
    account: 'GB90CLRB04190000001107',
    credit: {
      reference: credit.transactionId,
      amount: 7n,
      currency: 'GBP',
      payerName: 'Ada Payer',
      payerIdentifier: 'GB33****5555',
      payerBankName: 'Other Bank',
      payerCountry: 'GB',
      remittance: 'Invoice 7',
      rail: 'faster_payments',
      endToEndId: credit.fpid,
      uetr: null,
      valueDate: '2026-08-24',
    },
  })
  t.match(soleMessage(messagesOf(bank.creditLeft(credit))), {
    port: 'credit',
    message: { type: 'account.credit_returned', reference: credit.fpid },
  })
  const unreadable = bank.settled({ ...credit, pounds: 1.005 })
  t.match(messagesOf(unreadable), [{ port: 'none', isFault: true }], 'more than two decimals')
  t.match(messagesOf(bank.settled({ ...credit, pounds: -1 })), [{ port: 'none', isFault: true }])
  t.end()
})

t.test('amounts are read to the penny, or not at all', (t) => {
  for (const [pounds, pence] of [
    [0.01, 1n],
    [0.1, 10n],
    [7, 700n],
    [20.5, 2_050n],
    [1_000_000, 100_000_000n],
    [9_999_999_999_999.99, 999_999_999_999_999n],
  ] as const) {
    const { message } = soleMessage(messagesOf(bank.settled(payment({ debitCreditCode: 'CRDT', pounds }))))
    t.match(message, { credit: { amount: pence } }, `${pounds}`)
  }
  for (const pounds of [0.001, -1, 1e14, 1e21, Number.NaN])
    t.match(
      messagesOf(bank.settled(payment({ debitCreditCode: 'CRDT', pounds }))),
      [{ port: 'none', isFault: true }],
      `${pounds}`,
    )
  t.end()
})

t.test('what is not for us or cannot be read moves nothing', (t) => {
  const cases: readonly [string, Webhook, boolean][] = [
    ['test', bank.webhook('FITestEvent', 1, 'probe'), false],
    ['another type', bank.webhook('AccountCreated', 1, {}), false],
    ['a name of the prototype', bank.webhook('constructor', 1, {}), false],
    ['money of others', bank.settled(payment({ endToEndIdentifier: 'THEIRS' })), false],
    ['held credit', bank.webhook('InboundHeldTransaction', 1, {}), false],
    ['rejected credit', bank.webhook('TransactionRejected', 2, { DebitCreditCode: 'Credit' }), false],
    ['rejected return', bank.webhook('TransactionRejected', 2, { DebitCreditCode: 'Debit', IsReturn: true }), true],
    ['no payload', bank.webhook('TransactionSettled', 6, null), true],
    ['no id', bank.webhook('TransactionSettled', 6, { DebitCreditCode: 'Credit' }), true],
    ['no JSON', bank.signed('<html>'), true],
    ['empty', bank.signed(''), true],
    ['a list', bank.signed('[1]'), true],
  ]
  for (const [name, webhook, isFault] of cases) t.match(messagesOf(webhook), [{ port: 'none', isFault }], name)
  const held = bank.webhook('OutboundHeldTransaction', 1, { EndToEndTransactionId: payment().endToEndIdentifier })
  t.match(soleMessage(messagesOf(held)).message, { type: 'pending', reference: REFERENCE })
  t.end()
})

t.test('a webhook counts only with the bank’s signature over its whole body', (t) => {
  const webhook = bank.settled(payment())
  const judged = judge(webhook)
  t.match(judged, { valid: true, type: 'TransactionSettled' })
  if (judged.valid) {
    const { status, headers, body } = judged.answer!
    t.ok(bank.isAnswered(webhook, { status, signature: headers['digitalsignature'] ?? null, body }))
  }
  const other = makeKeys()
  t.notOk(judge({ ...webhook, body: webhook.body.replace('1234.56', '9234.56') }).valid, 'another amount')
  t.notOk(judge({ ...webhook, body: `${webhook.body} ` }).valid, 'a space more')
  t.notOk(judge(webhook, NOW, other.publicPem).valid, 'another key')
  t.notOk(judge(webhook, NOW, 'no key').valid, 'no key')
  t.notOk(judge({ ...webhook, headers: {} }).valid, 'no signature')
  for (const digitalsignature of ['', '!!', 'YQ==', 'A'.repeat(9_000)])
    t.notOk(judge({ ...webhook, headers: { digitalsignature } }).valid, digitalsignature.slice(0, 5))
  t.notOk(judge(bank.signed('')).valid, 'an empty body')
  t.notOk(judge(bank.signed('{"Type":"FITestEvent"}')).valid, 'no nonce')
  t.end()
})

t.test('a webhook that is too old or from the future does not count; an event is known again', (t) => {
  const webhook = bank.settled(payment())
  t.ok(judge(webhook, NOW + 47 * HOUR).valid)
  t.match(judge(webhook, NOW + 49 * HOUR), { valid: false, reason: /old/ })
  t.ok(judge(webhook, NOW - 4 * 60_000).valid)
  t.match(judge(webhook, NOW - 6 * 60_000), { valid: false, reason: /future/ })
  const eventId = (judged: ReturnType<typeof judge>) => (judged.valid ? judged.eventId : 'invalid')
  const [first, second] = [bank.settled(payment()), bank.settled(payment())]
  t.not(first.body, second.body, 'another nonce')
  t.equal(eventId(judge(first)), eventId(judge(second)))
  t.not(eventId(judge(first)), eventId(judge(bank.rejected(payment(), null))))
  const held = (end: string) => bank.webhook('OutboundHeldTransaction', 1, { EndToEndTransactionId: end })
  t.equal(eventId(judge(held('a'))), eventId(judge(held('a'))), 'without an id, the content counts')
  t.not(eventId(judge(held('a'))), eventId(judge(held('b'))))
  t.end()
})

t.test('an order becomes the same request each time, with amounts to the penny', (t) => {
  const config = bank.config('http://x')
  const request = paymentRequest(clearbankOrder({ reference: REFERENCE, amount: 99_999_999n }), config)
  t.match(request, {
    body: {
      paymentInstructions: [
        {
          debtor: { address: 'UK, London, High Street, 12, E1 6AN' },
          paymentInstructionIdentification: REFERENCE.replaceAll('-', ''),
          debtorAccount: { identification: { iban: 'GB90CLRB04190000001107' } },
          creditTransfers: [
            {
              paymentIdentification: { endToEndIdentification: REFERENCE.replaceAll('-', '') },
              amount: { currency: 'GBP', instructedAmount: 999_999.99 },
              creditor: { name: 'Grace Hopper' },
              creditorAccount: {
                identification: {
                  other: { identification: 'GBR01020312345678', schemeName: { proprietary: 'PRTY_COUNTRY_SPECIFIC' } },
                },
              },
            },
          ],
        },
      ],
    },
  })
  t.equal(
    JSON.stringify(request),
    JSON.stringify(paymentRequest(clearbankOrder({ reference: REFERENCE, amount: 99_999_999n }), config)),
  )
  const amountIn = (amount: bigint) =>
    /"instructedAmount":([\d.]+)/.exec(JSON.stringify(paymentRequest(clearbankOrder({ amount }), config)))?.[1]
  for (const [pence, text] of [
    [1n, '0.01'],
    [10n, '0.1'],
    [29n, '0.29'],
    [100n, '1'],
    [100_000_000n, '1000000'],
    [4_503n, '45.03'],
  ] as const)
    t.equal(amountIn(pence), text)
  t.equal(referenceOf(REFERENCE.replaceAll('-', '').toUpperCase()), REFERENCE)
  for (const not of [null, '', REFERENCE, 'x'.repeat(32), `${REFERENCE.replaceAll('-', '')}0`])
    t.equal(referenceOf(not), null)
  t.end()
})

t.test('an order that the bank could not take is refused before anything is sent', (t) => {
  const config = bank.config('http://x')
  t.match(paymentRequest(clearbankOrder({ debtorAddress: null }), config), { faultCode: 'RR02' })
  t.match(paymentRequest(clearbankOrder({ account: {} }), config), { faultCode: 'AC01' })
  t.match(paymentRequest(clearbankOrder({}), {}), { faultCode: 'TECH' })
  const numbers = { settlementAccounts: [{ currency: 'GBP', accountRef: '01-02-03 87654321' }] }
  t.match(JSON.stringify(paymentRequest(clearbankOrder({}), numbers)), /GBR01020387654321/)
  t.end()
})

t.test('the key of the connection must be one that can sign, and the secret one that can verify', (t) => {
  const open = (privateKey: string) => () =>
    clearbankAdapter.open(
      { ...CLEARBANK_CONNECTION, config: {}, credentials: { apiToken: 't', privateKey } },
      {
        http: () => noWay,
        files: NO_FILES,
      },
    )
  t.throws(open('-----BEGIN PRIVATE KEY-----\nnonsense'), /cannot be read/)
  const fault = (secret: string) => clearbankAdapter.description.webhooks!.secretFault(secret)
  t.equal(fault(bank.bank.publicPem), null)
  t.match(fault(bank.bank.privatePem), /public key/)
  t.match(fault('x'), /public key/)
  t.ok(
    signatureFits(
      bank.bank.publicKey,
      Buffer.from(bank.signed('a').body),
      bank.signed('a').headers['digitalsignature']!,
    ),
  )
  t.end()
})
