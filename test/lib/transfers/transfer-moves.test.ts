import t from 'tap'

import { createTransfer } from '../../../lib/transfers/transfer.ts'
import { moveTransfer, type TransferMove } from '../../../lib/transfers/transfer-moves.ts'
import type { TransferState } from '../../../lib/transfers/transfer-state.ts'
import { balanceState, ids, MONDAY, transferCommand } from '../../support/commands.ts'

const state = (rest: Partial<TransferState> = {}): TransferState => ({
  id: ids.next(),
  customerId: ids.next(),
  operatorId: ids.next(),
  shard: 7,
  number: 'TRF0000000001',
  status: 'processing',
  version: 1,
  fromBalanceId: ids.next(),
  toBalanceId: ids.next(),
  currency: 'EUR',
  amount: 500n,
  reference: 'Savings',
  holdId: ids.next(),
  fromConnectionId: ids.next(),
  toConnectionId: ids.next(),
  ...rest,
})
const [fromNostro, toNostro] = [ids.next(), ids.next()]
const context = { ids, now: MONDAY, accounts: { from: { nostro: fromNostro }, to: { nostro: toNostro } } }
const CONFIRM = { kind: 'confirm', valueDate: '2026-05-04' } as const
const REFUSE = { kind: 'refuse', schemeCode: 'AC01' } as const
const TIMEOUT = { kind: 'timeout' } as const

t.test('between two connections the amount is held and nothing is posted', async (t) => {
  const balance = balanceState({ available: 900n })
  const other = createTransfer(
    balance,
    transferCommand({
      customerId: balance.customerId,
      amount: 500n,
      toBalanceId: ids.next(),
      toConnectionId: ids.next(),
    }),
    MONDAY,
  )
  const told = createTransfer(
    balance,
    transferCommand({
      customerId: balance.customerId,
      amount: 500n,
      toBalanceId: ids.next(),
      toConnectionId: balance.connectionId,
      byPartner: true,
    }),
    MONDAY,
  )
  for (const { reply, effects, state: after } of [other, told]) {
    t.match(reply, {
      kind: 'transfer_created',
      transfer: { status: 'processing', version: 1, byPartner: true, completedAt: null },
    })
    t.match(effects, {
      holds: [{ amount: 500n, subjectType: 'transfer', balanceId: balance.id }],
      transferOrders: [{ dueAt: MONDAY }],
      statusUpdates: [{ status: 'processing', version: 1 }],
    })
    t.notOk(effects?.postings)
    t.notOk(effects?.events)
    t.equal(after?.available, 400n)
  }
})

t.test('confirmed: both journals, the cash leg, the hold captured, two events', async (t) => {
  for (const status of ['processing', 'exception'] as const) {
    const transfer = state({ status, version: 2 })
    const moved = moveTransfer(transfer, CONFIRM, context)!
    t.match(moved, { over: true, change: { status: 'completed', version: 3, completedAt: MONDAY, failure: null } })
    t.match(moved.effects.postings, [
      { rule: 'L20', amount: 500n, debit: { id: transfer.fromBalanceId }, credit: { id: transfer.toBalanceId } },
      { rule: 'L21', amount: 500n, debit: { id: toNostro }, credit: { id: fromNostro } },
    ])
    t.match(moved.effects.holdResolutions, [
      { id: transfer.holdId, status: 'captured', capturedAmount: 500n, amount: 500n },
    ])
    t.match(moved.effects.statusUpdates, [{ version: 3, status: 'completed', previousStatus: status }])
    t.same(
      moved.effects.events?.map(({ type }) => type),
      ['transfer.status_changed', 'transfer.completed'],
    )
    t.same(moved.effects.exceptionEnds?.length ?? 0, status === 'exception' ? 1 : 0)
  }
  const connection = ids.next()
  t.same(
    moveTransfer(
      state({ fromConnectionId: connection, toConnectionId: connection }),
      CONFIRM,
      context,
    )?.effects.postings?.map(({ rule }) => rule),
    ['L20'],
    'on one connection no cash moves',
  )
})

t.test('refused: the hold is released and the reason is told', async (t) => {
  for (const status of ['processing', 'exception'] as const) {
    const moved = moveTransfer(state({ status }), REFUSE, context)!
    t.match(moved, {
      over: true,
      change: { status: 'failed', failure: { code: 'invalid_account_details', schemeCode: 'AC01' } },
    })
    t.match(moved.effects, {
      holdResolutions: [{ status: 'released', capturedAmount: null }],
      events: [{ type: 'transfer.status_changed', status: 'failed', previousStatus: status }],
    })
    t.notOk(moved.effects.postings)
  }
})

t.test('a timeout leaves the hold and opens an exception', async (t) => {
  const moved = moveTransfer(state(), TIMEOUT, context)!
  t.match(moved, {
    over: false,
    change: { status: 'exception' },
    effects: {
      exceptions: [{ subjectType: 'transfer', kind: 'provider_timeout' }],
      events: [{ type: 'transfer.status_changed' }],
    },
  })
  t.notOk(moved.effects.holdResolutions)
  t.equal(moveTransfer(state({ status: 'exception' }), TIMEOUT, context), null, 'once')
})

t.test('cash that no partner moves is an exception of its own for staff', async (t) => {
  const moved = moveTransfer(state(), { kind: 'to_staff' }, context)!
  t.match(moved, {
    change: { status: 'exception' },
    effects: { exceptions: [{ kind: 'provider_state_unknown', message: /move it, and resolve/ }] },
  })
  t.notOk(moved.effects.holdResolutions)
  t.equal(moveTransfer(state({ status: 'exception' }), { kind: 'to_staff' }, context), null, 'once')
})

t.test('what is over stays so', async (t) => {
  for (const status of ['completed', 'failed', 'on_hold'] as const) {
    for (const move of [CONFIRM, REFUSE, TIMEOUT] as TransferMove[])
      t.equal(moveTransfer(state({ status }), move, context), null, `${status} ${move.kind}`)
  }
})
