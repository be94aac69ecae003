/** The deadline of reviews by the operator's staff, to the millisecond: fourteen days, however late the timer is. */
import t from 'tap'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import type { RecipientReview } from '../../../lib/recipients/recipient-review-schema.ts'
import { timestamp } from '../../../lib/base/clock.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import { createByKey, setMode, statusEvents } from './support.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

await using world = await createWorld({ stillClock: true, nodes: 2, dispatch: false })
const { client } = world.seeded
await setMode(world, 'operator_queue')

/** A recipient that waits for staff, with the id of its review. */
async function queued(): Promise<Recipient & { readonly reviewId: string }> {
  const recipient = (await createByKey(client)).body
  const [review] = await world.query<{ id: string }>('select id from recipient_review where recipient_id = $1', [
    recipient.id,
  ])
  return { ...recipient, reviewId: review!.id }
}

const read = async (id: string): Promise<Recipient> => (await client.get<Recipient>(`/recipients/${id}`)).body
const review = (staff: Person, id: string, decision: 'approve' | 'reject') =>
  staff.post<RecipientReview>(`/recipient-reviews/${id}/${decision}`, { reason: 'Known.' })
const ended = async (id: string): Promise<Recipient> =>
  await until('the review has ended', async () => {
    const recipient = await read(id)
    return recipient.status === 'pending_approval' ? null : recipient
  })
const endings = async (reviewed: { readonly id: string }): Promise<string[]> =>
  (
    await world.query<{ action: string }>(
      `select action from audit_event where object_id = $1 and action like 'recipient_review.%' order by id`,
      [reviewed.id],
    )
  ).map(({ action }) => action)

await t.test('a millisecond before its deadline staff decide a review; at its deadline it expires', async (t) => {
  const [approved, forgotten, late] = [await queued(), await queued(), await queued()]
  // As after a deadline at which no node ran.
  const [{ expires_at: expiresAt }] = (await world.query<{ expires_at: Date }>(
    `update recipient_review set wake_at = expires_at + interval '1 hour' where id = $1 returning expires_at`,
    [late.reviewId],
  )) as [{ expires_at: Date }]
  const deadline = expiresAt.getTime()
  t.equal(deadline, world.now() + 14 * DAY_MS)
  world.advanceTo(deadline - 1)
  const staff = await world.person('compliance').signIn()
  t.match((await review(staff, approved.reviewId, 'approve')).body, { status: 'approved' })
  t.match(await read(approved.id), { status: 'active', approval: { status: 'approved' } })
  t.match(await read(forgotten.id), { status: 'pending_approval' })

  world.advanceTo(deadline)
  t.match(await ended(forgotten.id), {
    status: 'rejected',
    approval: { status: 'expired', decidedAt: timestamp(deadline), decidedBy: null, reason: null },
  })
  for (const decision of ['approve', 'reject'] as const)
    for (const { reviewId } of [late, forgotten])
      t.match((await review(staff, reviewId, decision)).problem, {
        status: 409,
        code: 'invalid-transition',
        currentStatus: 'expired',
        allowed: ['pending'],
      })
  t.match(await read(late.id), { status: 'pending_approval' }, 'its timer has not run')
  world.advanceTo(deadline + HOUR_MS)
  await ended(late.id)
  for (const recipient of [forgotten, late]) {
    t.strictSame(await statusEvents(world, recipient.id), ['none pending_approval', 'pending_approval rejected'])
    t.strictSame(await endings(recipient), ['recipient_review.expired'])
  }
  await world.audit()
})

await t.test('timers and staff at the deadline: each review ends once', async (t) => {
  const recipients = [await queued(), await queued(), await queued()]
  // Soon, because events are kept for a month of the test's time.
  await world.query('update recipient_review set expires_at = $2, wake_at = $2 where id = any($1)', [
    recipients.map(({ reviewId }) => reviewId),
    new Date(world.now() + HOUR_MS),
  ])
  world.advance(HOUR_MS - 1)
  const staff = await world.person('compliance').signIn()
  world.advance(1)
  const replies = await Promise.all(recipients.map(({ reviewId }) => review(staff, reviewId, 'approve')))
  for (const { problem } of replies) t.match(problem, { code: 'invalid-transition', currentStatus: 'expired' })
  for (const recipient of recipients) {
    t.match(await ended(recipient.id), { status: 'rejected', approval: { status: 'expired' } })
    t.strictSame(await endings(recipient), ['recipient_review.expired'])
  }
  await world.audit()
})

await t.test(
  'a clock that jumps over the deadlines of both stages ends the first one, and opens no second',
  async (t) => {
    await setMode(world, 'customer_then_operator')
    const own = (await createByKey(client)).body
    t.match(own.approval, { stage: 'customer' })
    await setMode(world, 'operator_queue')
    const waiting = await queued()
    world.advance(15 * DAY_MS)
    await world.pollOnce()
    for (const { id } of [own, waiting])
      t.match(await ended(id), { status: 'rejected', approval: { status: 'expired', decidedBy: null } })
    t.strictSame(await world.query('select from recipient_review where recipient_id = $1', [own.id]), [])
    await world.audit()
  },
)
