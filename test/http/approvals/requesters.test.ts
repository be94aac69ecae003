/**
 * Who may not approve: everyone who shaped the terms. Which approvals count: those whose givers could still give them.
 * And what an approver has seen does not change under them.
 */
import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { BulkPayment } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Document } from '../../../lib/documents/document-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { ScheduledPayment } from '../../../lib/scheduled-payments/scheduled-payment-schema.ts'
import { Client, type PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { PDF, upload } from '../documents/upload.ts'
import { checked, row, settled } from '../bulk-payments/submitting.ts'
import { validated } from '../bulk-payments/support.ts'
import { BODY, type Made } from '../identity/keys.ts'
import { runNow, scheduleBody } from '../scheduled-payments/support.ts'
import { newIban, patchAs, setMode } from '../recipients/support.ts'
import { addMember, decide, setPolicy, tier } from './people.ts'

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })
const key = () => ({ 'idempotency-key': randomUUID() })
const NOT_AN_APPROVER = { status: 403, code: 'insufficient-scope' }
const patch = <Body>(by: Person, path: string, body: object) => by.send<Body>('PATCH', path, body, { 'if-match': '*' })
const approvalOf = async (by: Person, id: string): Promise<Approval> =>
  (await by.get<Approval>(`/approvals/${id}`)).body

/** The payment of a schedule that is run at once, and its approval. */
async function paidBy(world: World, owner: Person, scheduleId: string): Promise<Approval> {
  await runNow(world, scheduleId)
  const payment = await until('the payment of the schedule', async () => {
    const { data } = (await owner.get<PageBody<Payment>>(`/payments?filter[scheduledPaymentId]=${scheduleId}`)).body
    return data[0] ?? null
  })
  return await approvalOf(owner, payment.approvalId!)
}

/** The first may not decide, the second may. */
async function onlyAnother(
  t: Test,
  { id }: Pick<Approval, 'id'>,
  shaper: Person,
  another: Person,
  what: string,
): Promise<void> {
  t.equal((await approvalOf(shaper, id)).canDecide, false, `${what}: they see that they may not`)
  t.match((await decide(shaper, id, { decision: 'approved' })).problem, NOT_AN_APPROVER, what)
  t.match(
    (await decide(another, id, { decision: 'approved' })).body,
    { status: 'approved' },
    `${what}: another person may`,
  )
}

