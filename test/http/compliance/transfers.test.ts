/** Transfers under review: held before the partner is told, let go on or stopped by staff. */
import t from 'tap'
import type { ComplianceHoldDetail } from '../../../lib/compliance/compliance-hold-schema.ts'
import type { Transfer } from '../../../lib/transfers/transfer-schema.ts'
import type { Client } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { createWorld, transferBody } from '../../support/world.ts'
import { eur, eventsOf, exceptionOf, holdOf, setFourEyes, updatesOf } from './staff.ts'

const BALANCES = {
  balances: [
    { currency: 'EUR' as const, amount: 50_000n },
    { currency: 'EUR' as const, amount: 0n, name: 'Savings' },
  ],
}

const reaching = (client: Client, id: string, status: Transfer['status']) =>
  until(`transfer ${id} is ${status}`, async () => {
    const { body } = await client.get<Transfer>(`/transfers/${id}`)
    return body.status === status && body
  })

t.test('a transfer in which something is found waits for people, and is done when they let it go on', async (t) => {
  await using world = await createWorld()
  const { client, balanceIds } = await world.customer(BALANCES)
  const [from, to] = balanceIds as [string, string]
  const made = (await client.createTransfer({ ...transferBody(from, to, 5_000), reference: 'SBX:HOLD' })).body
  t.equal(made.status, 'processing', 'it does not happen at once')
  await reaching(client, made.id, 'on_hold')
  const holds = await client.holds(from)
  t.match(holds, [{ subjectType: 'payment_review', description: 'Payment under review', amount: eur(5_000) }])
  t.equal(holds[0]!.subjectId, holds[0]!.id)
  t.match(await client.balance(from), { bookBalance: eur(50_000), availableBalance: eur(45_000) })
  t.match(await client.balance(to), { bookBalance: eur(0) })
  t.strictSame(await updatesOf(world, made.id), [
    'processing: Transfer handed to the bank.',
    'on_hold: Transfer under review.',
  ])
  const first = await world.person('compliance').signIn()
  const second = await world.person('operator_admin').signIn()
  const hold = await holdOf(first, made.id)
  t.match(hold, {
    related: { object: 'transfer', id: made.id },
    amount: eur(5_000),
    counterpartyName: null,
    kind: 'outbound_screening',
  })
  t.match(await exceptionOf(second, made.id), {
    kind: 'compliance_hold',
    status: 'open',
    related: { object: 'transfer' },
  })
  await world.audit()
  t.equal((await first.post(`/compliance-holds/${hold.id}/release`, { reason: 'Own money.' })).status, 202)
  t.equal((await second.post(`/compliance-holds/${hold.id}/release`, { reason: 'Own money, yes.' })).status, 200)
  await reaching(client, made.id, 'completed')
  t.match(await client.balance(to), { bookBalance: eur(5_000) })
  t.match(await client.balance(from), { bookBalance: eur(45_000), heldBalance: eur(0) })
  t.strictSame(await eventsOf(world, made.id), [
    'transfer.status_changed processing on_hold',
    'transfer.status_changed on_hold processing',
    'transfer.status_changed processing completed',
    'transfer.completed processing completed',
  ])
  t.match(await exceptionOf(second, made.id), { status: 'resolved', outcome: 'released' })
})

t.test('blocked, a transfer has failed, and its money is free or frozen', async (t) => {
  await using world = await createWorld()
  await setFourEyes(world, false)
  const { client, balanceIds } = await world.customer(BALANCES)
  const [from, to] = balanceIds as [string, string]
  const staff = await world.person('compliance').signIn()
  for (const [amount, freezeFunds] of [
    [3_000, false],
    [4_000, true],
  ] as const) {
    const made = (await client.createTransfer({ ...transferBody(from, to, amount), reference: 'SBX:HOLD' })).body
    await reaching(client, made.id, 'on_hold')
    const { id } = await holdOf(staff, made.id)
    t.match(
      (await staff.post<ComplianceHoldDetail>(`/compliance-holds/${id}/block`, { reason: 'No.', freezeFunds })).body,
      { status: 'blocked' },
    )
    const failed = await client.get<Transfer>(`/transfers/${made.id}`)
    t.match(failed.body, { status: 'failed', failure: { code: 'declined', scheme: null } })
    t.notMatch(failed.text.replaceAll('SBX:HOLD', ''), /complian|screen|sanction|legal/i)
    t.strictSame(await eventsOf(world, made.id), [
      'transfer.status_changed processing on_hold',
      'transfer.status_changed on_hold failed',
    ])
  }
  t.match(await client.balance(from), { bookBalance: eur(50_000), heldBalance: eur(4_000) })
  t.match(await client.holds(from), [{ subjectType: 'payment_review', amount: eur(4_000) }])
})

t.test('the sandbox lets one go on by itself, and an ordinary one happens at once', async (t) => {
  await using world = await createWorld()
  const { client, balanceIds } = await world.customer(BALANCES)
  const [from, to] = balanceIds as [string, string]
  t.equal((await client.createTransfer(transferBody(from, to, 100))).body.status, 'completed')
  const made = (await client.createTransfer({ ...transferBody(from, to, 5_000), reference: 'SBX:HOLD-RELEASE' })).body
  await reaching(client, made.id, 'on_hold')
  world.advance(31_000)
  t.match(await reaching(client, made.id, 'completed'), { completedAt: String })
})
