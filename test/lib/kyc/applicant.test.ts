/** Messages about an applicant in any order, and what reviews mean for the case. */
import fc from 'fast-check'
import t from 'tap'
import { beginAnew, hear, type Applicant } from '../../../lib/kyc/applicant.ts'
import { movesAfter, questionsAfter, resultOf } from '../../../lib/kyc/case-outcome.ts'
import type { KycMessage, KycOutcome, KycReview } from '../../../lib/kyc/messages.ts'
import { moveCase } from '../../../lib/onboarding/case-moves.ts'
import { KYB_CASE_STATUSES } from '../../../lib/onboarding/case-words.ts'

const GREEN: KycReview = {
  answer: 'green',
  rejectType: null,
  rejectLabels: [],
  moderationComment: null,
  screening: [],
}
const FINAL: KycReview = { ...GREEN, answer: 'red', rejectType: 'final', rejectLabels: ['FORGERY'] }
const RETRY: KycReview = { ...GREEN, answer: 'red', rejectType: 'retry', moderationComment: 'Blurred.' }

const NEW: Applicant = {
  subjectId: 'case',
  caseId: 'case',
  personId: null,
  customerId: 'customer',
  operatorId: 'operator',
  connectionId: 'connection',
  applicantId: null,
  review: null,
  heardAt: null,
  askedAt: null,
}
const LATER = 1_000_000
const message = (occurredAt: number | null, outcome: KycOutcome | null): KycMessage => ({
  eventId: `${occurredAt}`,
  type: 'any',
  occurredAt,
  subjectId: 'case',
  applicantId: 'abc',
  outcome,
})
const reviewed = (at: number | null, review: KycReview) => message(at, { kind: 'reviewed', review })

function heardIn(messages: readonly KycMessage[], from: Applicant = NEW): Applicant {
  return messages.reduce((applicant, each) => {
    const heard = hear(applicant, each, LATER)
    return 'ignored' in heard ? applicant : heard.applicant
  }, from)
}

t.test('whatever the order and however often, what happened last counts', (t) => {
  const outcome = fc.constantFrom<KycOutcome>(
    { kind: 'pending' },
    { kind: 'on_hold' },
    { kind: 'reset' },
    ...[GREEN, FINAL, RETRY].map((review) => ({ kind: 'reviewed' as const, review })),
  )
  const messages = fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: 500 }), outcome), {
    minLength: 1,
    maxLength: 8,
    selector: ([at]) => at,
  })
  fc.assert(
    fc.property(
      messages.chain((all) =>
        fc.tuple(
          fc.constant(all),
          fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2, maxLength: all.length * 2 }),
        ),
      ),
      ([all, sent]) => {
        const [at, last] = all.toSorted(([left], [right]) => right - left)[0]!
        const applicant = heardIn(sent.map(([ms, each]) => message(ms, each)))
        t.equal(applicant.heardAt, at)
        t.equal(applicant.review, last.kind === 'reviewed' ? last.review : null)
      },
    ),
  )
  t.end()
})

t.test('a message that is late is ignored', (t) => {
  const green = heardIn([reviewed(100, GREEN)])
  t.strictSame(hear(green, reviewed(99, RETRY), LATER), { ignored: 'late' })
  t.strictSame(hear(green, message(100, { kind: 'pending' }), LATER), { ignored: 'late' })
  t.match(hear(green, reviewed(100, FINAL), LATER), { status: 'red' }, 'a review of the same millisecond counts')
  t.strictSame(hear(green, message(200, null), LATER), { ignored: 'unknown_type' })
  const asked = beginAnew(heardIn([reviewed(100, RETRY)]), 500)
  t.match(asked, { review: null, askedAt: 500 })
  t.strictSame(hear(asked, reviewed(499, RETRY), LATER), { ignored: 'late' }, 'of the review before')
  t.match(hear(asked, reviewed(500, GREEN), LATER), { status: 'green' })
  t.end()
})

