/**
 * Approvals of payments, over HTTP: who is asked, who may decide, what becomes of the payment and its money, and when.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { checkOneKey } from '../../support/one-key.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { addMember, decide, putPolicy, setPolicy, tier } from './people.ts'

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })

/** A payment of the seeded customer, by key. */
async function pay(world: World, minor: number, reference = 'Invoice 42'): Promise<Payment> {
  return (
    await world.seeded.client.createPayment({
      ...paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, minor),
      reference,
    })
  ).body
}

const eventsOf = async (world: World, id: string) =>
  (
    await world.query<{ type: string; status: string; previous_status: string | null }>(
      'select type, status, previous_status from outbox where object_id = $1 order by created_at, id',
      [id],
    )
  ).map(({ type, status, previous_status }) => [type, previous_status, status].join(' '))

t.test('a payment in a tier waits with its hold, and goes on when it is approved', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 10_000, null)] })

  t.equal((await pay(world, 9_999)).status, 'processing', 'below the tier nobody is asked')
  const key = randomUUID()
  const body = paymentBody(balances.EUR, recipients.EUR, 10_000)
  const created = await client.createPayment(body, key)
  t.equal(created.status, 201)
  const payment = created.body
  t.match(payment, { status: 'pending_approval', approvalId: String, cancellable: true, approvedAt: null })
  t.notOk('processing' in payment, 'it stands in no queue')
  t.equal((await client.createPayment(body, key)).text, created.text, 'the same key is the same bytes')
  t.match(
    await client.holds(balances.EUR),
    [{ subjectType: 'payment', subjectId: payment.id, amount: eur(10_000) }],
    'the money is held',
  )
  t.strictSame(await eventsOf(world, payment.id), ['payment.created  pending_approval'])
  t.strictSame(await eventsOf(world, payment.approvalId!), ['approval.requested  pending'])

  const approver = await world.person('approver').signIn()
  const { body: approval } = await approver.get<Approval>(`/approvals/${payment.approvalId}`)
  t.match(approval, {
    id: payment.approvalId,
    subjectType: 'payment',
    subjectId: payment.id,
    status: 'pending',
    tier: 1,
    requiredApprovals: 1,
    received: 0,
    decisions: [],
    requestedBy: payment.createdBy,
    requestedByName: 'Sandbox key',
    canDecide: true,
    subjectSummary: {
      title: `Payment ${payment.number}`,
      amount: eur(10_000),
      recipientName: payment.recipient.name,
      sourceBalanceId: balances.EUR,
      sourceBalanceName: 'EUR account',
      rail: payment.rail,
      itemCount: null,
      recipientMaskedIdentifier: payment.recipient.maskedIdentifier,
    },
    policy: {
      kind: 'payment',
      source: 'snapshot',
      issues: [],
      tier: { tier: 1, requiredApprovals: 1, minAmount: eur(10_000), maxAmount: null },
    },
  })
  t.equal(
    Date.parse(approval.expiresAt!) - Date.parse(approval.createdAt),
    168 * 3_600_000,
    'a week unless the tier says otherwise',
  )

  const path = `/approvals/${payment.approvalId}/decisions`
  t.match((await approver.post(path, { decision: 'approved' })).problem, {
    status: 403,
    code: 'step-up-required',
    action: 'approval.decide',
  })
  await approver.stepUp('approval.decide')
  t.equal(
    (await approver.post(path, { decision: 'approved' })).problem.code,
    'step-up-required',
    'a proof that names no subject is not enough',
  )
  await approver.stepUp('approval.decide', { type: 'approval', id: randomUUID() }).then(
    () => t.fail('a subject that does not exist'),
    (error: Error) => t.match(error.message, /not_found/),
  )
  await approver.stepUp('approval.decide', { type: 'approval', id: payment.approvalId! })
  t.match((await approver.post(path, { decision: 'rejected' })).problem, {
    status: 422,
    errors: [{ field: '/comment', code: 'required' }],
  })
  t.match((await approver.post(path, { decision: 'approved', amount: eur(1) })).problem, {
    status: 409,
    code: 'approval-subject-changed',
    currentMaskedIdentifier: payment.recipient.maskedIdentifier,
  })
  t.match((await approver.post(path, { decision: 'approved', recipientMaskedIdentifier: 'NL00****9999' })).problem, {
    status: 409,
    code: 'approval-subject-changed',
  })
  t.equal((await client.post(path, { decision: 'approved' })).problem.code, 'insufficient-scope', 'keys never approve')

  const decided = await approver.post<Approval>(path, {
    decision: 'approved',
    amount: eur(10_000),
    recipientMaskedIdentifier: payment.recipient.maskedIdentifier,
  })
  t.equal(decided.status, 200, decided.text)
  t.match(decided.body, {
    status: 'approved',
    received: 1,
    canDecide: false,
    decisions: [{ userName: 'Sandbox Approver', decision: 'approved', comment: null, stepUpMethod: 'totp' }],
  })
  t.match(decided.headers.get('etag'), /^W\/"2-/)
  t.strictSame(await eventsOf(world, payment.approvalId!), [
    'approval.requested  pending',
    'approval.decided pending approved',
  ])
  const done = await client.paymentReaching(payment.id, 'completed')
  t.match(done, { approvedAt: String, approvalId: payment.approvalId, cancellable: false })
  t.strictSame(await eventsOf(world, payment.id), [
    'payment.created  pending_approval',
    'payment.status_changed pending_approval processing',
    'payment.status_changed processing completed',
    'payment.completed processing completed',
  ])
  t.equal((await client.createPayment(body, key)).text, created.text, 'the answer of the creation is what it was')

  t.match((await approver.post(path, { decision: 'approved' })).problem, {
    status: 409,
    code: 'invalid-transition',
    currentStatus: 'approved',
    allowed: ['pending'],
  })
  const [trail] = (
    await owner.get<PageBody<{ action: string; actor: { name: string } }>>(
      `/audit-events?filter[objectId]=${payment.approvalId}`,
    )
  ).body.data
  t.match(trail, { action: 'approval.approved', actor: { type: 'member', name: 'Sandbox Approver' } })
})