t.test('whoever shaped the terms does not approve them', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const [owner, approver, preparer] = [
    await world.person('owner').signIn(),
    await world.person('approver').signIn(),
    await world.person('preparer').signIn(),
  ]
  const { balances, recipients } = world.seeded
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)] })
  for (const person of [owner, preparer]) await person.stepUp('payment.above_threshold')
  const idOf = async (person: Person) =>
    (await world.query<{ id: string }>('select id from platform_user where email_key = $1', [person.login.email]))[0]!
      .id
  const ids = { owner: await idOf(owner), preparer: await idOf(preparer) }

  await t.test('a schedule that the owner changed', async (t) => {
    const made = await preparer.post<ScheduledPayment>(
      '/scheduled-payments',
      scheduleBody(world, { amount: eur(100) }),
      key(),
    )
    t.equal(made.status, 201, made.text)
    t.equal((await patch(owner, `/scheduled-payments/${made.body.id}`, { amount: eur(500_000) })).status, 200)
    const approval = await paidBy(world, owner, made.body.id)
    t.match(approval, { requestedBy: ids.preparer, subjectSummary: { amount: eur(500_000) } })
    t.strictSame(approval.requesters.toSorted(), [ids.owner, ids.preparer].toSorted())
    await onlyAnother(t, approval, owner, approver, 'the owner who raised its amount')
  })

  await t.test('a schedule whose attributes alone were changed', async (t) => {
    const { id } = (
      await preparer.post<ScheduledPayment>('/scheduled-payments', scheduleBody(world, { amount: eur(200) }), key())
    ).body
    t.equal((await patch(owner, `/scheduled-payments/${id}`, { metadata: { costCentre: '7' } })).status, 200)
    t.match(
      (await decide(owner, (await paidBy(world, owner, id)).id, { decision: 'approved' })).body,
      { status: 'approved' },
      'the terms are those of the preparer',
    )
  })

  await t.test('a schedule that pays a recipient whose account the owner changed', async (t) => {
    await setMode(world, 'none')
    const { id } = (
      await preparer.post<ScheduledPayment>('/scheduled-payments', scheduleBody(world, { amount: eur(300) }), key())
    ).body
    const changed = await patchAs(owner, recipients.EUR, { bank: { iban: newIban() } })
    t.match(changed.body, { status: 'active' }, 'nobody reviews it')
    await onlyAnother(t, await paidBy(world, owner, id), owner, approver, 'the owner who changed where the money goes')
  })

  await t.test('a draft that the owner changed, submitted by the preparer', async (t) => {
    const draft = (
      await preparer.post<Payment>(
        '/payments',
        { ...paymentBody(balances.EUR, recipients.EUR, 400), draft: true },
        key(),
      )
    ).body
    t.equal((await patch(owner, `/payments/${draft.id}`, { amount: eur(400_000) })).status, 200)
    const submitted = await preparer.post<Payment>(`/payments/${draft.id}/submit`, {}, key())
    t.equal(submitted.status, 200, submitted.text)
    await onlyAnother(t, { id: submitted.body.approvalId! }, owner, approver, 'the owner who raised its amount')
  })

  await t.test('a draft of the owner, submitted by the preparer', async (t) => {
    const draft = (
      await owner.post<Payment>('/payments', { ...paymentBody(balances.EUR, recipients.EUR, 401), draft: true }, key())
    ).body
    const submitted = await preparer.post<Payment>(`/payments/${draft.id}/submit`, {}, key())
    t.equal(submitted.status, 200, submitted.text)
    await onlyAnother(t, { id: submitted.body.approvalId! }, owner, approver, 'the owner who made the draft')
  })

  await t.test('a file of the owner, submitted by a key', async (t) => {
    const sent = await owner.post<BulkPayment>(
      '/bulk-payments',
      { allowDuplicate: true, name: 'Salaries', rows: [row(recipients.EUR, 11)] },
      key(),
    )
    t.equal(sent.status, 202, sent.text)
    await validated(world.seeded.client, sent.body)
    await world.seeded.client.post(`/bulk-payments/${sent.body.id}/submit`, undefined, randomUUID())
    const { approvalId } = await settled(world.seeded.client, sent.body.id)
    await onlyAnother(t, { id: approvalId! }, owner, approver, 'the owner who uploaded it')
  })

  await t.test('a file that the owner had checked again, and one whose payee the owner changed', async (t) => {
    const again = await checked(world.seeded.client, { name: 'Rent', rows: [row(recipients.EUR, 12)] })
    t.equal((await owner.post(`/bulk-payments/${again.id}/revalidate`)).status, 202)
    await validated(world.seeded.client, again)
    await world.seeded.client.post(`/bulk-payments/${again.id}/submit`, undefined, randomUUID())
    await onlyAnother(
      t,
      { id: (await settled(world.seeded.client, again.id)).approvalId! },
      owner,
      approver,
      'the owner who had it checked again',
    )

    const payee = await checked(world.seeded.client, { name: 'Bonus', rows: [row(recipients.EUR, 13)] })
    await patchAs(owner, recipients.EUR, { bank: { iban: newIban() } })
    await world.seeded.client.post(`/bulk-payments/${payee.id}/submit`, undefined, randomUUID())
    await onlyAnother(
      t,
      { id: (await settled(world.seeded.client, payee.id)).approvalId! },
      owner,
      approver,
      'the owner who changed where the money goes',
    )
  })

  await t.test('what a key asks for that the owner made', async (t) => {
    await owner.stepUp('api_key.create')
    const made = await owner.post<Made>('/api-keys', { ...BODY, scopes: ['payments:read', 'payments:write'] })
    const erp = new Client({ url: () => world.url, apiKey: made.body.secret, tenantId: owner.tenantId })
    const paid = (await erp.createPayment(paymentBody(balances.EUR, recipients.EUR, 600))).body as Payment
    t.match(
      await approvalOf(approver, paid.approvalId!),
      { requestedBy: made.body.id, requesters: [made.body.id] },
      'a key is its own requester',
    )
    await onlyAnother(t, { id: paid.approvalId! }, owner, approver, 'the owner who has its secret')
  })

  await t.test("what counts for a member's limits is what they have set", async (t) => {
    const { data } = (
      await owner.get<PageBody<{ id: string; email: string }>>(`/customers/${owner.tenantId}/memberships`)
    ).body
    const own = data.find(({ email }) => email === preparer.login.email)!.id
    await owner.stepUp('membership.change')
    const limits = [{ currency: 'EUR', single: eur(1_000) }]
    const limited = await patch(owner, `/customers/${owner.tenantId}/memberships/${own}`, { limits })
    t.equal(limited.status, 200, limited.text)
    const draft = async (by: Person, minor: number) =>
      (await by.post<Payment>('/payments', { ...paymentBody(balances.EUR, recipients.EUR, minor), draft: true }, key()))
        .body
    const submit = (by: Person, { id }: Payment) => by.post<Payment>(`/payments/${id}/submit`, {}, key())
    const raised = await draft(owner, 900)
    await patch(preparer, `/payments/${raised.id}`, { amount: eur(1_100) })
    t.match(
      (await submit(owner, raised)).problem,
      { code: 'limit-exceeded' },
      'the amount that the preparer set, submitted by the owner',
    )
    t.equal(
      (await submit(preparer, await draft(owner, 1_200))).status,
      200,
      'the amount that the owner set, submitted by the preparer',
    )
  })
})

