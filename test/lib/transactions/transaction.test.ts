import t from 'tap'
import { relatedOf, transactionStatus, type TransactionRecord } from '../../../lib/transactions/transaction.ts'
import { transactionId } from '../../../lib/ledger/transaction-id.ts'

const ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'

t.test('the parts of a movement have ids that follow from its cause, each another', async (t) => {
  t.strictSame(
    [transactionId(ID), transactionId(ID, 'other_side'), transactionId(ID, 'return')],
    [ID, '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5e', '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5d'],
  )
  t.equal(transactionId('01980d6e-7f3a-7c21-9f58-0a1b2c3d4e00', 'other_side').slice(-2), '01')
})

t.test('what a status means to somebody who looks at movements', async (t) => {
  for (const [status, shown] of [
    ['processing', 'pending'],
    ['scheduled', 'pending'],
    ['pending_approval', 'pending'],
    ['exception', 'pending'],
    ['on_hold', 'on_hold'],
    ['completed', 'completed'],
    ['failed', 'failed'],
    ['rejected', 'failed'],
    ['cancelled', 'cancelled'],
    ['expired', 'cancelled'],
    ['returned', 'returned'],
    ['received', 'completed'],
  ] as const)
    t.equal(transactionStatus(status), shown, status)
})

t.test('what belongs together is named, with what this is of the other', async (t) => {
  const back = transactionId(ID, 'return')
  const siblings = [
    { id: ID, type: 'outgoing_payment' as const },
    { id: back, type: 'payment_return' as const },
  ]
  const of = (id: string, type: TransactionRecord['type']) =>
    relatedOf({ id, type, sourceObject: 'payment', sourceId: ID }, siblings)
  t.strictSame(of(ID, 'outgoing_payment'), [{ object: 'transaction', id: back, relation: 'counterpart' }])
  t.strictSame(of(back, 'payment_return'), [
    { object: 'payment', id: ID, relation: 'return_of' },
    { object: 'transaction', id: ID, relation: 'return_of' },
  ])
  t.match(of('x', 'fee'), [
    { object: 'payment', relation: 'fee_of' },
    { id: ID, relation: 'fee_of' },
    { id: back, relation: 'counterpart' },
  ])
})
