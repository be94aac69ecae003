/** The timers of mandates and collections, and the exposure that follows from a collection's status. */
import t from 'tap'
import { COLLECTION_STATUSES } from '../../../lib/direct-debits/collection.ts'
import { schemeDate } from '../../../lib/direct-debits/dates.ts'
import { exposedAmount, exposedUntil, exposureChanges } from '../../../lib/direct-debits/exposure.ts'
import { noticeOf } from '../../../lib/direct-debits/debit-terms.ts'
import { DEBIT_SCHEMES } from '../../../lib/direct-debits/schemes.ts'
import { dueOfCollection, dueOfMandate } from '../../../lib/direct-debits/timers.ts'
import { MANDATE_SCHEMES } from '../../../lib/rails/debit-schemes.ts'
import { collectionOf, mandateOf } from '../../support/debit-samples.ts'

t.test('what is due on a collection follows from its status, in every scheme', async (t) => {
  for (const scheme of MANDATE_SCHEMES) {
    const notice = {
      sentBy: 'service',
      channel: 'email',
      sentAt: null,
      sendBy: '2026-12-01',
      amountMinor: '1',
      dueDate: '2026-12-15',
      creditorName: 'Example',
      creditorId: null,
      mandateReference: 'WB1',
      account: null,
      reference: 'Fee',
    } as const
    const due = (change: Parameters<typeof collectionOf>[1]) =>
      dueOfCollection(collectionOf(scheme, { dueDate: '2026-12-15', ...change }))?.reason ?? null
    for (const [change, reason] of [
      [{ status: 'pending' }, null],
      [{ status: 'pending', preNotification: notice }, 'notice'],
      [{ status: 'pending', preNotification: { ...notice, sentBy: 'customer' } }, null],
      [{ status: 'pending', preNotification: { ...notice, sentAt: '2026-12-01T08:00:00.000Z' } }, null],
      [{ status: 'submitted' }, 'overdue'],
      [{ status: 'collected' }, null],
      [{ status: 'collected', reserveUntil: 5, exposedUntil: 9 }, 'reserve'],
      [{ status: 'collected', reserveUntil: 9, exposedUntil: 5 }, 'exposure'],
      [{ status: 'collected', exposedUntil: 5 }, 'exposure'],
      [{ status: 'failed' }, null],
      [{ status: 'failed', nextAttemptAt: 5 }, 'retry'],
      [{ status: 'returned', nextAttemptAt: 5 }, 'retry'],
      [{ status: 'exception', exposedUntil: 5 }, null],
      [{ status: 'reversed' }, null],
      [{ status: 'cancelled' }, null],
    ] as const)
      t.equal(due(change), reason, `${scheme} ${JSON.stringify(change)}`)
  }
})

t.test(
  'a mandate is dormant by its last presentation, or else its signature; silence is consent in Bacs alone',
  async (t) => {
    const signedAt = Date.parse('2026-01-31T12:00:00Z')
    const lastPresentedAt = Date.parse('2026-02-28T12:00:00Z')
    const submittedAt = Date.parse('2026-04-01T12:00:00Z')
    for (const scheme of MANDATE_SCHEMES) {
      const { dormancyMonths } = DEBIT_SCHEMES[scheme]
      const last = (change: Parameters<typeof mandateOf>[1]) => {
        const due = dueOfMandate(mandateOf(scheme, { management: 'client', ...change }))
        return due === null ? null : `${due.reason} ${schemeDate(DEBIT_SCHEMES[scheme], due.at - 1)}`
      }
      const years = { 36: 2029, 24: 2028 }[dormancyMonths ?? 0]
      const ends = (date: string) => (years === undefined ? null : `dormancy ${years}-${date}`)
      t.equal(last({ status: 'active', signedAt, lastPresentedAt: null }), ends('01-31'), scheme)
      t.equal(last({ status: 'active', signedAt, lastPresentedAt }), ends('02-28'), scheme)
      t.equal(last({ status: 'suspended', signedAt }), null, scheme)
      t.equal(
        last({ status: 'submitted', submittedAt }),
        // Five business days after Easter's: Good Friday and Easter Monday do not count.
        scheme === 'bacs_dd' ? 'silence 2026-04-10' : null,
        scheme,
      )
    }
  },
)

t.test(
  'a collection counts from its creation until it ends, or until its payer can have it back no longer',
  async (t) => {
    for (const status of COLLECTION_STATUSES) {
      const open = ['pending', 'submitted', 'exception'].includes(status)
      t.equal(exposedAmount(collectionOf('sepa_dd_core', { status })), open ? 12_500n : 0n, status)
      const counted = collectionOf('sepa_dd_core', { status, exposedUntil: 5 })
      t.equal(exposedAmount(counted), open || status === 'collected' ? 12_500n : 0n, `${status}, refundable`)
    }
    const pending = collectionOf('sepa_dd_core', { status: 'pending' })
    const { customerId, currency } = pending
    t.strictSame(exposureChanges(null, pending, 5n), {
      exposureChanges: [{ customerId, currency, amount: 12_500n, max: 5n }],
    })
    t.strictSame(exposureChanges(pending, { ...pending, status: 'submitted' }), {}, 'nothing changes')
    t.strictSame(exposureChanges(pending, { ...pending, status: 'failed' }), {
      exposureChanges: [{ customerId, currency, amount: -12_500n, max: null }],
    })
    const until = (refundable: string | null) =>
      schemeDate(DEBIT_SCHEMES.bacs_dd, exposedUntil({ scheme: 'bacs_dd', dueDate: '2026-01-31' }, refundable) - 1)
    t.equal(until('2026-03-05'), '2026-03-05')
    t.equal(until(null), '2027-02-28', 'a claim without an end counts for 13 months')
  },
)

t.test('notices are those of the scheme; SEPA follows operator and customer, whichever is shorter', async (t) => {
  for (const [operator, customer, days] of [
    [14, null, 14],
    [10, null, 10],
    [10, 3, 3],
    [3, 10, 3],
  ] as const)
    for (const scheme of MANDATE_SCHEMES)
      t.strictSame(
        noticeOf(DEBIT_SCHEMES[scheme], { preNotificationDays: operator, customerNoticeDays: customer }, null),
        scheme.startsWith('sepa') ? { count: days, unit: 'calendar' } : DEBIT_SCHEMES[scheme].preNotification,
        scheme,
      )
  const terms = { preNotificationDays: 14, customerNoticeDays: null }
  t.strictSame(noticeOf(DEBIT_SCHEMES.bacs_dd, terms, 3), { count: 3, unit: 'working' }, 'what was agreed counts')
})
