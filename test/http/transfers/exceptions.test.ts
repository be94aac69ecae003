/** Transfers of which nobody knows what became, and those that wait for the bank. */
import t from 'tap'

import type { Exception } from '../../../lib/compliance/exception-schema.ts'
import type { Transfer } from '../../../lib/transfers/transfer-schema.ts'
import { createWorld, transferBody } from '../../support/world.ts'
import { apart, becomes, eur, events } from './support.ts'

t.test('what the bank does not answer is an exception until it does', async (t) => {
  await using world = await createWorld()
  const { client, from, to } = await apart(world)
  const made = (await client.createTransfer(transferBody(from, to, 1_501))).body
  await becomes(client, made.id, 'exception')
  t.match(await client.balance(from), { bookBalance: eur(50_000), heldBalance: eur(1_501) }, 'the hold stays')
  t.match(await world.query('select kind, status, subject_type from exception_case where subject_id = $1', [made.id]), [
    { kind: 'provider_timeout', status: 'open', subject_type: 'transfer' },
  ])
  await world.restart()
  t.equal((await client.get<Transfer>(`/transfers/${made.id}`)).body.status, 'exception', 'still, after a restart')
  world.advance(61_000)
  await becomes(client, made.id, 'completed')
  t.match(await client.balance(to), { bookBalance: eur(21_501) })
  t.strictSame(await events(world, made.id), [
    'transfer.status_changed processing exception',
    'transfer.status_changed exception completed',
    'transfer.completed exception completed',
  ])
  t.match(await world.query('select status, outcome from exception_case where subject_id = $1', [made.id]), [
    { status: 'resolved', outcome: 'completed' },
  ])
  t.strictSame(
    await world.query('select reference from sandbox_transfer where reference = $1', [made.id]),
    [{ reference: made.id }],
    'it was told once',
  )
})

t.test('staff resolve what the bank does not speak of', async (t) => {
  await using world = await createWorld()
  const { client, from, to } = await apart(world)
  const made = (await client.createTransfer(transferBody(from, to, 1_501))).body
  await becomes(client, made.id, 'exception')
  const [first, second] = [
    await world.person('operations').signIn(),
    await world.person('operator_admin').signIn(),
  ] as const
  const [found] = (await first.get<{ data: Exception[] }>('/exceptions')).body.data
  t.match(found, { kind: 'provider_timeout', related: { object: 'transfer', id: made.id }, amount: eur(1_501) })
  const path = `/exceptions/${found!.id}/resolve`
  const body = { outcome: 'failed', evidence: 'The statement of the bank shows nothing.' }
  t.equal((await first.post(path, body)).status, 202, 'two people have to say so')
  t.match((await second.post<Exception>(path, body)).body, { status: 'resolved', outcome: 'failed' })
  t.match(await becomes(client, made.id, 'failed'), { failure: { code: 'technical_error' } })
  t.match(await client.balance(from), { bookBalance: eur(50_000), heldBalance: eur(0) })
  world.advance(61_000)
  await world.pollOnce()
  t.equal(
    (await client.get<Transfer>(`/transfers/${made.id}`)).body.status,
    'failed',
    'what the bank says later changes nothing',
  )
})

t.test('cash that no bank moves at our word is moved by staff', async (t) => {
  await using world = await createWorld()
  const { client, from, to, connection } = await apart(world)
  await world.query(`update provider_connection set provider = 'no_such_adapter' where id = $1`, [connection])
  const made = (await client.createTransfer(transferBody(to, from, 900))).body
  await becomes(client, made.id, 'exception')
  const [first, second] = [
    await world.person('operations').signIn(),
    await world.person('operator_admin').signIn(),
  ] as const
  const [found] = (await first.get<{ data: Exception[] }>('/exceptions')).body.data
  t.match(found, { kind: 'provider_state_unknown', related: { object: 'transfer', id: made.id } })
  const body = { outcome: 'completed', evidence: 'Sent by the two banks’ own channels.' }
  t.equal((await first.post(`/exceptions/${found!.id}/resolve`, body)).status, 202, 'two people have to say so')
  t.match((await second.post<Exception>(`/exceptions/${found!.id}/resolve`, body)).body, { outcome: 'completed' })
  await becomes(client, made.id, 'completed')
  t.strictSame(await world.query('select rule from posting where source_id = $1 order by rule', [made.id]), [
    { rule: 'L20' },
    { rule: 'L21' },
  ])
  await world.audit()
})

t.test('while the bank is not reached, transfers wait', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, from, to } = await apart(world)
  const made = (await client.createTransfer(transferBody(from, to, 700))).body
  t.equal(made.status, 'processing')
  await world.restart({ dispatch: true })
  await becomes(client, made.id, 'completed')
})
