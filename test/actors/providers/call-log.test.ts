/** Calls of providers are kept as rows, for a time. */
import t from 'tap'
import { CallLog } from '../../../actors/providers/io/call-log.ts'
import { ManualClock } from '../../../lib/base/clock.ts'
import { PROVIDER_CALLS_KEPT_MS, type ProviderCall } from '../../../lib/providers/provider-call.ts'
import { removeOldProviderCalls } from '../../../storage/providers/provider-calls.ts'
import { ids, MONDAY } from '../../support/commands.ts'
import { openLedger } from '../../support/ledger.ts'

const CONNECTION = '019ff000-0000-7000-8000-00000000c0de'

const call = (change: Partial<ProviderCall> = {}): Omit<ProviderCall, 'id'> => ({
  connectionId: CONNECTION,
  operation: 'create_payment',
  method: 'POST',
  target: 'bank.example/v1/payments?"a"',
  status: 201,
  fault: null,
  message: null,
  latencyMs: 12,
  requestBytes: 100,
  answerBytes: 20,
  request: null,
  answer: null,
  at: MONDAY,
  ...change,
})

t.test('calls are written together, and removed when they are old', async (t) => {
  const { database, read } = await openLedger(t, [0n], new ManualClock(MONDAY))
  const errors: unknown[] = []
  const log = new CallLog({ database, ids, onError: (error) => errors.push(error) })
  log.record(call())
  log.record(call({ status: null, fault: 'silent', message: 'no answer', request: '{"a": "\\"}', at: MONDAY + 1 }))
  await log.flush()
  const rows = await read<unknown[]>(
    'select connection_id, target, status, fault, message, latency_ms, request from provider_call order by id',
  )
  t.strictSame(rows, [
    [CONNECTION, 'bank.example/v1/payments?"a"', 201, null, null, 12, null],
    [CONNECTION, 'bank.example/v1/payments?"a"', null, 'silent', 'no answer', 12, '{"a": "\\"}'],
  ])
  await log.flush()
  t.strictSame(errors, [])

  t.equal(await removeOldProviderCalls(database, MONDAY + PROVIDER_CALLS_KEPT_MS), 0)
  t.equal(await removeOldProviderCalls(database, MONDAY + 1 + PROVIDER_CALLS_KEPT_MS), 1)
  t.equal((await read('select from provider_call')).length, 1)
})

t.test('a call that the database does not take is written later', async (t) => {
  const { database, read } = await openLedger(t, [0n], new ManualClock(MONDAY))
  const errors: unknown[] = []
  let isDown = true
  const flaky = new Proxy(database, {
    get(target, name) {
      if (name === 'query' && isDown)
        return () => {
          isDown = false
          return Promise.reject(new Error('The database is down.'))
        }
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const log = new CallLog({ database: flaky, ids, onError: (error) => errors.push(error) })
  log.record(call())
  await log.flush()
  t.equal(errors.length, 1)
  await log.flush()
  t.equal((await read('select from provider_call')).length, 1)
})