t.test('a rejection is enough, and gives the money back', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  await setPolicy(t, await world.person('owner').signIn(), 'payment', {
    tiers: [tier(1, 0, null, { requiredApprovals: 2 })],
  })
  const payment = await pay(world, 5_000)
  const approver = await world.person('approver').signIn()
  const reply = await decide(approver, payment.approvalId!, { decision: 'rejected', comment: 'Not this one.' })
  t.match(reply.body, {
    status: 'rejected',
    received: 0,
    decisions: [{ decision: 'rejected', comment: 'Not this one.' }],
  })
  t.match(await client.payment(payment.id), {
    status: 'rejected',
    statusReason: { code: 'rejected', message: 'Not this one.' },
    cancellable: false,
  })
  t.match(await client.balance(balances.EUR), { heldBalance: eur(0), availableBalance: eur(10_000_000) })
  t.strictSame(await eventsOf(world, payment.id), [
    'payment.created  pending_approval',
    'payment.status_changed pending_approval rejected',
  ])
  const read = (await client.get<Approval>(`/approvals/${payment.approvalId}`)).body
  t.notOk('comment' in read.decisions[0]!, 'comments are not for keys')
  t.match((await client.post(`/payments/${payment.id}/cancel`, {})).problem, {
    status: 409,
    code: 'not-cancellable',
    currentStatus: 'rejected',
  })
})

t.test('an approval that nobody decides expires with its payment', async (t) => {
  await using world = await createWorld()
  const { client, balances } = world.seeded
  await setPolicy(t, await world.person('owner').signIn(), 'payment', {
    tiers: [tier(1, 0, null, { expiresAfterHours: 48 })],
  })
  const payment = await pay(world, 5_000)
  const told = async (type: string) =>
    await world.query<{ user_id: string }>('select user_id from notification where type = $1 and object_id = $2', [
      type,
      payment.approvalId,
    ])
  await until('the approvers are told', async () => ((await told('approval_requested')).length === 2 ? true : null))
  world.advance(25 * 3_600_000)
  await until('they are warned a day ahead', async () => ((await told('approval_expiring')).length === 2 ? true : null))
  t.equal((await client.payment(payment.id)).status, 'pending_approval')
  world.advance(24 * 3_600_000)
  const ended = await until('the payment has ended', async () => {
    const now = await client.payment(payment.id)
    return now.status === 'pending_approval' ? null : now
  })
  t.match(ended, { status: 'cancelled', statusReason: { code: 'approval_expired' }, cancelledAt: String })
  t.match((await client.get<Approval>(`/approvals/${payment.approvalId}`)).body, { status: 'expired', decisions: [] })
  t.equal((await client.balance(balances.EUR)).heldBalance.amountMinor, '0')
  t.strictSame(await eventsOf(world, payment.approvalId!), [
    'approval.requested  pending',
    'approval.decided pending expired',
  ])
  const approver = await world.person('approver').signIn()
  await approver.stepUp('approval.decide', { type: 'approval', id: payment.approvalId! })
  t.match((await approver.post(`/approvals/${payment.approvalId}/decisions`, { decision: 'approved' })).problem, {
    code: 'invalid-transition',
    currentStatus: 'expired',
  })
})

