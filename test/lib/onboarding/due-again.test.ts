/** What falls due again in an approved case: reminders, the lapse, its end, and the review of staff. Pure. */
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { KybCaseRecord } from '../../../lib/onboarding/kyb-case.ts'
import { checkCase, lapseOf, nextCheckAt } from '../../../lib/onboarding/due-again.ts'
import { dueAgainOf, type CaseFacts } from '../../../lib/onboarding/requirements.ts'
import { COMPLETE, document, factsOf, type Given } from './facts.ts'

const DUE = Date.parse('2027-06-30T12:00:00.000Z')
const made = (days: number) => ({ at: DUE - days * DAY_MS, by: 'ann' })
const stated = (days: number): Partial<KybCaseRecord> => ({
  attestations: { allDirectors: made(days), allOwners: made(days) },
  terms: { ...made(days), version: '1', address: null },
})

/** A case whose statements are of so many days before the review at `DUE`. */
const approved = (days: number, more: Partial<KybCaseRecord> = {}, given: Given = {}): CaseFacts =>
  factsOf({
    ...COMPLETE,
    ...given,
    status: 'approved',
    record: { ...COMPLETE.record, nextReviewAt: DUE, ...stated(days), ...more },
  })
const OLD = 365
const at = (facts: CaseFacts, days: number, planned = days) =>
  checkCase(facts, { since: DUE + planned * DAY_MS, now: DUE + days * DAY_MS })
const NOTHING = { remind: [], lapse: null, review: false }
const REMINDED = { remind: [{ kind: 'statements', dueAt: DUE }], lapse: null, review: false }
const lapsed = { lapsedAt: DUE }

t.test('a review is reminded of twice, and what is overdue lapses once', (t) => {
  const facts = approved(OLD)
  const next = (days: number, of = facts) => (nextCheckAt(of, DUE + days * DAY_MS)! - DUE) / DAY_MS
  t.strictSame(
    [-40, -30, -29, -7, -6].map((days) => next(days)),
    [-30, -7, -7, 0, 0],
  )
  t.strictSame(at(facts, -40), NOTHING)
  t.strictSame(at(facts, -30), REMINDED)
  t.strictSame(at(facts, -29.9, -30), REMINDED, 'a minute late')
  t.strictSame(at(facts, -29), NOTHING, 'a look between')
  t.strictSame(at(facts, -7), REMINDED)
  t.strictSame(at(facts, -6, -30), REMINDED, 'no node ran in between: one reminder')
  t.strictSame(at(approved(8), -7), NOTHING, 'stated anew')
  t.equal(next(-7, approved(8)), 0)
  t.strictSame(at(facts, 0), { ...NOTHING, lapse: 'begins' })
  t.equal(next(0), 0, 'at once')
  t.strictSame(at(approved(OLD, lapsed), 1), NOTHING)
  t.equal(next(1, approved(OLD, lapsed)), 2, 'a day later')
  t.strictSame(at(approved(1), 0), { ...NOTHING, review: true })
  t.strictSame(at(approved(1, lapsed), 9), { ...NOTHING, lapse: 'ends', review: true })
  t.end()
})

t.test('what was stated within a month of the review counts for it', (t) => {
  const again = (days: number, more: Partial<KybCaseRecord> = {}, given: Given = {}) =>
    dueAgainOf(approved(days, more, given), DUE).map(({ kind }) => kind)
  const person: Given = { type: 'individual', persons: [] }
  const terms = (days: number) => ({ attestations: {}, terms: stated(days).terms! })
  t.strictSame(again(OLD, terms(30), person), [])
  t.strictSame(again(OLD, terms(31), person), ['statements'])
  t.strictSame(again(OLD, { attestations: {}, terms: null }, person), ['statements'])
  t.strictSame(again(OLD, terms(1)), ['statements'], 'a business has more to state')
  t.strictSame(again(1), [])
  t.strictSame(again(1, { attestations: { allDirectors: made(1), allOwners: made(400) } }), ['statements'])
  t.end()
})

t.test('a document that expires is treated as the review is', (t) => {
  const EXPIRY = Date.parse('2027-03-01T00:00:00.000Z')
  const extract = (...documents: readonly ReturnType<typeof document>[]): Given => ({
    documents: [...documents, ...COMPLETE.documents!.slice(1)],
  })
  const old = document('kyb_register_extract', { expiresOn: '2027-03-01' })
  const check = (days: number, more: Partial<KybCaseRecord>, ...documents: readonly ReturnType<typeof document>[]) => {
    const now = EXPIRY + days * DAY_MS
    return checkCase(approved(OLD, more, extract(...documents)), { since: now, now })
  }
  const reminded = { ...NOTHING, remind: [{ kind: 'documents', dueAt: EXPIRY }] }
  t.strictSame(check(-30, {}, old), reminded)
  t.strictSame(check(-20, {}, old), NOTHING)
  t.strictSame(check(-7, {}, old), reminded)
  t.strictSame(check(0, {}, old), { ...NOTHING, lapse: 'begins' })
  t.strictSame(check(1, lapsed, old), NOTHING)
  const scanned = document('kyb_register_extract', { status: 'pending_scan' })
  t.strictSame(check(0, {}, old, scanned), NOTHING, 'nothing is taken from a customer whose document is being scanned')
  t.strictSame(check(1, lapsed, old, scanned), NOTHING, 'and nothing is given back before it is clean')
  t.strictSame(check(1, lapsed, old, document('kyb_register_extract', { status: 'infected' })), NOTHING)
  t.strictSame(check(1, lapsed, old, document('kyb_register_extract')), { ...NOTHING, lapse: 'ends' })

  const both = approved(1, lapsed, extract(old))
  t.strictSame(at(both, 1), NOTHING, 'staff review when nothing is past due any more')
  t.end()
})

t.test('a case that is not approved, or whose customer is closed, is left alone', (t) => {
  const facts = approved(OLD)
  const closed: CaseFacts = { ...facts, customer: { ...facts.customer, status: 'closed' } }
  const reviewed = approved(OLD, { status: 'in_review', ...lapsed })
  for (const each of [closed, reviewed]) {
    for (const days of [-30, 0, 9]) t.strictSame(at(each, days), NOTHING)
    t.equal(lapseOf(each, DUE), null)
  }
  t.end()
})
