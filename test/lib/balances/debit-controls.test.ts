/** The controls of a balance for direct debits. */
import t from 'tap'
import { comparedCreditor, controlsRefusal, NO_CONTROLS } from '../../../lib/balances/debit-controls.ts'

const debit = { creditorId: 'DE98ABC09999999999', amount: 500n, dueDate: '2026-03-30' }

t.test('creditors are compared without spaces, case and the business code of SEPA', (t) => {
  t.equal(comparedCreditor('de98 zzz 0999 9999 999'), comparedCreditor(debit.creditorId))
  t.not(comparedCreditor('DE98ZZZ09999999998'), comparedCreditor(debit.creditorId))
  t.equal(comparedCreditor('power co'), 'POWERCO')
  t.end()
})

t.test('the first control that a debit offends refuses it', (t) => {
  for (const [controls, last, refusal, more] of [
    [{}, null, null, {}],
    [{ blockAll: true, blockedCreditorIds: [debit.creditorId] }, null, 'all_blocked', {}],
    [{ blockedCreditorIds: ['DE98ZZZ09999999999'] }, null, 'creditor_blocked', {}],
    [{ blockedCreditorIds: ['X'], allowedCreditorIds: ['DE98ZZZ09999999999'] }, null, null, {}],
    [{ allowedCreditorIds: ['X'] }, null, 'creditor_not_allowed', {}],
    [{ allowedCreditorIds: ['X'] }, null, 'creditor_not_allowed', { creditorId: null }],
    [{ blockedCreditorIds: ['X'] }, null, null, { creditorId: null }],
    [{ maxAmount: 499n }, null, 'amount_above_limit', {}],
    [{ maxAmount: 500n }, null, null, {}],
    [{ periodicity: 'monthly' }, null, null, {}],
    [{ periodicity: 'monthly' }, '2026-03-02', null, {}],
    [{ periodicity: 'monthly' }, '2026-03-06', 'too_frequent', {}],
    [{ periodicity: 'daily' }, '2026-03-30', 'too_frequent', {}],
    [{ periodicity: 'daily' }, '2026-03-29', null, {}],
    [{ periodicity: 'yearly' }, '2025-04-05', 'too_frequent', {}],
    [{ periodicity: 'weekly' }, '2026-03-25', null, {}],
  ] as const)
    t.equal(
      controlsRefusal({ ...NO_CONTROLS, ...controls }, { ...debit, ...more }, last),
      refusal,
      JSON.stringify([controls, last, more], (_, value: unknown) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    )
  t.end()
})
