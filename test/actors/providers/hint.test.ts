/** Webhooks that are hints, judged by the answer to a status request. */
import t from 'tap'
import type { BankMessage, OrderStatus } from '../../../actors/providers/bank.ts'
import { isAskable, judgeHint } from '../../../actors/providers/inbox/hint.ts'

const hint = (type: BankMessage['type'], more: Partial<BankMessage> = {}): BankMessage => ({
  id: 'message',
  type,
  reference: 'payment',
  shard: 0,
  schemeCode: null,
  amount: null,
  ...more,
})

t.test('the answer counts, and one that is behind is waited for', (t) => {
  const rejected: OrderStatus = { kind: 'rejected', schemeCode: 'AC04' }
  const returned: OrderStatus = { kind: 'returned', schemeCode: 'AC01', amount: 5n }
  for (const [said, status, outcome] of [
    [hint('settled'), { kind: 'settled' }, ['settled', false]],
    [hint('settled'), rejected, ['rejected', true]],
    [hint('settled'), returned, ['returned', true]],
    [hint('settled'), { kind: 'pending' }, 'pending'],
    [hint('settled'), { kind: 'unknown' }, 'unknown'],
    [hint('settled'), undefined, 'unknown'],
    [hint('rejected'), rejected, ['rejected', false]],
    [hint('rejected'), { kind: 'settled' }, 'settled'],
    [hint('rejected'), { kind: 'pending' }, 'pending'],
    [hint('returned', { amount: 5n }), returned, ['returned', false]],
    [hint('returned', { amount: 4n }), returned, ['returned', true]],
    [hint('returned', { amount: 5n }), { kind: 'settled' }, 'settled'],
    [hint('pending'), { kind: 'pending' }, ['pending', false]],
    [hint('pending'), { kind: 'settled' }, ['settled', true]],
  ] as const) {
    const judged = judgeHint(said, status)
    const found = judged.kind === 'wait' ? judged.says : [judged.message.type, judged.isCorrected]
    t.strictSame(found, outcome, `${said.type}, and the bank says ${status?.kind}`)
  }
  const judged = judgeHint(hint('settled'), rejected)
  t.match(judged, { kind: 'take', message: { id: 'message', reference: 'payment', schemeCode: 'AC04' } })
  t.end()
})

t.test('an answer to a recall, and a doubt, are nothing that a status tells', (t) => {
  t.strictSame(
    (['settled', 'rejected', 'returned', 'pending', 'unclear', 'recall_rejected'] as const).filter((type) =>
      isAskable({ type }),
    ),
    ['settled', 'rejected', 'returned', 'pending'],
  )
  t.end()
})
