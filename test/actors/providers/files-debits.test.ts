/** Direct debits of customers' accounts in a bank's files, and the messages that they become. */
import t from 'tap'
import { debitBackOf, debitOf, isReceivedDebit } from '../../../actors/providers/adapters/files/debits.ts'
import type { Booking } from '../../../actors/providers/adapters/files/credits.ts'
import { eventText, translateFileEvent, type FileNews } from '../../../actors/providers/adapters/files/file-event.ts'

const CONNECTION = '0198f000-0000-7000-8000-000000000001'
const scope = { connectionId: CONNECTION, account: { iban: 'NL02ABNA0123456789' }, seen: new Map<string, number>() }
const code = (subFamily: string) => ({ domain: 'PMNT', family: 'RDDT', subFamily, proprietary: null })

const booking = (subFamily: string, bankRef: string, more: object = {}): Booking =>
  ({
    amount: 700n,
    entry: {
      currency: 'EUR',
      valueDate: '2026-05-04',
      bookedOn: '2026-05-04',
      bankRef,
      text: null,
      code: code(subFamily),
      transactions: [{}],
    },
    transaction: {
      references: {
        endToEndId: 'E2E-7',
        mandateId: 'M-7',
        bankRef: null,
        clearingRef: null,
        uetr: null,
        transactionId: null,
      },
      creditor: {
        name: 'City Power',
        address: null,
        id: { value: 'DE98ZZZ09999999999', scheme: 'SEPA', isPrivate: true },
      },
      ultimateCreditor: null,
      debtorAccount: { iban: 'NL77SBOX0100000001' },
      remittance: { unstructured: ['Invoice 7'], creditorReference: null },
      code: null,
      returned: null,
      ...more,
    },
  }) as unknown as Booking

const messagesOf = (news: FileNews) =>
  translateFileEvent(CONNECTION, {
    source: 'file',
    eventId: 'e',
    type: 'camt.054 DBIT',
    body: Buffer.from(eventText(news, { file: { id: 'f', name: 'f', sha256: 's' }, place: 1 })),
    headers: {},
    occurredAt: null,
  })

t.test('a booked debit is the same debit in each file that tells of it', (t) => {
  const debit = debitOf(booking('ESDD', 'BANK-1'), scope)!
  t.ok(isReceivedDebit(booking('ESDD', 'BANK-1')))
  t.equal(debitOf(booking('ESDD', 'BANK-1'), { ...scope, seen: new Map() })!.reference, debit.reference)
  t.not(debitOf(booking('ESDD', 'BANK-2'), scope)!.reference, debit.reference)
  t.match(messagesOf(debit), [
    {
      port: 'incoming_debit',
      message: {
        type: 'debit.booked',
        reference: debit.reference,
        account: 'NL77SBOX0100000001',
        debit: {
          scheme: 'sepa_dd_core',
          amount: 700n,
          mandateReference: 'M-7',
          endToEndId: 'E2E-7',
          dueDate: '2026-05-04',
        },
      },
    },
  ])
  t.match(debitOf(booking('BBDD', 'BANK-3'), scope), { debit: { scheme: 'sepa_dd_b2b' } })
  t.equal(debitOf(booking('ESDD', 'BANK-4', { debtorAccount: scope.account }), scope), null, "the operator's own")
  t.equal(debitOf(booking('ESDD', 'BANK-5', { creditor: null }), scope), null, 'of a creditor without a name')
  t.end()
})

t.test('money that came back names the debit by its end-to-end id', (t) => {
  const back = debitBackOf(
    booking('UPDD', 'BANK-9', { returned: { reason: { code: 'MD06' }, originalCode: null } }),
    scope,
  )!
  t.match(messagesOf(back), [
    {
      port: 'incoming_debit',
      message: { type: 'debit.given_back', reference: 'E2E-7', reasonCode: 'MD06', amount: 700n },
    },
  ])
  t.match(messagesOf({ ...back, amount: 'many' }), [{ port: 'none', isFault: true }])
  t.end()
})
