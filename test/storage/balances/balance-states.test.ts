import t from 'tap'
import { createIdSource } from '../../../lib/base/ids.ts'
import { systemClock } from '../../../lib/base/clock.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { Connection } from '../../../storage/db/connection.ts'
import { loadBalances } from '../../../storage/balances/balance-states.ts'
import { readConnectionCalendar, writeConnectionCalendar } from '../../../storage/providers/connection-calendars.ts'
import { openLedger } from '../../support/ledger.ts'
import { until } from '../../support/until.ts'

t.test('a balance that is loaded under lock', async (t) => {
  const ledger = await openLedger(t, [1_000n])
  const connection = await Connection.open(ledger.url, 'lane')
  const watcher = await Connection.open(ledger.url, 'watcher')
  t.teardown(async () => {
    await connection.close()
    await watcher.close()
  })
  const [balanceId] = ledger.balances as [string]
  const load = async (lock: boolean) => (await loadBalances(connection, [balanceId], lock)).get(balanceId)!
  const before = await load(false)
  t.equal(before.calendar, null)

  await t.test('has the settings of the version for which it waited', async (t) => {
    let loading: ReturnType<typeof load> | undefined
    await connection.begin()
    await inTransaction(ledger.database, async (client) => {
      const calendar = (await readConnectionCalendar(client, ledger.operatorId, ledger.connectionId, true))!
      const by = createIdSource(systemClock).next()
      await writeConnectionCalendar(client, ledger.operatorId, { ...calendar, kept: true, by, now: systemClock.now() })
      loading = load(true)
      await until('the load waits for the lock', async () => {
        const { rows } = await watcher.query({
          name: 'waiting',
          values: [],
          text: `select from pg_stat_activity where application_name = 'lane' and wait_event_type = 'Lock' and datname = current_database()`,
        })
        return rows.length === 1
      })
    })
    const after = await loading!
    await connection.end(true)
    t.equal(after.version, before.version + 1n)
    t.match(after.calendar, { realCalendar: true })
    t.strictSame(after, await load(false))
  })
})
