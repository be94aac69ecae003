/**
 * No sequence of acts of one person moves money that two must approve: random acts of the owner against the service
 * itself, while nobody else does anything.
 *
 *   SEED=123 npm test -- test/http/approvals/one-person.test.ts
 *
 * The preparer has made payments, schedules and drafts before. Every payment that leaves must be one that the policies
 * of the beginning let one person make, or that the preparer wrote alone and the owner approved.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { ScheduledPayment } from '../../../lib/scheduled-payments/scheduled-payment-schema.ts'
import { POLICY_KINDS } from '../../../lib/approvals/policy.ts'
import { Client, type PageBody } from '../../support/client.ts'
import type { Person } from '../../support/person.ts'
import { Random } from '../../support/random.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { BODY, type Made } from '../identity/keys.ts'
import { runNow, scheduleBody } from '../scheduled-payments/support.ts'
import { newIban, patchAs, setMode } from '../recipients/support.ts'
import { decide, putPolicy, setPolicy, tier } from './people.ts'

const SEED = Number(process.env['SEED'] ?? 1)
const ACTS = 60
/** From here on, minor units, two people are needed; from the second on, one besides the requesters twice. */
const [ONE_MORE, TWO_MORE] = [1_000, 50_000]
const PREPARED = 3

const eur = (minor: number) => ({ amountMinor: String(minor), currency: 'EUR' })
const key = () => ({ 'idempotency-key': randomUUID() })

t.test(`seed ${SEED}`, async (t) => {
  await using world = await createWorld({ dispatch: false })
  const random = new Random(SEED)
  const [owner, preparer] = [await world.person('owner').signIn(), await world.person('preparer').signIn()]
  const { balances, recipients } = world.seeded
  await setMode(world, 'none')
  await setPolicy(t, owner, 'payment', {
    tiers: [tier(1, ONE_MORE, TWO_MORE), tier(2, TWO_MORE, null, { requiredApprovals: 2 })],
  })
  const amount = (): number =>
    random.pick([random.int(1, ONE_MORE - 1), random.int(ONE_MORE, TWO_MORE - 1), random.int(TWO_MORE, 2 * TWO_MORE)])
  const made = async <Body>(by: Person, path: string, body: object): Promise<Body> =>
    (await by.post<Body>(path, body, key())).body
  await preparer.stepUp('payment.above_threshold')
  const schedules: string[] = []
  const drafts: string[] = []
  for (let nth = 0; nth < PREPARED; nth++) {
    await made<Payment>(preparer, '/payments', paymentBody(balances.EUR, recipients.EUR, amount()))
    schedules.push(
      (await made<ScheduledPayment>(preparer, '/scheduled-payments', scheduleBody(world, { amount: eur(amount()) })))
        .id,
    )
    drafts.push(
      (
        await made<Payment>(preparer, '/payments', {
          ...paymentBody(balances.EUR, recipients.EUR, amount()),
          draft: true,
        })
      ).id,
    )
  }
  for (const action of ['api_key.create', 'settings.change', 'payment.above_threshold', 'membership.change'] as const)
    await owner.stepUp(action)
  const { secret } = await made<Made>(owner, '/api-keys', { ...BODY, scopes: ['payments:read', 'payments:write'] })
  const erp = new Client({ url: () => world.url, apiKey: secret, tenantId: owner.tenantId })
  const edited = new Set<string>()
  let recipientChanged = false

  const terms = () => {
    const said = {
      requiredApprovals: random.int(1, 2),
      allowSelfApproval: random.chance(0.6),
      expiresAfterHours: random.pick([24, 168, 720]),
    }
    return {
      enabled: random.chance(0.7),
      exemptOwnAccounts: random.chance(0.5),
      tiers: [tier(1, random.pick([0, ONE_MORE, TWO_MORE]), null, said)],
    }
  }
  const acts: readonly (readonly [string, () => Promise<number>])[] = [
    ['policy', async () => (await putPolicy(owner, random.pick(POLICY_KINDS), terms())).status],
    [
      'approve',
      async () => {
        const { data } = (await owner.get<PageBody<Approval>>('/approvals?limit=100')).body
        return data.length === 0 ? 0 : (await decide(owner, random.pick(data).id, { decision: 'approved' })).status
      },
    ],
    [
      'pay',
      async () => (await owner.post('/payments', paymentBody(balances.EUR, recipients.EUR, amount()), key())).status,
    ],
    ['pay by key', async () => (await erp.createPayment(paymentBody(balances.EUR, recipients.EUR, amount()))).status],
    [
      'change a schedule',
      async () => {
        const id = random.pick(schedules)
        edited.add(id)
        return (await owner.send('PATCH', `/scheduled-payments/${id}`, { amount: eur(amount()) }, { 'if-match': '*' }))
          .status
      },
    ],
    ['run a schedule', async () => (await runNow(world, random.pick(schedules))).status],
    [
      'change a draft',
      async () => {
        const id = random.pick(drafts)
        const reply = await owner.send('PATCH', `/payments/${id}`, { amount: eur(amount()) }, { 'if-match': '*' })
        if (reply.status === 200) edited.add(id)
        return reply.status
      },
    ],
    ['submit a draft', async () => (await owner.post(`/payments/${random.pick(drafts)}/submit`, {}, key())).status],
    [
      'change a recipient',
      async () => {
        if (!random.chance(0.3)) return 0
        recipientChanged = true
        return (await patchAs(owner, recipients.EUR, { bank: { iban: newIban() } })).status
      },
    ],
  ]
  const counts = new Map<string, number>()
  for (let nth = 0; nth < ACTS; nth++) {
    // Approving is what everything else is for.
    const [name, act] = random.chance(0.35) ? acts[1]! : random.pick(acts)
    const status = await act()
    t.ok(status < 500, `${name}: ${status}`)
    counts.set(`${name} ${status}`, (counts.get(`${name} ${status}`) ?? 0) + 1)
  }

  const preparerId = (
    await world.query<{ id: string }>('select id from platform_user where email_key = $1', [preparer.login.email])
  )[0]!.id
  const left = await world.query<{
    id: string
    amount: string
    created_by: string
    scheduled_payment_id: string | null
    submitted_by: string | null
    given: string
  }>(
    `select p.id, p.amount, p.created_by, p.scheduled_payment_id, p.details::jsonb #>> '{submitted,by}' as submitted_by,
      (select count(distinct d.user_id) from approval a join approval_decision d on d.approval_id = a.id where a.subject_id = p.id and d.decision = 'approved') as given
     from payment p where p.status not in ('draft', 'pending_approval', 'rejected', 'cancelled')`,
  )
  const wrong = left.filter(
    ({ id, amount, created_by: by, scheduled_payment_id: schedule, submitted_by: submitter, given }) => {
      const minor = Number(amount)
      if (minor < ONE_MORE) return false
      const preparers =
        by === preparerId &&
        submitter === null &&
        !edited.has(id) &&
        !(schedule !== null && (edited.has(schedule) || recipientChanged))
      return !preparers || Number(given) < (minor < TWO_MORE ? 1 : 2)
    },
  )
  t.strictSame(wrong, [], JSON.stringify(Object.fromEntries(counts)))
  t.comment(JSON.stringify(Object.fromEntries(counts)))
  t.ok(left.length > 0, 'some payments left')
  t.ok((counts.get('approve 403') ?? 0) > 0, 'the owner was refused')
})
