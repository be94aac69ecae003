/** The days of the safeguarding report, where a balance has moved from one connection to another. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { ManualClock } from '../../../lib/base/clock.ts'
import { figuresOf, type SafeguardedDay } from '../../../lib/reports/report.ts'
import { safeguardedDays } from '../../../storage/reports/safeguarding.ts'
import { openLedger } from '../../support/ledger.ts'

t.test('a balance counts at the connection where it was on the day', async (t) => {
  const ledger = await openLedger(t, [10_000n], new ManualClock(Date.parse('2026-03-02T12:00:00Z')))
  const { database, read, operatorId, connectionId, accounts } = ledger
  const [balanceId] = ledger.balances as [string]
  const other = randomUUID()
  await read(
    `insert into provider_connection (id, operator_id, provider, environment, role, status, name, created_at)
     select $1, operator_id, provider, environment, 'fallback', 'active', 'Other', created_at from provider_connection where id = $2`,
    [other, connectionId],
  )
  const scope = { operatorId, currency: 'EUR' }
  const from = await accounts.accounts({ ...scope, connectionId })
  const to = await accounts.accounts({ ...scope, connectionId: other })
  const post = (rule: string, amount: number, debit: string, credit: string, at: string) =>
    read(
      `insert into posting (entry_id, ordinal, customer_id, rule, occurrence, source_object, source_id, currency, amount, debit_account, credit_account, booked_at, value_date)
       values (gen_random_uuid(), 0, $1, $2, 1, 'connection_move', gen_random_uuid(), 'EUR', $3, $4, $5, $6, '2026-03-03')`,
      [operatorId, rule, amount, debit, credit, at],
    )
  // A fee before the move stays where it was taken; one after it is taken at the other connection.
  await post('L53', 40, balanceId, from.inc_fee!, '2026-03-02T15:00:00Z')
  await post('L96', 9_960, to.nostro!, from.nostro!, '2026-03-03T12:00:00Z')
  await read(
    `insert into connection_move (id, operator_id, from_connection_id, to_connection_id, job_id, balance_id, currency, amount, moved_at)
     values (gen_random_uuid(), $1, $2, $3, gen_random_uuid(), $4, 'EUR', 9960, '2026-03-03T12:00:00Z')`,
    [operatorId, connectionId, other, balanceId],
  )
  await read('update balance set connection_id = $1 where id = $2', [other, balanceId])
  await post('L53', 60, balanceId, from.inc_fee!, '2026-03-03T15:00:00Z')

  const days: SafeguardedDay[] = []
  const question = { from: '2026-03-02', to: '2026-03-03', currency: 'EUR', connectionId: null, customerId: null }
  for await (const batch of safeguardedDays(database, operatorId, {
    ...question,
    kind: 'safeguarding',
    timezone: 'UTC',
  }))
    days.push(...batch)
  const shown = days.map((day) => {
    const { customerMoney, ownMoney, bankPerBooks, booksDifference } = figuresOf(day)
    return [day.day, day.connection, customerMoney, ownMoney, bankPerBooks, booksDifference]
  })
  const [name] = await read<[string]>('select name from provider_connection where id = $1', [connectionId])
  t.strictSame(
    shown.toSorted((one, two) => (String(one) < String(two) ? -1 : 1)),
    [
      ['2026-03-02', name![0], 9_960n, 40n, 10_000n, 0n],
      ['2026-03-03', 'Other', 9_900n, 60n, 9_960n, 0n],
      ['2026-03-03', name![0], 0n, 40n, 40n, 0n],
    ].toSorted((one, two) => (String(one) < String(two) ? -1 : 1)),
  )
})