t.test('an approval of a person who could no longer give it does not count', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const [owner, approver] = [await world.person('owner').signIn(), await world.person('approver').signIn()]
  const [second, third] = [await addMember(world, 'approver'), await addMember(world, 'approver')]
  await setPolicy(t, owner, 'payment', {
    tiers: [tier(1, 0, null, { requiredApprovals: 2, approverRoles: ['approver', 'owner'] })],
  })
  const { client, balances, recipients } = world.seeded
  const asked = async () =>
    ((await client.createPayment(paymentBody(balances.EUR, recipients.EUR, 1_000))).body as Payment).approvalId!
  const members = (await owner.get<PageBody<{ id: string; email: string }>>(`/customers/${owner.tenantId}/memberships`))
    .body.data
  const membership = `/customers/${owner.tenantId}/memberships/${members.find(({ email }) => email === approver.login.email)!.id}`
  for (const [what, lost, restored] of [
    ['suspended', { status: 'suspended' }, { status: 'active' }],
    ['demoted', { role: 'preparer' }, { role: 'approver' }],
  ] as const) {
    const id = await asked()
    t.match((await decide(approver, id, { decision: 'approved' })).body, { status: 'pending', received: 1 })
    await owner.stepUp('membership.change')
    t.equal((await patch(owner, membership, lost)).status, 200)
    const next = await decide(second, id, { decision: 'approved' })
    t.match(
      next.body,
      { status: 'pending', received: 1, decisions: [{ counted: false }, { counted: true }] },
      `${what}: one of two counts`,
    )
    t.match(
      (await decide(third, id, { decision: 'approved' })).body,
      { status: 'approved', received: 2 },
      `${what}: another one is needed`,
    )
    t.equal((await patch(owner, membership, restored)).status, 200)
  }
})

t.test('what an approver has seen does not change under them', async (t) => {
  await using world = await createWorld({ dispatch: false })
  const [owner, approver, preparer] = [
    await world.person('owner').signIn(),
    await world.person('approver').signIn(),
    await world.person('preparer').signIn(),
  ]
  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null, { requiredApprovals: 2 })] })
  const { client, balances, recipients } = world.seeded
  await preparer.stepUp('payment.above_threshold')
  const payment = (await preparer.post<Payment>('/payments', paymentBody(balances.EUR, recipients.EUR, 1_000), key()))
    .body
  const id = payment.approvalId!
  const document = (
    await upload<Document>(
      world,
      { token: world.service.sandbox!.customer.apiKey, tenantId: client.tenantId },
      '/documents',
      { fields: { purpose: 'payment_support' }, bytes: PDF },
    )
  ).body
  await until('the document is clean', async () => {
    world.advance(1_000)
    return (await client.get<Document>(`/documents/${document.id}`)).body.status === 'clean' ? true : null
  })
  t.match((await decide(approver, id, { decision: 'approved' })).body, { received: 1, subjectChanges: [] })
  const seen = (await owner.get(`/approvals/${id}`)).headers.get('etag')!

  t.equal(
    (await patch(preparer, `/payments/${payment.id}`, { internalNote: 'Second floor', metadata: { po: '7' } })).status,
    200,
  )
  t.match(await approvalOf(owner, id), {
    received: 1,
    subjectChanges: [
      {
        changedByName: 'Sandbox Preparer',
        paymentId: payment.id,
        members: ['internalNote', 'metadata'],
        restarted: false,
      },
    ],
  })
  await owner.stepUp('approval.decide', { type: 'approval', id })
  t.match(
    (await owner.post(`/approvals/${id}/decisions`, { decision: 'approved' }, { 'if-match': seen })).problem,
    { status: 412, code: 'precondition-failed' },
    'what was shown is not there any more',
  )

  t.equal((await patch(preparer, `/payments/${payment.id}`, { documentIds: [document.id] })).status, 200)
  t.match(await approvalOf(approver, id), {
    received: 0,
    canDecide: true,
    decisions: [{ decision: 'approved', counted: false }],
    subjectChanges: [{}, { members: ['documentIds'], restarted: true }],
  })
  const { data } = (await client.get<PageBody<{ message: string }>>(`/payments/${payment.id}/updates`)).body
  const messages = data.map(({ message }) => message)
  t.ok(messages.includes('Changed while waiting for approval: internalNote, metadata.'), messages.join(' '))
  t.ok(messages.includes('Changed while waiting for approval: documentIds. Approvals start anew.'))
  t.match(
    (await decide(owner, id, { decision: 'approved' })).body,
    { status: 'pending', received: 1 },
    'the approval of before does not count',
  )
  t.equal(
    (await patch(preparer, `/payments/${payment.id}`, { documentIds: [document.id], internalNote: 'First floor' }))
      .status,
    200,
  )
  t.match(await approvalOf(owner, id), { received: 1 }, 'the same documents start nothing anew')
  t.match(
    (await decide(approver, id, { decision: 'approved' })).body,
    { status: 'approved', received: 2 },
    'who approved before approves again',
  )
})
