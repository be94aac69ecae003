/**
 * Every move that a payment makes once it was submitted, each as its trigger causes it: status, update log, holds,
 * journal, events.
 */
import t from 'tap'
import { until } from '../../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../../support/world.ts'

interface Story {
  readonly amount: number
  readonly reference?: string
  /** The statuses of the update log, one after the other. */
  readonly statuses: readonly string[]
  /** The posted amount; a debit of the balance is negative. */
  readonly journal: readonly (readonly [rule: string, amount: number])[]
  /** The state of the payment's current or last hold. */
  readonly hold: string
  readonly failure?: string
}

const [SENT, BACK] = ['processing', 'returned'] as const
const HELD_AND_SENT = ['processing', SENT] as const
const moved = (amount: number, ...rules: readonly string[]) => rules.map((rule) => [rule, amount] as const)

/** By the name of the trigger. */
const STORIES: Readonly<Record<string, Story>> = {
  'nothing in particular': {
    amount: 5_000,
    statuses: [...HELD_AND_SENT, 'completed'],
    journal: moved(5_000, 'L10', 'L11'),
    hold: 'captured',
  },
  "refused by the recipient's bank": {
    amount: 1_302,
    statuses: [...HELD_AND_SENT, 'failed'],
    journal: moved(1_302, 'L10', 'L12'),
    hold: 'captured',
    failure: 'account_closed',
  },
  'any code': {
    amount: 5_001,
    reference: 'SBX:AC06',
    statuses: [...HELD_AND_SENT, 'failed'],
    journal: moved(5_001, 'L10', 'L12'),
    hold: 'captured',
    failure: 'account_blocked',
  },
  'refused by the partner': {
    amount: 1_504,
    statuses: [...HELD_AND_SENT, 'failed'],
    journal: moved(1_504, 'L10', 'L12'),
    hold: 'captured',
    failure: 'technical_error',
  },
  'the same by its token': {
    amount: 5_002,
    reference: 'SBX:PROVIDER-502',
    statuses: [...HELD_AND_SENT, 'failed'],
    journal: moved(5_002, 'L10', 'L12'),
    hold: 'captured',
    failure: 'technical_error',
  },
  'a timeout that was none': {
    amount: 1_501,
    statuses: [...HELD_AND_SENT, 'exception', 'completed'],
    journal: moved(1_501, 'L10', 'L11'),
    hold: 'captured',
  },
  'a timeout that was a refusal': {
    amount: 5_003,
    reference: 'SBX:TIMEOUT-FAIL',
    statuses: [...HELD_AND_SENT, 'exception', 'failed'],
    journal: moved(5_003, 'L10', 'L12'),
    hold: 'captured',
    failure: 'technical_error',
  },
  'a timeout without an end': {
    amount: 1_503,
    statuses: [...HELD_AND_SENT, 'exception'],
    journal: moved(1_503, 'L10'),
    hold: 'captured',
  },
  'back after it arrived': {
    amount: 5_004,
    reference: 'SBX:RET-MS03',
    statuses: [...HELD_AND_SENT, 'completed', BACK],
    journal: moved(5_004, 'L10', 'L11', 'L13'),
    hold: 'captured',
  },
  'back, less a fee': {
    amount: 1_403,
    statuses: [...HELD_AND_SENT, 'completed', BACK],
    journal: [...moved(1_403, 'L10', 'L11'), ['L13', 403]],
    hold: 'captured',
  },
  'back before it arrived': {
    amount: 5_005,
    reference: 'SBX:RET-EARLY',
    statuses: [...HELD_AND_SENT, BACK],
    journal: moved(5_005, 'L10', 'L11', 'L13'),
    hold: 'captured',
  },
  'held, and let go on': {
    amount: 1_601,
    statuses: ['processing', 'on_hold', ...HELD_AND_SENT, 'completed'],
    journal: moved(1_601, 'L10', 'L11'),
    hold: 'captured',
  },
  'held, and blocked': {
    amount: 5_006,
    reference: 'SBX:HOLD-BLOCK',
    statuses: ['processing', 'on_hold', 'failed'],
    journal: [],
    hold: 'released',
    failure: 'declined',
  },
  'held until somebody decides': { amount: 1_602, statuses: ['processing', 'on_hold'], journal: [], hold: 'active' },
  slow: {
    amount: 5_007,
    reference: 'SBX:SLOW',
    statuses: [...HELD_AND_SENT, 'completed'],
    journal: moved(5_007, 'L10', 'L11'),
    hold: 'captured',
  },
  stuck: { amount: 1_701, statuses: HELD_AND_SENT, journal: moved(1_701, 'L10'), hold: 'captured' },
}

