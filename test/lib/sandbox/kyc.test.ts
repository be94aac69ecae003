/** The reviews that the sandbox plans by the names of companies and persons. */
import t from 'tap'
import { kycRules, planKycReview } from '../../../lib/sandbox/kyc.ts'

t.test('each word has its review, and its rule in the catalogue', (t) => {
  const rules = kycRules().map(({ rule }) => rule)
  for (const [token, afterMs, review] of [
    ['GREEN', 5_000, { answer: 'green', rejectType: null, screening: [] }],
    ['RED', 5_000, { answer: 'red', rejectType: 'final' }],
    ['RETRY', 5_000, { answer: 'red', rejectType: 'retry' }],
    ['DOC-EXPIRED', 5_000, { answer: 'red', rejectType: 'retry', rejectLabels: ['EXPIRATION_DATE'] }],
    ['UBO-MISSING', 5_000, { answer: 'red', rejectType: 'retry', rejectLabels: ['COMPANY_NOT_DEFINED_BENEFICIARIES'] }],
    ['HIT', 5_000, { answer: 'green', screening: [{ list: 'sanctions', status: 'potential_match' }] }],
    ['SLOW', 60_000, { answer: 'green', screening: [] }],
  ] as const) {
    for (const name of [`Acme SBX:${token} BV`, `acme sbx:${token.toLowerCase()}`, `SBX/${token}`])
      t.match(planKycReview(name), { afterMs, review }, name)
    t.ok(
      rules.some((rule) => rule.includes(`SBX:${token}`)),
      token,
    )
  }
  t.end()
})

t.test('without a word the review is green, and several combine', (t) => {
  for (const name of ['', 'Acme BV', 'SBX', 'SBX:REDDER', 'SBX:AC04'])
    t.match(planKycReview(name), { afterMs: 5_000, review: { answer: 'green', screening: [] } }, name)
  t.match(planKycReview('SBX:SLOW SBX:RED'), { afterMs: 60_000, review: { rejectType: 'final' } })
  t.match(planKycReview('SBX:GREEN SBX:RED'), { review: { answer: 'red' } }, 'the worse counts')
  t.end()
})
