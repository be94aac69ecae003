/** What a refusal says of ids that are of another kind. */
import t from 'tap'
import type { Problem } from '../../../lib/base/problems.ts'
import { ID_KINDS, idsOf, problemWithKinds, wantedKind, type IdKind } from '../../../lib/integration/id-kinds.ts'

const BALANCE = '01980d6e-0000-7000-8000-00000000b001'
const PAYMENT = '01980d6e-0000-7000-8000-00000000e001'
const NOBODYS = '01980d6e-0000-7000-8000-00000000f001'
const kinds = new Map<string, readonly IdKind[]>([
  [BALANCE, ['balance']],
  [PAYMENT, ['payment', 'transaction']],
])

t.test('the name of a field or parameter tells which kind it wants', async (t) => {
  for (const [name, kind] of [
    ['balanceId', 'balance'],
    ['sourceBalanceId', 'balance'],
    ['fromBalanceId', 'balance'],
    ['recipientId', 'recipient'],
    ['paymentId', 'payment'],
    ['incomingPaymentId', 'incoming_payment'],
    ['scheduledPaymentId', 'scheduled_payment'],
    ['bulkPaymentId', 'bulk_payment'],
    ['fundsRequestId', 'funds_request'],
    ['documentIds', 'document'],
    ['quoteId', 'quote'],
    ['membershipId', null],
    ['id', null],
  ] as const)
    t.equal(wantedKind(name), kind, name)
})

t.test('fields and paths say what the refused id is', async (t) => {
  const fault = (field: string, code: string) => ({ field, code, message: 'No such thing.' })
  const refusal = (...errors: ReturnType<typeof fault>[]) =>
    ({ slug: 'validation-error', detail: 'No such thing.', errors }) as Problem
  const NOT_FOUND: Problem = { slug: 'not-found', detail: 'No such resource.' }
  const A_BALANCE = 'This is the id of a balance.'
  for (const [problem, params, body, told] of [
    [refusal(fault('/recipientId', 'not_found')), {}, { recipientId: BALANCE }, `No such thing. ${A_BALANCE}`],
    [
      refusal(fault('/recipientId', 'not_found')),
      {},
      { recipientId: BALANCE.toUpperCase() },
      `No such thing. ${A_BALANCE}`,
    ],
    [refusal(fault('/documentIds/1', 'not_found')), {}, { documentIds: ['x', BALANCE] }, `No such thing. ${A_BALANCE}`],
    [
      refusal(fault('/filter/balanceId', 'not_found')),
      {},
      { filter: { balanceId: PAYMENT } },
      'No such thing. This is the id of a payment.',
    ],
    [refusal(fault('/sourceBalanceId', 'not_found')), {}, { sourceBalanceId: BALANCE }, 'No such thing.'],
    [refusal(fault('/recipientId', 'not_found')), {}, { recipientId: NOBODYS }, 'No such thing.'],
    [refusal(fault('/recipientId', 'inactive')), {}, { recipientId: BALANCE }, 'No such thing.'],
    [refusal(fault('/recipientId', 'not_found')), {}, { recipientId: 'me' }, 'No such thing.'],
    [refusal(fault('/recipientId', 'not_found')), {}, null, 'No such thing.'],
    [NOT_FOUND, { recipientId: BALANCE }, null, `No such resource. ${A_BALANCE}`],
    [NOT_FOUND, { balanceId: BALANCE, statementId: PAYMENT }, null, 'No such resource. This is the id of a payment.'],
    [NOT_FOUND, { transactionId: PAYMENT }, null, 'No such resource.'],
    [NOT_FOUND, { balanceId: BALANCE }, null, 'No such resource.'],
    [{ slug: 'conflict', detail: 'No such resource.' } as never, { recipientId: BALANCE }, null, 'No such resource.'],
  ] as const) {
    const { detail, errors } = problemWithKinds(problem, { params, body }, kinds)
    t.equal(detail, told, JSON.stringify([problem, params, body]))
    if (errors !== undefined) t.equal(errors[0]?.message, told)
  }
  t.strictSame(idsOf(refusal(fault('/recipientId', 'required')), { params: { balanceId: BALANCE }, body: {} }), [])
})

t.test('of several faults only that of the id has more to say', async (t) => {
  const told = problemWithKinds(
    {
      slug: 'validation-error',
      detail: 'Some fields of the body are not valid.',
      errors: [
        { field: '/amount', code: 'required', message: 'Is required.' },
        { field: '/recipientId', code: 'not_found', message: 'No such recipient.' },
      ],
    },
    { params: {}, body: { recipientId: PAYMENT } },
    kinds,
  )
  t.equal(told.detail, 'Some fields of the body are not valid.')
  t.strictSame(
    told.errors?.map(({ message }) => message),
    ['Is required.', 'No such recipient. This is the id of a payment.'],
  )
  for (const words of Object.values(ID_KINDS)) t.match(words, /^an? [a-z ]+$/)
})
