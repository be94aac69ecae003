/** The overview of an operator: its customers, what waits for people, and what was paid. */
import { DAY_MS, timestamp } from '../../lib/base/clock.ts'
import { type OperatorStatistics, type WaitingKind, WAITING } from '../../lib/statistics/statistics-schema.ts'
import {
  countActivity,
  countOperator,
  type ActivityCounts,
  type Volume,
} from '../../storage/statistics/operator-counts.ts'
import type { Node } from '../runtime/node.ts'

type Activity = NonNullable<OperatorStatistics['activity']>

export interface StatisticsService {
  readonly reads: {
    /** Reads the statistics of an operator, with the payments of the last `days`. @throws DatabaseUnavailable */
    getOperatorStatistics(operatorId: string, days: number): Promise<OperatorStatistics>
  }
}

/** Creates the service. */
export const createStatisticsService = (node: Pick<Node, 'database' | 'clock'>): StatisticsService => ({
  reads: { getOperatorStatistics: (operatorId, days) => operatorStatistics(node, operatorId, days) },
})

async function operatorStatistics(
  { database, clock }: Pick<Node, 'database' | 'clock'>,
  operatorId: string,
  days: number,
): Promise<OperatorStatistics> {
  const now = clock.now()
  const since = now - days * DAY_MS
  const { customers, waiting } = await countOperator(database, operatorId)
  const activity = await countActivity(database, operatorId, since)
  const queues = new Map(waiting.map((queue) => [queue.queue, queue]))
  return {
    asOf: timestamp(now),
    customers: {
      total: customers.reduce((total, { count }) => total + count, 0),
      byStatus: [...customers].sort((one, other) => (one.status < other.status ? -1 : 1)),
    },
    waiting: Object.fromEntries(
      WAITING.map((name) => {
        const { count = 0, oldest_ms: oldestMs = null } = queues.get(name) ?? {}
        return [name, { count, oldestAt: oldestMs === null ? null : timestamp(oldestMs) }]
      }),
    ) as Record<WaitingKind, OperatorStatistics['waiting'][WaitingKind]>,
    activity: activity === null ? null : { from: timestamp(since), to: timestamp(now), ...activityOf(activity) },
  }
}

function activityOf({ payments, credits }: ActivityCounts): Pick<Activity, 'payments' | 'incomingPayments'> {
  const byStatus = Map.groupBy(payments, ({ status }) => status)
  return {
    payments: [...byStatus].map(([status, volumes]) => ({
      status: status as Activity['payments'][number]['status'],
      ...summed(volumes),
    })),
    incomingPayments: summed(credits),
  }
}

const summed = (volumes: readonly Volume[]) => ({
  count: volumes.reduce((total, { count }) => total + count, 0),
  amounts: volumes.map(({ currency, amount }) => ({ amountMinor: amount, currency })),
})