t.test('who waits may cancel, once, and the approval ends with the payment', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances } = world.seeded
  await setPolicy(t, await world.person('owner').signIn(), 'payment', { tiers: [tier(1, 5_000, null)] })
  const [waiting, queued] = [await pay(world, 5_000), await pay(world, 4_999)]
  for (const { id, approvalId } of [waiting, queued]) {
    const key = randomUUID()
    const cancelled = await client.post<Payment>(`/payments/${id}/cancel`, { reason: 'A mistake.' }, key)
    t.equal(cancelled.status, 200, cancelled.text)
    t.match(cancelled.body, {
      status: 'cancelled',
      statusReason: { code: 'cancelled_by_user' },
      cancelledAt: String,
      cancellable: false,
    })
    const again = await client.post(`/payments/${id}/cancel`, { reason: 'A mistake.' }, key)
    t.equal(again.text, cancelled.text, 'the same key is the same answer')
    t.equal(again.headers.get('idempotency-replayed'), 'true')
    t.equal(
      (await client.post(`/payments/${id}/cancel`, { reason: 'Another.' }, key)).problem.code,
      'idempotency-key-reused',
    )
    const no = randomUUID()
    const refused = await client.post(`/payments/${id}/cancel`, {}, no)
    t.match(refused.problem, { status: 409, code: 'not-cancellable', currentStatus: 'cancelled' })
    t.equal((await client.post(`/payments/${id}/cancel`, {}, no)).text, refused.text, 'a no is remembered, too')
    if (approvalId !== null)
      t.match((await client.get<Approval>(`/approvals/${approvalId}`)).body, { status: 'cancelled' })
  }
  t.equal((await client.balance(balances.EUR)).heldBalance.amountMinor, '0')
  t.strictSame(await eventsOf(world, queued.id), [
    'payment.created  processing',
    'payment.status_changed processing cancelled',
  ])
  t.strictSame(await world.query('select from partner_instruction'), [], 'nothing waits for the bank')
  t.equal((await client.post(`/payments/${randomUUID()}/cancel`, {})).problem.code, 'not-found')
})

