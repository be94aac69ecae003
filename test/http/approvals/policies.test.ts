/** Approval policies over HTTP: who may set them, what is immediate, what waits, and what an open approval keeps. */
import t from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { ApprovalPolicy } from '../../../lib/approvals/approval-policy-schema.ts'
import type { Payment, PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import { DEFAULT_TIER, NO_POLICY } from '../../../lib/approvals/policy.ts'
import type { PageBody } from '../../support/client.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { addMember, decide, policyPath, putPolicy, setPolicy, tier } from './people.ts'

async function pay(world: World, minor: number, currency: 'EUR' | 'GBP' = 'EUR'): Promise<Payment> {
  const { client, balances, recipients } = world.seeded
  return (await client.createPayment(paymentBody(balances[currency], recipients[currency], minor, currency))).body
}

t.test('a policy that was never set is there all the same', async (t) => {
  await using world = await createWorld()
  const preparer = await world.person('preparer').signIn()
  const { data } = (
    await preparer.get<PageBody<ApprovalPolicy>>(`/customers/${preparer.tenantId}/settings/approval-policies`)
  ).body
  t.strictSame(
    data.map(({ kind, enabled, version }) => [kind, enabled, version]),
    ['payment', 'bulk_payment', 'exchange', 'recipient', 'policy_change'].map((kind) => [kind, false, 0]),
  )
  const one = await preparer.get<ApprovalPolicy>(policyPath(preparer, 'payment'))
  t.strictSame(one.body, data[0])
  t.equal(
    (await preparer.get(policyPath(preparer, 'payment'), { 'if-none-match': one.headers.get('etag')! })).status,
    304,
  )
  t.match((await preparer.get(policyPath(preparer, 'nonsense' as 'payment'))).problem, {
    status: 400,
    errors: [{ field: 'path.kind', code: 'invalid_value' }],
  })
  t.equal(
    (await preparer.get(`/customers/${world.operator.tenantId}/settings/approval-policies`)).problem.code,
    'not-found',
    "another customer's are not there",
  )
  t.match((await putPolicy(preparer, 'payment', {})).problem, { status: 403, requiredCapability: 'settings.manage' })
  t.equal(
    (await world.seeded.client.get(policyPath(preparer, 'payment'))).problem.code,
    'insufficient-scope',
    'settings are not for keys',
  )
})

t.test('what is wrong with a policy is said by name', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  t.equal((await putPolicy(owner, 'payment', { tiers: [tier(1, 0, null)] })).problem.code, 'step-up-required')
  await owner.stepUp('settings.change')
  t.equal((await owner.send('PUT', policyPath(owner, 'payment'), {})).problem.code, 'precondition-required')
  for (const [name, policy, field, code] of [
    ['enabled without a tier', { tiers: [] }, '/tiers', 'required'],
    ['another currency', { currency: 'GBP', tiers: [tier(1, 0, null)] }, '/tiers', 'currency_mismatch'],
    ['no currency at all', { currency: 'XXX', enabled: false }, '/currency', 'invalid_value'],
    ['tiers out of order', { tiers: [tier(2, 0, null)] }, '/tiers/0/tier', 'invalid_value'],
    ['tiers that overlap', { tiers: [tier(1, 0, 100), tier(2, 50, null)] }, '/tiers/1/minAmount', 'invalid_value'],
    [
      'a tier after one without end',
      { tiers: [tier(1, 0, null), tier(2, 50, null)] },
      '/tiers/1/minAmount',
      'invalid_value',
    ],
    ['an empty tier', { tiers: [tier(1, 100, 100)] }, '/tiers/0/maxAmount', 'invalid_value'],
    [
      'more approvals than people',
      { tiers: [tier(1, 0, null, { requiredApprovals: 2, approverUserIds: [owner.tenantId] })] },
      '/tiers/0/approverUserIds',
      'invalid_value',
    ],
    [
      'six approvals',
      { tiers: [tier(1, 0, null, { requiredApprovals: 6 })] },
      '/tiers/0/requiredApprovals',
      'too_large',
    ],
    ['a negative amount', { tiers: [tier(1, -1, null)] }, '/tiers/0/minAmount/amountMinor', 'invalid_format'],
    [
      'a role that nobody has',
      { tiers: [{ ...tier(1, 0, null), approverRoles: ['king' as 'owner'] }] },
      '/tiers/0/approverRoles/0',
      'invalid_value',
    ],
    [
      'a mode for payments',
      { tiers: [tier(1, 0, null)], recipientMode: 'customer_tier' as const },
      '/recipientMode',
      'not_applicable',
    ],
  ] as const) {
    const reply = await putPolicy(owner, 'payment', policy as Parameters<typeof putPolicy>[2])
    t.match(
      reply.problem,
      { status: 422, code: 'validation-error', errors: [{ field, code }] },
      `${name}: ${reply.text}`,
    )
  }
  t.match(
    (await owner.get<ApprovalPolicy>(policyPath(owner, 'payment'))).body,
    { version: 0, enabled: false },
    'nothing was set',
  )
})

