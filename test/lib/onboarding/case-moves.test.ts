/** Every status of a case with every trigger, for customers that were never approved and for those under review again. */
import t from 'tap'
import { LIFE_STATUSES } from '../../../lib/customers/status.ts'
import { CASE_TRIGGERS, caseLocked, moveCase } from '../../../lib/onboarding/case-moves.ts'
import { KYB_CASE_STATUSES } from '../../../lib/onboarding/case-words.ts'

/** The moves as the contract has them: trigger, from, to, customer. */
const MOVES = `
  submit | draft | submitted | in_review
  begin_review | submitted | in_review | in_review
  request_info | in_review | info_requested | info_required
  resubmit | info_requested | in_review | in_review
  approve | in_review | approved | active
  reject | in_review | rejected | rejected
  withdraw | draft submitted in_review info_requested | withdrawn | closed
  review_again | approved | in_review | in_review
  reopen | rejected | in_review | in_review
  provider_green | submitted in_review info_requested | in_review | in_review
  provider_red_final | submitted in_review info_requested | in_review | in_review
  provider_red_retry | submitted in_review info_requested | info_requested | info_required
`
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()) as [string, string, string, string])

t.test('a case moves as the table of the contract says, and no other way', (t) => {
  t.strictSame(
    MOVES.map(([trigger]) => trigger),
    [...CASE_TRIGGERS],
    'each trigger has a row',
  )
  for (const trigger of CASE_TRIGGERS)
    for (const status of KYB_CASE_STATUSES) {
      const [, from, to, customer] = MOVES.find(([name]) => name === trigger)!
      const moved = moveCase({ status, customer: 'onboarding' }, trigger)
      if (from.split(' ').includes(status)) t.strictSame(moved, { status: to, customer }, `${trigger} from ${status}`)
      else
        t.match(
          moved,
          { refused: { slug: 'invalid-transition', extra: { currentStatus: status, allowed: from.split(' ') } } },
          `${trigger} from ${status}`,
        )
    }
  t.end()
})

t.test('a customer that was approved keeps its money while it is reviewed again', (t) => {
  for (const customer of ['active', 'closing'] as const) {
    for (const [trigger, status] of [
      ['review_again', 'approved'],
      ['request_info', 'in_review'],
      ['resubmit', 'info_requested'],
      ['provider_green', 'in_review'],
      ['provider_red_final', 'in_review'],
      ['provider_red_retry', 'in_review'],
    ] as const)
      t.match(moveCase({ status, customer }, trigger), { customer }, `${trigger} of a customer that is ${customer}`)
    t.match(moveCase({ status: 'in_review', customer }, 'withdraw'), { refused: { slug: 'invalid-transition' } })
  }
  const approved = LIFE_STATUSES.map((customer) => moveCase({ status: 'in_review', customer }, 'approve'))
  t.strictSame(
    approved.map((moved) => ('customer' in moved ? moved.customer : null)),
    LIFE_STATUSES.map((status) => (status === 'closed' ? null : status === 'closing' ? status : 'active')),
    'an approval ends no closure',
  )
  t.match(moveCase({ status: 'in_review', customer: 'active' }, 'reject'), { customer: 'rejected' })
  t.match(moveCase({ status: 'in_review', customer: 'closing' }, 'reject'), { customer: 'closing' })
  t.end()
})

t.test('what a case declares changes while it is with the customer, and renewals after its approval too', (t) => {
  const open = (renewal: boolean) => KYB_CASE_STATUSES.filter((status) => caseLocked(status, { renewal }) === null)
  t.strictSame(open(false), ['draft', 'info_requested'])
  t.strictSame(open(true), ['draft', 'info_requested', 'approved'])
  t.end()
})
