/** `POST /payments` until it is accepted, against both baselines: what P1 and P2 have in common. */
import type { Operation } from '../load-plan.ts'
import { alternate } from '../measurement.ts'
import { judge, type Bench, type Result, type Target } from '../scenario.ts'
import { startBare, startRowLock, startService } from '../subject.ts'

const CONNECTIONS = 64

export async function comparePayments(
  bench: Bench,
  options: {
    readonly id: string
    readonly scenario: string
    readonly operations: readonly Operation[]
    readonly targets: readonly Target[]
  },
): Promise<Result> {
  await using bare = await startBare(bench)
  await using rowLock = await startRowLock(bench)
  await using service = await startService(bench, { dispatch: false })
  const load = { operations: options.operations, connections: CONNECTIONS }
  const measured = await alternate(bench.seconds, {
    bare: (seconds) => bare.measure({ ...load, seconds }),
    rowLock: (seconds) => rowLock.measure({ ...load, seconds }),
    service: (seconds) => service.measure({ ...load, seconds }),
  })
  const failures = measured.service.failures + measured.rowLock.failures + measured.bare.failures
  return judge({
    id: options.id,
    scenario: options.scenario,
    value: measured.service.rate,
    unit: 'payments/s',
    p50Ms: measured.service.p50Ms,
    p99Ms: measured.service.p99Ms,
    baselines: { bare: measured.bare.rate, rowLock: measured.rowLock.rate },
    targets: options.targets,
    conditions: [
      { name: 'no failed request', holds: failures === 0, found: `${failures}` },
      ...(await service.conditions()),
      ...(await rowLock.conditions()),
    ],
  })
}
