/** One person cannot switch the approval of a second person off: a change is compared with what is in effect. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { ApprovalPolicy } from '../../../lib/approvals/approval-policy-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { PolicyKind } from '../../../lib/approvals/policy.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { addMember, decide, policyPath, putPolicy, setPolicy, tier } from './people.ts'

const SELF = { tiers: [tier(1, 0, null, { allowSelfApproval: true })] }

t.test('self-approval of policy changes is asked for, not taken', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const { client, balances, recipients } = world.seeded
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 1_000, null)] })
  await owner.stepUp('settings.change')
  const asked = await putPolicy(owner, 'policy_change', SELF)
  t.equal(asked.status, 202, asked.text)
  t.match((await decide(owner, asked.body.pendingChange!.approvalId, { decision: 'approved' })).problem, {
    status: 403,
    code: 'insufficient-scope',
  })
  const off = await putPolicy(owner, 'payment', { enabled: false })
  t.equal(off.status, 202, off.text)
  t.match((await decide(owner, off.body.pendingChange!.approvalId, { decision: 'approved' })).problem, {
    status: 403,
    code: 'insufficient-scope',
  })
  const paid = (await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 5_000, 'EUR'))).body as Payment
  t.equal(paid.status, 'pending_approval')
  t.match((await owner.get<ApprovalPolicy>(policyPath(owner, 'policy_change'))).body, { version: 0, enabled: false })
})

t.test(
  'a person who asked for a change of a policy never decides on it, whatever the policy for changes says',
  async (t) => {
    await using world = await createWorld()
    const owner = await world.person('owner').signIn()
    const admin = await addMember(world, 'admin')
    await setPolicy(t, owner, 'payment', { tiers: [tier(1, 1_000, null)] })
    await owner.stepUp('settings.change')
    const self = await putPolicy(owner, 'policy_change', SELF)
    t.match((await decide(admin, self.body.pendingChange!.approvalId, { decision: 'approved' })).body, {
      status: 'approved',
    })
    const off = await putPolicy(owner, 'payment', { enabled: false })
    t.equal(off.status, 202, off.text)
    const { approvalId } = off.body.pendingChange!
    t.match((await owner.get<Approval>(`/approvals/${approvalId}`)).body, {
      canDecide: false,
      policy: { kind: 'policy_change', tier: { allowSelfApproval: false } },
    })
    t.match((await decide(owner, approvalId, { decision: 'approved' })).problem, {
      status: 403,
      code: 'insufficient-scope',
    })
    t.match((await decide(admin, approvalId, { decision: 'approved' })).body, { status: 'approved' })
  },
)

t.test('what waits under the payment policy cannot be let through by a policy of its own', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 1_000, null)] })
  await owner.stepUp('settings.change')
  const changes: readonly (readonly [PolicyKind, Parameters<typeof putPolicy>[2]])[] = [
    ['exchange', { enabled: false }],
    ['exchange', SELF],
    ['exchange', { tiers: [tier(1, 2_000, null)] }],
    ['bulk_payment', { enabled: false }],
    ['bulk_payment', SELF],
    ['bulk_payment', { tiers: [tier(1, 0, null, { expiresAfterHours: 720 })] }],
  ]
  for (const [kind, change] of changes) {
    const asked = await putPolicy(owner, kind, change)
    t.equal(asked.status, 202, `${kind} ${JSON.stringify(change)}: ${asked.text}`)
    t.match(asked.body, { version: 0 }, 'nothing was set')
  }
  t.equal(
    (await putPolicy(owner, 'exchange', { tiers: [tier(1, 500, null)] })).status,
    200,
    'a stricter one is set at once',
  )
  const { balances } = world.seeded
  const quote = await owner.post<{ id: string }>('/exchanges/quotes', {
    sellCurrency: 'EUR',
    buyCurrency: 'USD',
    fixedSide: 'sell',
    amount: { amountMinor: '600', currency: 'EUR' },
  })
  const exchange = await owner.post<{ status: string }>(
    '/exchanges',
    { quoteId: quote.body.id, sellBalanceId: balances.EUR },
    { 'idempotency-key': randomUUID() },
  )
  t.equal(exchange.body.status, 'pending_approval', `${quote.text} ${exchange.text}`)
})

t.test("a customer's policy for recipients does not take the operator's review away", async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  await world.query(`update operator set recipient_approval_mode = 'operator_queue', version = version + 1`)
  await owner.stepUp('settings.change')
  const asked = await putPolicy(owner, 'recipient', { enabled: false, recipientMode: 'none' })
  t.equal(asked.status, 202, asked.text)
  t.equal((await putPolicy(owner, 'recipient', { enabled: false })).status, 202, 'a mode that is left out is none')
  t.equal(
    (await putPolicy(owner, 'recipient', { enabled: false, recipientMode: 'customer_tier' })).status,
    202,
    'review by their own people in its place',
  )
  const { approvalId } = (await putPolicy(owner, 'recipient', { enabled: false, recipientMode: 'none' })).body
    .pendingChange!
  t.match((await decide(approver, approvalId, { decision: 'approved' })).body, { status: 'approved' })
  t.match((await owner.get<ApprovalPolicy>(policyPath(owner, 'recipient'))).body, {
    version: 1,
    recipientMode: 'none',
    pendingChange: null,
  })
})
