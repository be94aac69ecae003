/** Shifts of the sandbox market's rates from their base, as rows: one for a pair and its inverse. */
import type { RateShift } from '../../lib/exchange/market.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { Queries } from '../db/transaction.ts'
import { expression, instantOrNull, select } from '../db/select.ts'

const SHIFT = select({
  connectionId: expression<string>('connection_id'),
  sellCurrency: expression<string>('sell_currency'),
  buyCurrency: expression<string>('buy_currency'),
  shiftBps: expression<number>('shift_bps'),
  until: instantOrNull('until'),
})

/** Reads all shifts, by connection. */
export async function readRateShifts(database: Queries): Promise<ReadonlyMap<string, readonly RateShift[]>> {
  const rows = await database.query({
    name: 'read_rate_shifts',
    values: [],
    text: `select ${SHIFT.sql} from fx_rate_shift`,
  })
  const shifts = new Map<string, RateShift[]>()
  for (const row of rows) {
    const { connectionId, ...shift } = SHIFT.read(row)
    const known = shifts.get(connectionId)
    if (known === undefined) shifts.set(connectionId, [shift])
    else known.push(shift)
  }
  return shifts
}

/** Writes one shift; 0 returns the pair to its base rate. A shift of the inverse pair is replaced. */
export async function writeRateShift(
  database: Queries,
  connectionId: string,
  { sellCurrency, buyCurrency, shiftBps, until }: RateShift,
): Promise<void> {
  await database.query({
    name: 'write_rate_shift',
    values: [connectionId, sellCurrency, buyCurrency, shiftBps, until === null ? null : timestamp(until)],
    text: `with inverse as (delete from fx_rate_shift where connection_id = $1 and sell_currency = $3 and buy_currency = $2)
      insert into fx_rate_shift (connection_id, sell_currency, buy_currency, shift_bps, until) values ($1, $2, $3, $4, $5)
      on conflict (connection_id, sell_currency, buy_currency) do update set shift_bps = excluded.shift_bps, until = excluded.until`,
  })
}