/** The rows of each payment, by its id. */
async function written(world: World, ids: readonly string[]) {
  const rows = async <Row extends { readonly id: string }>(sql: string) =>
    Map.groupBy(await world.query<Row>(sql, [ids]), ({ id }) => id)
  const updates = await rows<{ id: string; status: string; previous: string | null }>(
    'select object_id as id, status, previous_status as previous from status_update where object_id = any($1) order by object_id, version',
  )
  const postings = await rows<{ id: string; rule: string; amount: string }>(
    'select source_id as id, rule, amount from posting where source_id = any($1) order by source_id, booked_at, rule',
  )
  const events = await rows<{ id: string; event: string }>(
    `select object_id as id, type || ' ' || status as event from outbox o where object_id = any($1) order by o.id`,
  )
  const holds = await rows<{ id: string; status: string; amount: string }>(
    'select p.id, h.status, h.amount from payment p join hold h on h.id = p.hold_id where p.id = any($1)',
  )
  return { updates, postings, events, holds }
}

/** Waits until nothing is due any more. */
const caughtUp = (world: World) =>
  until('what was due has happened', async () => {
    const [row] = await world.query<{ due: boolean }>(
      `select exists (select from sandbox_order where due_at <= $1 and state <> 'unanswered') or exists (select from partner_instruction where attention_at <= $1)
       or exists (select from compliance_hold where status = 'open' and wake_at <= $1) as due`,
      [new Date(world.now())],
    )
    return !row!.due
  })

t.test('every trigger moves its payment as it says, and each move is written whole', async (t) => {
  await using world = await createWorld()
  const { client, balances, recipients } = world.seeded
  const made = new Map<string, string>()
  for (const [name, { amount, reference = 'Invoice 42' }] of Object.entries(STORIES)) {
    const reply = await client.createPayment({ ...paymentBody(balances.EUR, recipients.EUR, amount), reference })
    t.match(reply.body, { status: 'processing' }, name)
    made.set(name, reply.body.id)
  }
  const ids = [...made.values()]
  const reached = (statuses: (name: string) => string) =>
    until(
      'every payment is where its story says',
      async () => {
        const now = new Map(
          (
            await world.query<{ id: string; status: string; sent: boolean }>(
              'select id, status, sent_at is not null as sent from payment where id = any($1)',
              [ids],
            )
          ).map((row) => [row.id, row]),
        )
        return [...made].every(([name, id]) => now.get(id)!.status === statuses(name)) ? true : null
      },
      { deadlineMs: 60_000 },
    )
  // Each is with the bank, or under review, before the clock moves on.
  await until(
    'each has left the queue',
    async () =>
      (await world.query(`select from payment where id = any($1) and status = 'processing' and sent_at is null`, [ids]))
        .length === 0,
  )
  // Seconds for what is instant, for what comes back, for the sandbox's reviewer, and for what takes a minute.
  for (const seconds of [3, 12, 20, 35]) {
    world.advance(seconds * 1_000)
    await caughtUp(world)
  }
  await reached((name) => STORIES[name]!.statuses.at(-1)!)

  const { updates, postings, events, holds } = await written(world, ids)
  for (const [name, id] of made) {
    const { statuses, journal, hold, failure, amount } = STORIES[name]!
    const log = updates.get(id)!
    t.strictSame(
      log.map(({ status }) => status),
      statuses,
      `${name}: update log`,
    )
    t.strictSame(
      log.map(({ previous }) => previous),
      [null, ...statuses.slice(0, -1)],
      `${name}: each from the one before`,
    )
    t.strictSame(
      (postings.get(id) ?? []).map(({ rule, amount: minor }) => [rule, Number(minor)]).sort(),
      [...journal].sort(),
      `${name}: journal`,
    )
    const changes = statuses.slice(1).filter((status, nth) => status !== statuses[nth])
    t.strictSame(
      events.get(id)!.map(({ event }) => event),
      [
        'payment.created processing',
        ...changes.flatMap((status) => [
          `payment.status_changed ${status}`,
          ...(['completed', 'failed', 'returned'].includes(status) ? [`payment.${status} ${status}`] : []),
        ]),
      ],
      `${name}: events`,
    )
    t.match(holds.get(id), [{ status: hold, amount: String(amount) }], `${name}: its hold`)
    const payment = await client.payment(id)
    t.match(payment, { status: statuses.at(-1), failure: failure === undefined ? null : { code: failure } }, name)
  }
  t.match((await client.post(`/payments/${made.get('held until somebody decides')!}/cancel`, {})).problem, {
    code: 'not-cancellable',
  })
  const open = Object.values(STORIES).reduce(
    (sum, { journal, hold, amount }) => {
      const rules = new Map(journal)
      const gone = (rules.get('L10') ?? 0) - (rules.get('L12') ?? 0) - (rules.get('L13') ?? 0)
      return { posted: sum.posted - gone, held: sum.held + (hold === 'active' ? amount : 0) }
    },
    { posted: 10_000_000, held: 0 },
  )
  t.match(await client.balance(balances.EUR), {
    bookBalance: { amountMinor: String(open.posted) },
    heldBalance: { amountMinor: String(open.held) },
  })
})
