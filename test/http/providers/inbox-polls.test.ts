/** Providers that are asked for their events: windows and pages overlap, and each event and message counts once. */
import t from 'tap'
import type { EventPage, RawProviderEvent } from '../../../actors/providers/adapters/adapter.ts'
import { translateSandboxEvent } from '../../../actors/sandbox/sandbox-webhooks.ts'
import { sentPayment } from '../../support/outcomes.ts'
import { until } from '../../support/until.ts'
import { createWorld } from '../../support/world.ts'
import {
  connectionLike,
  eventBody,
  listed,
  seededConnection,
  send,
  sent,
  settled,
  TestPartners,
} from './inbox-support.ts'

/** An amount with which the sandbox bank says nothing by itself. */
const STUCK = 1701
const MINUTE_MS = 60_000

t.test(
  'a provider is asked page by page, again from before the last time, and less often after failures',
  async (t) => {
    const partners = new TestPartners()
    await using world = await createWorld({ overrides: { inboxPartners: partners } })
    const staff = await world.person('operations').signIn()
    const { id: bank, operatorId } = await seededConnection(world)
    const id = await connectionLike(world, bank, 'active', 'files')
    const payments = [await sentPayment(world, STUCK), await sentPayment(world, STUCK)]
    await world.query('update payment set connection_id = $1', [id])

    const event = (eventId: string, type: string, reference: string): RawProviderEvent => {
      const body = Buffer.from(eventBody(type, { reference }, eventId))
      return { source: 'poll', eventId, type, body, headers: {}, occurredAt: world.now() }
    }
    const one = event('poll:one', 'payment.settled', payments[0]!.id)
    const two = event('poll:two', 'payment.rejected', payments[1]!.id)
    const asked: { readonly since: number; readonly cursor: string | null }[] = []
    let isDown = false
    partners.add(
      { id, operatorId },
      {
        list: async (since, cursor): Promise<EventPage> => {
          asked.push({ since, cursor })
          if (isDown) throw new Error('The bank is closed.')
          return cursor === null ? { events: [one], cursor: 'second' } : { events: [one, two], cursor: null }
        },
        // The same message comes by both ways, under an id for each way.
        translate: (each) => translateSandboxEvent(id, { ...each, eventId: each.eventId.replace('poll:', '') }),
      },
    )
    world.advance(MINUTE_MS)
    await until('both pages were listed', () => asked.length >= 2)
    for (const eventId of ['poll:one', 'poll:two']) await settled(world, id, eventId)
    const events = await listed(staff, `&filter[connectionId]=${id}`)
    t.strictSame(
      events
        .map(({ partnerEventId, source, status, verifiedBy }) => [partnerEventId, source, status, verifiedBy])
        .sort(),
      [
        ['poll:one', 'poll', 'processed', 'transport'],
        ['poll:two', 'poll', 'processed', 'transport'],
      ],
    )
    t.strictSame(await Promise.all(payments.map(async (each) => (await world.seeded.client.payment(each.id)).status)), [
      'completed',
      'failed',
    ])
    t.strictSame([asked[0]?.cursor, asked[1]?.cursor, asked[1]?.since], [null, 'second', asked[0]?.since])

    const pages = asked.length
    world.advance(MINUTE_MS)
    const again = await until('the next window was listed', () => {
      const start = asked.findIndex(({ cursor }, nth) => nth >= pages && cursor === null)
      return start >= 0 && asked[start + 1]?.cursor === 'second' ? asked[start]! : null
    })
    t.ok(again.since > asked[0]!.since && again.since < one.occurredAt!, 'the windows overlap')
    t.equal((await world.query('select from provider_inbox')).length, 2, 'and nothing is kept twice')

    const told = await sent(world, staff, id, eventBody('payment.settled', { reference: payments[0]!.id }, 'one'))
    t.match(told, {
      status: 'duplicate',
      messages: [{ outcome: 'known', comparison: { firstSource: 'poll', events: 2 } }],
    })

    const isPutOff = async () => {
      const [row] = await world.query<{ due: Date }>('select due_at as due from provider_poll')
      return row !== undefined && row.due.getTime() > world.now()
    }
    await until('the window has ended', isPutOff)
    partners.paused.add(id)
    const [polled] = await world.query<{ at: Date }>('select polled_at as at from provider_poll')
    const before = asked.length
    world.advance(MINUTE_MS)
    await until('the next window is put off', isPutOff)
    t.strictSame(await world.query('select polled_at as at from provider_poll'), [polled])
    t.equal(asked.length, before, 'a connection that is paused is not asked')
    partners.paused.delete(id)

    isDown = true
    const failing = asked.length
    world.advance(MINUTE_MS)
    await until('a failure was noted', async () => {
      const [row] = await world.query<{ failures: number; error: string | null }>(
        'select failures, error from provider_poll',
      )
      return row !== undefined && row.failures > 0 && row.error === 'The bank is closed.'
    })
    t.ok(asked.length > failing)
    t.ok(world.logged.some((line) => line.includes('The bank is closed.')))
    isDown = false
    world.advance(2 * MINUTE_MS)
    await until('it is asked again', async () => {
      const [row] = await world.query<{ failures: number }>('select failures from provider_poll')
      return row?.failures === 0
    })

    await world.query(`update provider_connection set status = 'draining' where id = $1`, [id])
    await send(world, id, eventBody('something.else', {}, 'late'))
    t.ok(await settled(world, id, 'late'), 'a draining connection still takes events')
  },
)
