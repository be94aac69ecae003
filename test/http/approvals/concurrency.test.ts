/** Many decide at once, on one node and on two: the row decides who was in time, and what is approved happens once. */
import t from 'tap'
import type { Test } from 'tap'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import { checkOneKey } from '../../support/one-key.ts'
import type { Person } from '../../support/person.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { addMember, atNode, setPolicy, tier } from './people.ts'

const PEOPLE = 10
const SETTINGS = { SECRETS_KEY: 'a secret that both nodes share, long enough' }

/** Ten approvers who have proven themselves for an approval decide at the same moment. */
async function allDecide(
  approvers: readonly Person[],
  approvalId: string,
  nodes: readonly World[],
  decisions: (nth: number) => object,
) {
  for (const approver of approvers) await approver.stepUp('approval.decide', { type: 'approval', id: approvalId })
  return await Promise.all(
    approvers.map((approver, nth) =>
      atNode(approver, nodes[nth % nodes.length]!).post<Approval>(`/approvals/${approvalId}/decisions`, decisions(nth)),
    ),
  )
}

async function scenario(t: Test, world: World, nodes: readonly World[]): Promise<void> {
  const { client, balances, recipients } = world.seeded
  await setPolicy(t, await world.person('owner').signIn(), 'payment', {
    tiers: [tier(1, 0, null, { requiredApprovals: 2 })],
  })
  const approvers = await Promise.all(Array.from({ length: PEOPLE }, () => addMember(world, 'approver')))
  const rows = async (sql: string, id: string) => (await world.query<{ n: number }>(sql, [id]))[0]!.n
  const pay = async (): Promise<Payment> =>
    (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1_000))).body

  const payment = await pay()
  const replies = await allDecide(approvers, payment.approvalId!, nodes, () => ({ decision: 'approved' }))
  t.equal(replies.filter(({ status }) => status === 200).length, 2, 'two were needed, and two were in time')
  for (const reply of replies.filter(({ status }) => status !== 200))
    t.match(reply.problem, { status: 409, code: 'invalid-transition', currentStatus: 'approved' })
  t.match((await client.get<Approval>(`/approvals/${payment.approvalId}`)).body, { status: 'approved', received: 2 })
  await client.paymentReaching(payment.id, 'completed')
  t.equal(
    await rows(
      `select count(*)::int as n from posting where source_id = $1 and rule = 'L10' and ordinal = 0`,
      payment.id,
    ),
    1,
    'the bank was given it once',
  )
  t.equal(await rows('select count(*)::int as n from sandbox_order where reference = $1', payment.id), 1)
  t.equal(
    await rows(
      `select count(*)::int as n from outbox where object_id = $1 and type = 'approval.decided'`,
      payment.approvalId!,
    ),
    1,
  )
  t.equal(await rows('select count(*)::int as n from approval_decision where approval_id = $1', payment.approvalId!), 2)

  const disputed = await pay()
  const mixed = await allDecide(approvers, disputed.approvalId!, nodes, (nth) =>
    nth % 2 === 0 ? { decision: 'rejected', comment: 'No.' } : { decision: 'approved' },
  )
  const { body: ended } = await client.get<Approval>(`/approvals/${disputed.approvalId}`)
  t.ok(['approved', 'rejected'].includes(ended.status))
  t.equal(
    ended.decisions.length,
    mixed.filter(({ status }) => status === 200).length,
    'what was acknowledged is what is kept',
  )
  t.equal(ended.decisions.filter(({ decision }) => decision === 'rejected').length, ended.status === 'rejected' ? 1 : 0)

  const contested = await pay()
  const [first] = approvers
  await first!.stepUp('approval.decide', { type: 'approval', id: contested.approvalId! })
  const twice = await Promise.all(
    Array.from({ length: 6 }, (_, nth) =>
      atNode(first!, nodes[nth % nodes.length]!).post(`/approvals/${contested.approvalId}/decisions`, {
        decision: 'approved',
      }),
    ),
  )
  t.equal(twice.filter(({ status }) => status === 200).length, 1, 'a person has one word, however often they say it')
  t.match((await client.get<Approval>(`/approvals/${contested.approvalId}`)).body, { status: 'pending', received: 1 })
  const repeated = await pay()
  await first!.stepUp('approval.decide', { type: 'approval', id: repeated.approvalId! })
  let nth = 0
  const decideAt = (key: Readonly<Record<string, string>>, decision: string) =>
    atNode(first!, nodes[nth++ % nodes.length]!).post(`/approvals/${repeated.approvalId}/decisions`, { decision }, key)
  const decided = await checkOneKey(
    t,
    (key) => decideAt(key, 'approved'),
    (key) => decideAt(key, 'rejected'),
  )
  t.equal(decided.status, 200, decided.text)
  t.match((await client.get<Approval>(`/approvals/${repeated.approvalId}`)).body, { status: 'pending', received: 1 })

  const ends = await Promise.all([
    ...nodes.map((node) => client.with({ url: () => node.url }).post(`/payments/${contested.id}/cancel`, {})),
    ...(await Promise.all(
      approvers.slice(1).map(async (approver, nth) => {
        await approver.stepUp('approval.decide', { type: 'approval', id: contested.approvalId! })
        return atNode(approver, nodes[nth % nodes.length]!)
      }),
    ).then((ready) =>
      ready.map((approver) => approver.post(`/approvals/${contested.approvalId}/decisions`, { decision: 'approved' })),
    )),
  ])
  const { status } = await client.payment(contested.id)
  t.ok(status === 'cancelled' || status === 'processing' || status === 'completed', status)
  t.ok(ends.filter((reply) => reply.status === 200).length >= 1)
}

t.test('ten approvers at once, on one node', async (t) => {
  await using world = await createWorld()
  await scenario(t, world, [world])
})

t.test('ten approvers at once, on two nodes that know nothing of each other', async (t) => {
  await using world = await createWorld({ settings: SETTINGS })
  await using other = await createWorld({ settings: SETTINGS, databaseUrl: world.databaseUrl })
  await scenario(t, world, [world, other])
})