t.test('several approvers, of different teams, and never the requester', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  const preparer = await world.person('preparer').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null, { requiredApprovals: 2, distinctTeams: true })] })
  const second = await addMember(world, 'approver')
  const third = await addMember(world, 'approver')
  const team = randomUUID()
  await world.query(
    `insert into team (id, customer_id, name, version, created_at, updated_at) values ($1, $2, 'Treasury', 1, now(), now())`,
    [team, world.seeded.client.tenantId],
  )
  await world.query(
    `insert into team_member (team_id, membership_id, customer_id) select $1, m.id, m.tenant_id from membership m join platform_user u on u.id = m.user_id
     where m.tenant_id = $2 and u.email_key in ($3, $4)`,
    [team, world.seeded.client.tenantId, approver.login.email, second.login.email],
  )

  await owner.stepUp('payment.above_threshold')
  const body = paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, 700)
  const payment = (await owner.post<Payment>('/payments', body, { 'idempotency-key': randomUUID() })).body
  t.equal(payment.status, 'pending_approval')
  const id = payment.approvalId!
  const sees = async (who: typeof owner) => ({
    canDecide: (await who.get<Approval>(`/approvals/${id}`)).body.canDecide,
    mine: (await who.get<PageBody<Approval>>('/approvals?filter[mine]=true&filter[subjectType]=payment')).body.data
      .length,
    asked: (await who.get<PageBody<Approval>>('/approvals?filter[requestedByMe]=true')).body.data.length,
  })
  t.strictSame(await sees(owner), { canDecide: false, mine: 0, asked: 1 }, 'requesters do not decide on their own')
  t.strictSame(await sees(approver), { canDecide: true, mine: 1, asked: 0 })
  t.strictSame(await sees(preparer), { canDecide: false, mine: 0, asked: 0 })
  t.match((await preparer.post(`/approvals/${id}/decisions`, { decision: 'approved' })).problem, {
    status: 403,
    requiredCapability: 'approvals.decide',
  })
  t.match((await decide(owner, id, { decision: 'approved' })).problem, { status: 403, code: 'insufficient-scope' })

  t.match((await decide(approver, id, { decision: 'approved' })).body, {
    status: 'pending',
    received: 1,
    canDecide: false,
  })
  t.match(
    (await decide(approver, id, { decision: 'approved' })).problem,
    { status: 409, code: 'invalid-transition', currentStatus: 'pending' },
    'nobody decides twice',
  )
  t.equal((await sees(second)).canDecide, false, 'the same team has spoken')
  t.match((await decide(second, id, { decision: 'approved' })).problem, { status: 403, code: 'insufficient-scope' })
  t.match((await decide(third, id, { decision: 'approved' })).body, { status: 'approved', received: 2 })
  await world.seeded.client.paymentReaching(payment.id, 'completed')
})

t.test('a tier names people, roles and teams, and says whether requesters decide', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const approver = await world.person('approver').signIn()
  const other = await addMember(world, 'approver')
  const ids = new Map(
    (await world.query<{ id: string; email_key: string }>('select id, email_key from platform_user')).map(
      ({ id, email_key }) => [email_key, id],
    ),
  )
  await owner.stepUp('membership.change')
  const team = (await owner.post<{ id: string }>(`/customers/${owner.tenantId}/teams`, { name: 'Controllers' })).body.id
  await world.query(
    `insert into team_member (team_id, membership_id, customer_id) select $1, m.id, m.tenant_id from membership m where m.tenant_id = $2 and m.user_id = $3`,
    [team, owner.tenantId, ids.get(other.login.email)],
  )
  const who = async (approvers: Partial<Parameters<typeof tier>[3]>) => {
    await owner.stepUp('settings.change')
    const sent = await putPolicy(owner, 'payment', { tiers: [tier(1, 0, null, approvers)] })
    // Another named approver makes the policy looser, so a second person has to agree.
    if (sent.status === 202)
      t.equal((await decide(approver, sent.body.pendingChange!.approvalId, { decision: 'approved' })).status, 200)
    await owner.stepUp('payment.above_threshold')
    const body = paymentBody(world.seeded.balances.EUR, world.seeded.recipients.EUR, 700)
    const { approvalId } = (await owner.post<Payment>('/payments', body, { 'idempotency-key': randomUUID() })).body
    const may = await Promise.all(
      [owner, approver, other].map(
        async (person) => (await person.get<Approval>(`/approvals/${approvalId}`)).body.canDecide,
      ),
    )
    return { may, approvalId: approvalId! }
  }
  t.strictSame((await who({})).may, [false, true, true], 'everybody whose role lets them, but not who asks')
  t.strictSame((await who({ approverUserIds: [ids.get('approver@example.com')!] })).may, [false, true, false])
  t.strictSame((await who({ approverTeamIds: [team] })).may, [false, false, true])
  t.strictSame(
    (await who({ approverTeamIds: [team], approverUserIds: [ids.get('approver@example.com')!] })).may,
    [false, true, true],
    'any of them',
  )
  t.strictSame((await who({ approverRoles: ['owner'] })).may, [false, false, false])
  t.strictSame(
    (await who({ approverRoles: ['viewer', 'preparer'] })).may,
    [false, false, false],
    'a role that decides nothing decides nothing',
  )
  const { may, approvalId } = await who({ approverRoles: ['owner'], allowSelfApproval: true })
  t.strictSame(may, [true, false, false])
  t.equal(
    (await decide(owner, approvalId, { decision: 'approved' })).body.status,
    'approved',
    'where the tier says so, who asks may decide',
  )
})

