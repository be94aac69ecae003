/** Ties of connections, which keep them from being retired or deleted, with the reasons in the refusal. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Problem } from '../../../lib/base/problems.ts'
import type { ProviderConnectionView } from '../../../lib/providers/connection-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, transferBody } from '../../support/world.ts'
import { money, pay, rowReaching, shut } from '../incoming-payments/support.ts'

const PATH = '/provider-connections'
const DAY_MS = 86_400_000

interface Reason {
  readonly tie: string
  readonly count?: number
  readonly account?: string
}

/** The reasons of a refusal, as `tie count` or `tie account`. */
const reasonsOf = ({ problem }: { readonly problem: unknown }): readonly string[] =>
  (problem as Problem['extra'] & { readonly reasons: readonly Reason[] }).reasons.map(
    ({ tie, count, account }) => `${tie} ${account ?? count}`,
  )

t.test('a connection goes when nothing is left of it', async (t) => {
  await using world = await createWorld()
  const admin = await world.person('operator_admin').signIn()
  const proven = async (path: string, body?: object) => {
    await admin.stepUp('provider_connection.change')
    return await admin.post<ProviderConnectionView>(path, body)
  }
  const [{ id: firstId }] = (await admin.get<{ data: [ProviderConnectionView] }>(PATH)).body.data

  await t.test('one that was never active is deleted when nothing names it', async (t) => {
    const { id } = (await proven(PATH, { provider: 'sandbox', name: 'Not used' })).body
    const rule = await admin.post<{ id: string }>('/routing-rules', { priority: 1, connectionId: id, enabled: false })
    t.equal(rule.status, 201, rule.text)
    await world.query(
      `insert into provider_inbox (id, connection_id, operator_id, shard, source, partner_event_id, type, hash, body, verified_by, status, received_at, processed_at)
       select gen_random_uuid(), id, operator_id, 0, 'webhook', 'e1', 'settled', '\\x01', '\\x00', 'signature', 'failed', now(), now() from provider_connection where id = $1`,
      [id],
    )
    await world.query(`update provider_connection set webhook_registration = 'registered' where id = $1`, [id])
    const remove = async () => await admin.send('DELETE', `${PATH}/${id}`, undefined, { 'if-match': '*' })
    const refused = await remove()
    t.match(refused.problem, { status: 409, code: 'invalid-transition', currentStatus: 'draft' })
    t.match(refused.problem.detail, /1 routing rules name it, webhooks still come/)
    t.strictSame(reasonsOf(refused), ['events 1', 'rules 1', 'webhooks 1'])
    t.strictSame(reasonsOf(await proven(`${PATH}/${id}/retire`)), ['events 1', 'rules 1', 'webhooks 1'])
    t.equal((await admin.get<ProviderConnectionView>(`${PATH}/${id}`)).body.status, 'draft', 'nothing changed')
    await admin.send('DELETE', `/routing-rules/${rule.body.id}`, undefined, { 'if-match': '*' })
    await world.query('delete from provider_inbox where connection_id = $1', [id])
    await world.query(`update provider_connection set webhook_registration = 'pending' where id = $1`, [id])
    t.equal((await remove()).status, 204)
  })

  await t.test('one that drains keeps money that waits, and what is held', async (t) => {
    const closed = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
    await shut(world, closed.balanceIds[0]!)
    const credit = await pay(closed.client, { balanceId: closed.balanceIds[0]!, amount: money(4_200) })
    await rowReaching(world, credit, 'status', 'unallocated')
    const held = await world.customer({
      balances: [
        { currency: 'EUR', amount: 9_000n },
        { currency: 'EUR', amount: 0n, name: 'Savings' },
      ],
    })
    const [from, to] = held.balanceIds as [string, string]
    const transfer = (await held.client.createTransfer({ ...transferBody(from, to, 500), reference: 'SBX:HOLD' })).body
    await until('the transfer is held', async () => {
      const { body } = await held.client.get<{ status: string }>(`/transfers/${transfer.id}`)
      return body.status === 'on_hold'
    })
    const collecting = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
    const mandate = await collecting.client.post<{ id: string }>('/mandates', {
      ...{ direction: 'collect', scheme: 'sepa_dd_core', reference: '', balanceId: collecting.balanceIds[0] },
      counterparty: { name: 'Jane Payer', iban: 'NL77SBOX0100000001' },
    })
    t.equal(mandate.status, 201, mandate.text)
    const collection = await collecting.client.post('/collections', {
      ...{ mandateId: mandate.body.id, amount: money(2_500), reference: 'Fee' },
      dueDate: new Date(world.now() + 30 * DAY_MS).toISOString().slice(0, 10),
    })
    t.equal(collection.status, 201, collection.text)
    await world.query(
      `insert into collection_file (id, operator_id, connection_id, kind, scheme, currency, creditor_id, creditor_name, settlement_date, format, message_id, status, created_at)
       select gen_random_uuid(), operator_id, id, 'collections', 'sepa_dd_core', 'EUR', 'C', 'C', '2026-12-01', 'pain.008', 'M1', 'gathering', now() from provider_connection where id = $1`,
      [firstId],
    )
    const secondId = (await proven(PATH, { provider: 'sandbox', name: 'Next bank' })).body.id
    await admin.post(`${PATH}/${secondId}/verify`)
    t.equal((await proven(`${PATH}/${secondId}/activate`)).status, 200)
    const second = await world.person('integration').signIn()
    await admin.post(`${PATH}/${firstId}/migrate`, {})
    await second.post(`${PATH}/${firstId}/migrate`, {})
    await until('the other balances have moved', async () => {
      const left = await world.query<{ id: string }>(
        `select id from balance where connection_id = $1 and status <> 'closed' order by id`,
        [firstId],
      )
      return left.length === 2 && [from, to].every((id) => left.some((row) => row.id === id))
    })
    const file = randomUUID()
    await world.query(
      `insert into provider_file (id, connection_id, operator_id, direction, gathers, status, name, shard, due_at, created_at)
       select $1, id, operator_id, 'out', 'sepa EUR', 'gathering', 'orders', 0, now() + interval '1 day', now() from provider_connection where id = $2`,
      [file, firstId],
    )
    const refused = await proven(`${PATH}/${firstId}/retire`)
    t.match(refused.problem, { status: 409, code: 'invalid-transition', inFlight: 0, balances: 2 })
    t.strictSame(reasonsOf(refused), [
      'waitingCredits 1',
      'debits 1',
      'mandates 1',
      'holds 1',
      'balances 2',
      'files 2',
      'ledger nostro',
      'ledger unallocated',
    ])
    await world.audit()
  })
})
