/**
 * Judges the return rates of customers: staff are warned before a limit of the scheme is reached, and a customer who has
 * reached it makes no further collections. Judged when a collection comes back, and once a day while the rate is high,
 * because old returns count no longer. Each judgement is one transaction under the lock of the customer's standing.
 */
import { DAY_MS, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import { judgeReturns, RETURN_RATE_DAYS, type ReturnVerdict } from '../../lib/direct-debits/return-rates.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import type { Database } from '../../storage/db/database.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import {
  countReturns,
  lockStanding,
  standingsToJudge,
  writeStanding,
} from '../../storage/direct-debits/return-standings.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import type { Task } from '../runtime/tasks.ts'

/** The staff who are told of a high rate. */
const ROLES = ['operator_admin', 'treasury']

export interface ReturnRateDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly onError: (error: unknown, what: string) => void
}

/** The customer and the scheme whose returns are judged. */
export type JudgedReturns = Pick<CollectionRecord, 'customerId' | 'operatorId' | 'scheme'>

/** Judges the returns of a customer in a scheme, and tells staff when the standing has become worse. */
export async function judgeCustomer(
  { database, clock, ids }: Omit<ReturnRateDeps, 'onError'>,
  { customerId, operatorId, scheme }: JudgedReturns,
): Promise<ReturnVerdict['level']> {
  const { name, returnLimits } = DEBIT_SCHEMES[scheme]
  if (returnLimits.length === 0) return 'fine'
  return await inTransaction(database, async (client) => {
    const now = clock.now()
    const before = await lockStanding(client, { customerId, scheme })
    const counts = await countReturns(client, { customerId, scheme, since: now - RETURN_RATE_DAYS * DAY_MS })
    const verdict = judgeReturns(returnLimits, counts)
    const { level, limit, bps } = verdict
    if (level === 'fine' && before === 'fine') return level
    await writeStanding(client, { customerId, operatorId, scheme, verdict, now })
    if (limit !== null && RANK[level] > RANK[before])
      await insertNotices(
        client,
        ids,
        await peopleInRoles(client, operatorId, ROLES),
        {
          tenantId: operatorId,
          type: 'return_rate_high',
          object: { type: 'customer', id: customerId },
          title: level === 'stopped' ? `${name}: a customer was stopped` : `${name}: many returns of a customer`,
          text:
            `${percent(bps)} of its collections of the last ${RETURN_RATE_DAYS} days came back (${limit.group}); ` +
            `the scheme allows ${percent(limit.bps)}.` +
            (level === 'stopped' ? ' New collections of the customer are refused.' : ''),
        },
        now,
      )
    return level
  })
}

const RANK = { fine: 0, warned: 1, stopped: 2 } as const satisfies Record<ReturnVerdict['level'], number>

const percent = (bps: number): string => `${bps / 100} %`

/** The task that judges high rates again each day. */
export function returnRateTask(deps: ReturnRateDeps): Task {
  return {
    name: 'direct-debits.return-rates',
    cron: '17 3 * * *',
    run: async () => {
      for (const standing of await standingsToJudge(deps.database))
        await judgeCustomer(deps, standing).catch((error: unknown) =>
          deps.onError(error, `return rate of customer ${standing.customerId}`),
        )
    },
  }
}