t.test('a repeat with the same key decides once', async (t) => {
  await using world = await createWorld()
  await setPolicy(t, await world.person('owner').signIn(), 'payment', {
    tiers: [tier(1, 0, null, { requiredApprovals: 2 })],
  })
  const approver = await world.person('approver').signIn()
  const proven = async () => {
    const { approvalId } = await pay(world, 5_000)
    await approver.stepUp('approval.decide', { type: 'approval', id: approvalId! })
    return { approvalId: approvalId!, path: `/approvals/${approvalId}/decisions` }
  }

  const { approvalId, path } = await proven()
  const seen = (await approver.get(`/approvals/${approvalId}`)).headers.get('etag') as string
  const decided = await checkOneKey<Approval>(
    t,
    (key) => approver.post<Approval>(path, { decision: 'approved' }, { ...key, 'if-match': seen }),
    (key) => approver.post(path, { decision: 'rejected' }, key),
  )
  t.equal(decided.status, 200, decided.text)
  const now = await approver.get<Approval>(`/approvals/${approvalId}`)
  t.match(now.body, { status: 'pending', received: 1, decisions: [{ decision: 'approved' }] })
  t.strictSame(decided.body, now.body)
  t.equal(decided.headers.get('etag'), now.headers.get('etag'))
  const without = await approver.post(path, { decision: 'approved' }, { 'if-match': seen })
  t.match(without.problem, { status: 412 }, 'without the key the tag is that of before')

  const commented = await proven()
  const key = { 'idempotency-key': 'decide-2' }
  t.match((await approver.post(commented.path, { decision: 'rejected' }, key)).problem, {
    errors: [{ field: '/comment', code: 'required' }],
  })
  const rejected = await approver.post(commented.path, { decision: 'rejected', comment: 'No.' }, key)
  t.equal(rejected.status, 200, 'a body that is not valid takes no key')
  t.match((await approver.post(commented.path, { decision: 'rejected' }, key)).problem, {
    code: 'idempotency-key-reused',
  })
})

t.test('a recipient that has changed since takes the payment with it', async (t) => {
  await using world = await createWorld()
  const { client, recipients } = world.seeded
  await setPolicy(t, await world.person('owner').signIn(), 'payment', { tiers: [tier(1, 0, null)] })
  const approver = await world.person('approver').signIn()
  for (const change of [
    `name = 'Somebody Else'`,
    `status = 'blocked'`,
    `bank = bank || '{"iban": "NL50SBOX0100000001"}'`,
  ]) {
    const payment = await pay(world, 5_000)
    await world.query(`update recipient set ${change}, version = version + 1 where id = $1`, [recipients.EUR])
    t.match(
      (await decide(approver, payment.approvalId!, { decision: 'approved' })).problem,
      { status: 409, code: 'approval-subject-changed' },
      change,
    )
    t.match(await client.payment(payment.id), { status: 'cancelled', statusReason: { code: 'recipient_changed' } })
    t.match((await client.get<Approval>(`/approvals/${payment.approvalId}`)).body, {
      status: 'cancelled',
      received: 0,
      decisions: [],
    })
    await world.query(`update recipient set status = 'active' where id = $1`, [recipients.EUR])
  }

  const payment = await pay(world, 5_000)
  await world.query(`update recipient set name = 'Changed Again', version = version + 1 where id = $1`, [
    recipients.EUR,
  ])
  await approver.stepUp('approval.decide', { type: 'approval', id: payment.approvalId! })
  const decideUnder = (key: string) =>
    approver.post(`/approvals/${payment.approvalId}/decisions`, { decision: 'approved' }, { 'idempotency-key': key })
  const refused = await decideUnder('changed-1')
  t.match(refused.problem, { status: 409, code: 'approval-subject-changed' })
  t.match(await client.payment(payment.id), { status: 'cancelled' }, 'what withdraws it is kept with the answer')
  const again = await decideUnder('changed-1')
  t.strictSame([again.status, again.text, again.headers.get('idempotency-replayed')], [409, refused.text, 'true'])
  t.match((await decideUnder('changed-2')).problem, { code: 'invalid-transition', currentStatus: 'cancelled' })
})

