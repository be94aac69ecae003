/** The books of the operator as a whole, for tests: reconciliations of days that have ended. */
import type { Reconciliation, ReconciliationBreak } from '../../../lib/reconciliation/reconciliation-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

const DAY_MS = 86_400_000

/** Lets the day end. @returns it, `YYYY-MM-DD` */
export function endDay(world: World): string {
  const day = new Date(world.now()).toISOString().slice(0, 10)
  world.advance(Date.parse(day) + DAY_MS + 3_600_000 - world.now())
  return day
}

/** Asks for a day that has ended, and waits for its reconciliation. */
export async function reconcile(world: World, day: string, currency = 'EUR'): Promise<Reconciliation> {
  const asked = await world.operator.post('/reconciliations', { currency, until: day })
  if (asked.status !== 202) throw new Error(asked.text)
  let found: Reconciliation | undefined
  await until(
    `the reconciliation of ${day}`,
    async () => {
      found = (
        await world.operator.get<PageBody<Reconciliation>>(
          `/reconciliations?filter[currency]=${currency}&filter[dayFrom]=${day}&filter[dayTo]=${day}`,
        )
      ).body.data[0]
      return found !== undefined && found.finishedAt !== null
    },
    { deadlineMs: 20_000, pollMs: 100 },
  )
  return found!
}

/** The differences at the end of their day, in their present state, oldest first. */
export async function breaksOf(
  world: World,
  { id }: Pick<Reconciliation, 'id'>,
): Promise<readonly ReconciliationBreak[]> {
  return (
    await world.operator.get<PageBody<ReconciliationBreak>>(`/reconciliations/${id}/breaks?sort=createdAt&limit=100`)
  ).body.data
}

/** The bank books something by itself, now. */
export async function bankBooks(
  world: World,
  direction: 'CRDT' | 'DBIT',
  minor: number,
  reference: string = crypto.randomUUID(),
  currency = 'EUR',
): Promise<string> {
  await world.query(
    `insert into sandbox_booking (id, connection_id, currency, reference, direction, amount, booked_at, code, text)
     select gen_random_uuid(), connection_id, $6, $1, $2, $3, $4, 'TEST', 'Something of the bank''s own' from balance where id = $5`,
    [reference, direction, minor, new Date(world.now()), world.seeded.balances.EUR, currency],
  )
  return reference
}

/** The amount on an account of the chart in euro, by its side. */
export async function onAccount(world: World, account: string): Promise<bigint> {
  const { rows } = (
    await world.operator.get<{
      rows: readonly { account: string; currency: string; balance: { amountMinor: string } }[]
    }>('/ledger/trial-balance')
  ).body
  return rows
    .filter((row) => row.account === account && row.currency === 'EUR')
    .reduce((sum, { balance }) => sum + BigInt(balance.amountMinor), 0n)
}