t.test('tightening is immediate, on balances that were at work before as well', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  t.equal((await pay(world, 5_000)).status, 'processing')
  const policy = await setPolicy(t, owner, 'payment', { tiers: [tier(1, 10_000, null)] })
  t.match(policy, { version: 1, enabled: true, pendingChange: null, updatedBy: String })
  t.equal((await pay(world, 5_000)).status, 'processing')
  const stale = (await owner.get(policyPath(owner, 'payment'))).headers.get('etag')!
  await setPolicy(t, owner, 'payment', {
    tiers: [tier(1, 1_000, 6_000), tier(2, 6_000, null, { requiredApprovals: 2 })],
  })
  t.match((await putPolicy(owner, 'payment', { tiers: [tier(1, 0, null)] }, stale)).problem, {
    status: 412,
    code: 'precondition-failed',
  })
  const [small, large] = [await pay(world, 5_000), await pay(world, 6_000)]
  const read = async (payment: Payment) => (await owner.get<Approval>(`/approvals/${payment.approvalId}`)).body
  t.match(await read(small), { tier: 1, requiredApprovals: 1, policy: { issues: [] } })
  t.match(await read(large), { tier: 2, requiredApprovals: 2 })
  await setPolicy(t, owner, 'payment', {
    tiers: [tier(1, 1_000, 6_000, { requiredApprovals: 3 }), tier(2, 6_000, null, { requiredApprovals: 3 })],
  })
  t.match(
    await read(small),
    {
      requiredApprovals: 1,
      policy: { source: 'snapshot', tier: { requiredApprovals: 1 }, issues: [{ code: 'policy_changed' }] },
    },
    'an open approval keeps its tier',
  )
  const decided = await decide(await world.person('approver').signIn(), small.approvalId!, { decision: 'approved' })
  t.equal(decided.body.status, 'approved')
  const [event] = (
    await owner.get<PageBody<{ action: string; after: { version?: number; enabled: boolean } }>>(
      '/audit-events?filter[objectType]=approval_policy',
    )
  ).body.data
  t.match(event, { action: 'approval_policy.updated', after: { kind: 'payment', enabled: true } })
})

t.test('a payment in another currency takes the tier of what it is worth', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  const read = async (payment: Payment) => (await owner.get<Approval>(`/approvals/${payment.approvalId}`)).body
  const check = async (minor: number) =>
    (await client.post<PaymentCheck>('/payments/validate', paymentBody(balances.GBP, recipients.GBP, minor, 'GBP')))
      .body.approval
  await setPolicy(t, owner, 'payment', {
    tiers: [tier(1, 10_000, 20_000), tier(2, 20_000, null, { requiredApprovals: 2 })],
  })
  // 86 pence are a euro.
  t.equal((await pay(world, 8_599, 'GBP')).status, 'processing', 'a hundred euro less a cent')
  t.match(await read(await pay(world, 8_600, 'GBP')), { tier: 1, requiredApprovals: 1, policy: { issues: [] } })
  t.match(await read(await pay(world, 17_200, 'GBP')), { tier: 2, requiredApprovals: 2, policy: { issues: [] } })
  t.match(
    [await check(8_599), await check(8_600), await check(17_200)],
    [{ required: false }, { required: true, tier: 1 }, { required: true, tier: 2, requiredApprovals: 2 }],
    'validation says the same',
  )
  const shift = { sellCurrency: 'GBP', buyCurrency: 'EUR', shiftBps: 1_000 }
  t.equal((await client.post('/simulations/fx-rates', shift)).status, 202)
  t.match(await read(await pay(world, 8_599, 'GBP')), { tier: 1 }, 'at the rate that holds now')
  // No market quotes the lev.
  const lev = (number: number, from: number, to: number | null) => ({
    ...tier(number, from, to),
    minAmount: { amountMinor: String(from), currency: 'BGN' },
    maxAmount: to === null ? null : { amountMinor: String(to), currency: 'BGN' },
  })
  await world.query(`update approval_policy set terms = $1`, [
    JSON.stringify({
      ...NO_POLICY,
      enabled: true,
      currency: 'BGN',
      tiers: [lev(1, 0, 50), lev(2, 50, null)].map((one) => ({ ...DEFAULT_TIER, ...one })),
    }),
  ])
  await world.restart()
  t.match(
    await read(await pay(world, 1, 'GBP')),
    { tier: 2, policy: { issues: [{ code: 'rate_unavailable' }] } },
    'what cannot be measured takes the highest tier',
  )
})