t.test('the sandbox decides where a token asks it to', async (t) => {
  await using world = await createWorld()
  await setPolicy(t, await world.person('owner').signIn(), 'payment', {
    tiers: [tier(1, 0, null, { requiredApprovals: 3 })],
  })
  const [yes, no] = [await pay(world, 5_000, 'Invoice SBX:APPROVE'), await pay(world, 5_000, 'Invoice SBX:REJECT')]
  await world.seeded.client.paymentReaching(yes.id, 'completed', 15_000)
  const approved = (await world.seeded.client.get<Approval>(`/approvals/${yes.approvalId}`)).body
  t.match(approved, {
    status: 'approved',
    received: 3,
    decisions: [{ userName: 'Sandbox approver', stepUpMethod: null }, {}, {}],
  })
  t.ok(
    Date.parse(approved.decisions[0]!.decidedAt) - Date.parse(approved.createdAt) >= 5_000,
    'five seconds after it opened',
  )
  await until('the other is rejected', async () =>
    (await world.seeded.client.payment(no.id)).status === 'rejected' ? true : null,
  )
})

t.test('lists, for members, staff and keys', async (t) => {
  await using world = await createWorld()
  const { client } = world.seeded
  const owner = await world.person('owner').signIn()
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)] })
  const payments = [await pay(world, 100), await pay(world, 200), await pay(world, 300)]
  await decide(await world.person('approver').signIn(), payments[0]!.approvalId!, {
    decision: 'rejected',
    comment: 'No.',
  })
  const ids = async (query: string, who: { get<B>(path: string): Promise<{ body: B }> } = client) =>
    (
      await who.get<PageBody<Approval>>(
        `/approvals?${query.includes('subject') ? query : `filter[subjectType]=payment&${query}`}`,
      )
    ).body.data.map(({ subjectId }) => subjectId)
  const [first, second, third] = payments.map(({ id }) => id)
  t.strictSame(await ids(''), [third, second], 'pending ones, newest first')
  t.strictSame(await ids('sort=createdAt'), [second, third])
  t.strictSame(await ids('filter[status]=rejected,pending'), [third, second, first])
  t.strictSame(await ids(`filter[subjectId]=${second}`), [second])
  t.equal((await ids('filter[subjectType]=recipient')).length, 1, 'the recipient that waits in every sandbox')
  t.strictSame(await ids('filter[mine]=true'), [], 'keys decide nothing')
  t.strictSame(await ids('filter[requestedByMe]=true'), [third, second], 'a key is its own requester')
  t.strictSame(await ids('filter[requestedByMe]=true', owner), [])
  const page = (await client.get<PageBody<Approval>>('/approvals?filter[subjectType]=payment&limit=1&withTotal=true'))
    .body
  t.equal(page.page.total, 2)
  t.strictSame(await ids(`limit=1&cursor=${page.page.nextCursor}`), [second])

  const staff = await world.person('operations').signIn()
  t.strictSame(await ids('', staff), [third, second], 'staff see all customers of the operator')
  t.strictSame(await ids(`filter[customerId]=${client.tenantId}`, staff), [third, second])
  t.strictSame(await ids(`filter[customerId]=${randomUUID()}`, staff), [])
  t.strictSame(await ids('filter[mine]=true', staff), [], 'and decide on none')
  t.match(
    (await staff.get<PageBody<Approval>>('/approvals?filter[subjectType]=payment', { 'x-tenant-id': client.tenantId }))
      .body.data,
    [{ canDecide: false }, { canDecide: false }],
  )
  const stranger = await world.customer({ balances: [{ currency: 'EUR', amount: 1n }] })
  t.equal((await stranger.client.get(`/approvals/${payments[1]!.approvalId}`)).problem.code, 'not-found')

  const preparer = await world.person('preparer').signIn()
  const remind = () => preparer.post(`/approvals/${payments[1]!.approvalId}/remind`)
  t.equal((await remind()).status, 202)
  t.match((await remind()).problem, { status: 429, code: 'rate-limited', violatedPolicies: ['approval-reminder'] })
  world.advance(3_600_001)
  t.equal((await preparer.signIn().then(remind)).status, 202, 'an hour later they may be reminded again')
  t.equal((await preparer.post(`/approvals/${payments[0]!.approvalId}/remind`)).problem.code, 'invalid-transition')
})