t.test('a clock that is ahead keeps no later message out', (t) => {
  const ahead = heardIn([reviewed(LATER * 5, RETRY)])
  t.equal(ahead.heardAt, LATER)
  t.match(hear(ahead, reviewed(LATER + 1, GREEN), LATER + 1), { status: 'green' })
  t.match(hear(NEW, reviewed(null, GREEN), LATER), { applicant: { heardAt: LATER } }, 'without a time, that of arrival')
  t.end()
})

t.test('the id of the provider is noted, and stays', (t) => {
  const created = hear(NEW, message(10, { kind: 'created' }), LATER)
  t.match(created, { status: null, applicant: { applicantId: 'abc', review: null } })
  t.equal(heardIn([message(10, { kind: 'created' }), { ...reviewed(20, GREEN), applicantId: null }]).applicantId, 'abc')
  t.equal(heardIn([reviewed(20, GREEN), message(30, { kind: 'created' })]).review, GREEN, 'created says nothing else')
  t.end()
})

t.test('the result of a case is that of the worst applicant', (t) => {
  const of = (...reviews: (KycReview | null)[]) => resultOf(reviews.map((review) => ({ review })))
  t.equal(of(), null)
  t.match(of(GREEN, GREEN), { reviewAnswer: 'green', rejectType: null })
  t.match(of(GREEN, null), { reviewAnswer: 'pending', rejectType: null })
  t.match(of(null, RETRY, GREEN), { reviewAnswer: 'red', rejectType: 'retry', moderationComment: 'Blurred.' })
  t.match(of(RETRY, FINAL), { reviewAnswer: 'red', rejectType: 'final', rejectLabels: ['FORGERY'] })
  const hit = { list: 'pep', name: 'A', score: 80, status: 'potential_match' }
  t.strictSame(of({ ...GREEN, screening: [hit] }, { ...GREEN, screening: [hit] })?.screening, [hit, hit])
  t.end()
})

const shown = { now: 50, mayShow: () => true }
const asked = { code: 'more', field: null, message: 'Why?', requestedAt: 1, resolvedAt: null }

t.test('a retry asks the customer, once for each applicant, and another review ends the question', (t) => {
  const person = { personId: 'p1' }
  const once = questionsAfter([asked], person, RETRY, shown)
  t.strictSame(once[0], asked)
  t.match(once[1], { code: 'provider_retry', field: '/persons/p1', message: 'Blurred.', resolvedAt: null })
  const twice = questionsAfter(once, person, RETRY, { ...shown, now: 60 })
  t.strictSame(
    twice.map(({ resolvedAt }) => resolvedAt),
    [null, 60, null],
  )
  t.strictSame(
    questionsAfter(twice, { personId: null }, GREEN, shown).filter(({ resolvedAt }) => resolvedAt === null).length,
    2,
    'that of another applicant stays',
  )
  t.strictSame(
    questionsAfter(twice, person, GREEN, shown).filter(({ resolvedAt }) => resolvedAt === null),
    [asked],
  )
  const hidden = questionsAfter([], person, RETRY, { now: 1, mayShow: () => false })
  t.notMatch(hidden[0]!.message, /Blurred/, 'what must not be shown is not')
  t.end()
})

t.test('the moves of a case are those of the table, and none leads back', (t) => {
  const open = [asked]
  for (const status of KYB_CASE_STATUSES) {
    for (const review of [GREEN, FINAL, RETRY])
      for (const questions of [[], open]) {
        let at = status
        for (const trigger of movesAfter(status, review, questions)) {
          const moved = moveCase({ status: at, customer: 'in_review' }, trigger)
          t.notOk('refused' in moved, `${status} ${trigger}`)
          if (!('refused' in moved)) at = moved.status
        }
        const wanted =
          status === 'draft' || status === 'rejected' || status === 'withdrawn'
            ? status
            : review === RETRY
              ? 'info_requested'
              : review === FINAL
                ? 'in_review'
                : status === 'approved' || (status === 'info_requested' && questions === open)
                  ? status
                  : 'in_review'
        t.equal(at, wanted, `${status}, ${review.rejectType ?? 'green'}, ${questions.length} questions`)
      }
  }
  t.end()
})
