/** Money of collections in the bank's statement: collected, returned with and without a compensation, sent back. */
import t from 'tap'
import { DAY_MS, HOUR_MS, ManualClock } from '../../../lib/base/clock.ts'
import type { StatementEntry } from '../../../lib/reconciliation/statement.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { matchDay } from '../../../storage/reconciliation/reconciliation-matching.ts'
import * as rows from '../../../storage/reconciliation/reconciliations.ts'
import { openNodes } from '../../histories/nodes.ts'
import { Creditor } from '../../support/creditor.ts'
import { openLedger } from '../../support/ledger.ts'

const DAY = '2026-03-02'
const NOON = Date.parse(`${DAY}T12:00:00Z`)

const line = (reference: string, direction: StatementEntry['direction'], amount: bigint): StatementEntry => ({
  reference,
  direction,
  amount,
  bookedOn: DAY,
  valueDate: DAY,
  bankRef: null,
  code: null,
  text: null,
})

t.test('each amount of a collection is matched with its line, and what differs is told', async (t) => {
  const clock = new ManualClock(NOON)
  const ledger = await openLedger(t, [10_000n], clock)
  const { nodes } = await openNodes(t, ledger, 1)
  const creditor = new Creditor(ledger, clock, nodes[0]!)
  const mandate = await creditor.mandate()
  const collected = await creditor.collection(mandate, {})
  const returned = await creditor.collection(mandate, {}, { type: 'collection.returned', reasonCode: 'MD06' })
  const compensated = await creditor.collection(
    mandate,
    {},
    { type: 'collection.returned', reasonCode: 'MD06', amount: 1_300n },
  )
  const again = await creditor.collection(
    mandate,
    {},
    { type: 'collection.returned', reasonCode: 'AM04' },
    { type: 'collection.reinstated' },
  )
  const reversed = await creditor.collection(mandate, {})
  await creditor.reverse(reversed)
  await creditor.tell(reversed, { type: 'collection.reversed' })
  const short = await creditor.collection(mandate, {})

  const { database, operatorId, connectionId, accounts, read } = ledger
  const now = NOON + DAY_MS
  await rows.queueReconciliations(database, {
    until: DAY,
    now,
    only: { operatorId, connectionId, currency: 'EUR', by: operatorId },
  })
  const [queued] = await read<[string]>(`select id from reconciliation where day = '${DAY}'`)
  const taken = (await rows.takeReconciliation(database, queued![0], {
    now,
    until: now + HOUR_MS,
    evenIfTaken: false,
  }))!
  const [opening] = await read<[string]>(`select source_id from posting where rule = 'L01'`)
  await rows.keepEntries(database, taken, 1, [
    line(opening![0], 'CRDT', 10_000n),
    line(collected, 'CRDT', 1_200n),
    line(returned, 'CRDT', 1_200n),
    line(returned, 'DBIT', 1_200n),
    line(compensated, 'CRDT', 1_200n),
    // One amount of the bank, two entries here.
    line(compensated, 'DBIT', 1_300n),
    line(again, 'CRDT', 1_200n),
    line(again, 'DBIT', 1_200n),
    line(again, 'CRDT', 1_200n),
    line(reversed, 'CRDT', 1_200n),
    line(reversed, 'DBIT', 1_200n),
    line(short, 'CRDT', 1_150n),
  ])
  const { nostro } = await accounts.accounts({ operatorId, connectionId, currency: 'EUR' })
  const { matched } = await inTransaction(database, (client) => matchDay(client, taken, { nostro: nostro!, now }))
  t.equal(matched, 11)
  t.strictSame(await read('select kind, reference, our_amount::int, partner_amount::int from reconciliation_item'), [
    ['amount_differs', short, 1_200, 1_150],
  ])
})