t.test('loosening waits for somebody else, and for nobody when it is withdrawn', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 1_000, null, { requiredApprovals: 2 })] })
  await owner.stepUp('settings.change')
  const asked = await putPolicy(owner, 'payment', { tiers: [tier(1, 5_000, null, { requiredApprovals: 2 })] })
  t.equal(asked.status, 202, asked.text)
  const { pendingChange } = asked.body
  t.equal(asked.headers.get('location'), `/v1/approvals/${pendingChange!.approvalId}`)
  t.match(asked.body, {
    version: 1,
    tiers: [{ minAmount: { amountMinor: '1000' } }],
    pendingChange: { tiers: [{ minAmount: { amountMinor: '5000' } }] },
  })
  t.equal((await pay(world, 2_000)).status, 'pending_approval', 'nothing is looser yet')
  const approval = (await owner.get<Approval>(`/approvals/${pendingChange!.approvalId}`)).body
  t.match(approval, {
    subjectType: 'approval_policy_change',
    subjectId: asked.body.id,
    canDecide: false,
    requiredApprovals: 1,
    subjectSummary: { title: 'Approval policy for payments', amount: null },
    policy: { kind: null, source: 'default', issues: [] },
  })
  t.match((await decide(owner, approval.id, { decision: 'approved' })).problem, { status: 403 })
  t.match((await decide(approver, approval.id, { decision: 'approved' })).body, { status: 'approved' })
  t.match((await owner.get<ApprovalPolicy>(policyPath(owner, 'payment'))).body, {
    version: 2,
    tiers: [{ minAmount: { amountMinor: '5000' } }],
    pendingChange: null,
  })
  t.equal((await pay(world, 2_000)).status, 'processing', 'now it is')

  await owner.stepUp('settings.change')
  const off = await putPolicy(owner, 'payment', { enabled: false })
  t.equal(off.status, 202, 'switching off is loosening')
  t.match(
    (await decide(approver, off.body.pendingChange!.approvalId, { decision: 'rejected', comment: 'Stays on.' })).body,
    { status: 'rejected' },
  )
  t.match((await owner.get<ApprovalPolicy>(policyPath(owner, 'payment'))).body, {
    version: 2,
    enabled: true,
    pendingChange: null,
  })
  const again = await putPolicy(owner, 'payment', { enabled: false })
  t.equal(again.status, 202)
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 100, null, { requiredApprovals: 2 })] })
  t.match(
    (await owner.get<Approval>(`/approvals/${again.body.pendingChange!.approvalId}`)).body,
    { status: 'cancelled' },
    'a change that was asked for on other terms is withdrawn',
  )

  const looser: readonly (readonly [string, Parameters<typeof putPolicy>[2]])[] = [
    ['fewer approvals', { tiers: [tier(1, 100, null)] }],
    ['self-approval', { tiers: [tier(1, 100, null, { requiredApprovals: 2, allowSelfApproval: true })] }],
    ['an end', { tiers: [tier(1, 100, 1_000_000, { requiredApprovals: 2 })] }],
    [
      'fewer balances',
      { tiers: [tier(1, 100, null, { requiredApprovals: 2 })], appliesTo: { balanceIds: [world.seeded.balances.EUR] } },
    ],
  ]
  for (const [name, change] of looser) t.equal((await putPolicy(owner, 'payment', change)).status, 202, name)
})

t.test('the policy for changes says who may approve them', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const admin = await addMember(world, 'admin')
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 1_000, null)] })
  await setPolicy(t, owner, 'policy_change', { tiers: [tier(1, 0, null, { approverRoles: ['admin'] })] })
  await owner.stepUp('settings.change')
  const id = (await putPolicy(owner, 'payment', { enabled: false })).body.pendingChange!.approvalId
  t.match((await owner.get<Approval>(`/approvals/${id}`)).body, {
    policy: { kind: 'policy_change', source: 'snapshot' },
  })
  t.match((await decide(await world.person('approver').signIn(), id, { decision: 'approved' })).problem, {
    status: 403,
    code: 'insufficient-scope',
  })
  t.match((await decide(admin, id, { decision: 'approved' })).body, { status: 'approved' })
  t.equal((await pay(world, 2_000)).status, 'processing')
})

t.test('what stands in the way of an approval is told', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const issues = async (payment: Payment) =>
    (await owner.get<Approval>(`/approvals/${payment.approvalId}`)).body.policy.issues.map(({ code }) => code)
  const approverId = (
    await world.query<{ id: string }>(`select id from platform_user where email_key = 'approver@example.com'`)
  )[0]!.id
  await setPolicy(t, owner, 'payment', {
    tiers: [
      tier(1, 0, null, { requiredApprovals: 3, approverUserIds: [approverId], approverRoles: ['owner', 'approver'] }),
    ],
  })
  const payment = await pay(world, 2_000)
  t.strictSame(await issues(payment), ['not_enough_approvers'])
  await world.query(`update membership set status = 'suspended' where user_id = $1`, [approverId])
  t.strictSame(await issues(payment), ['not_enough_approvers', 'approver_suspended'])
  await world.query(
    `update approval set tier = jsonb_set(tier, '{approverRoles}', '["owner"]'), requested_by = (select id from platform_user where email_key = 'owner@example.com') where id = $1`,
    [payment.approvalId],
  )
  t.strictSame(await issues(payment), ['requester_only_approver', 'approver_suspended', 'policy_changed'])
  const suspended = await world.person('approver').signIn()
  t.equal((await suspended.get('/approvals')).problem.code, 'tenant-forbidden', 'who is suspended has no part in it')
})
