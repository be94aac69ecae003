/** `POST /payments` until it is accepted, against both baselines: what P1 and P2 have in common. */
import type { Operation } from '../load-plan.ts'
import { alternate } from '../measurement.ts'
import { judge, type Bench, type Result, type Target } from '../scenario.ts'
import { measureFresh, startBare, startRowLock, startService, type Subject } from '../subject.ts'

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
  const load = { operations: options.operations, connections: CONNECTIONS }
  const measured = (start: () => Promise<Subject>) => (seconds: number) =>
    measureFresh(start, (subject) => subject.measure({ ...load, seconds }))
  const { bare, rowLock, service } = await alternate(bench.seconds, {
    bare: measured(() => startBare(bench)),
    rowLock: measured(() => startRowLock(bench)),
    service: measured(() => startService(bench, { dispatch: false })),
  })
  const failures = service.failures + rowLock.failures + bare.failures
  return judge({
    id: options.id,
    scenario: options.scenario,
    value: service.rate,
    unit: 'payments/s',
    p50Ms: service.p50Ms,
    p99Ms: service.p99Ms,
    baselines: { bare: bare.rate, rowLock: rowLock.rate },
    figures: { own: service.rates, bare: bare.rates, rowLock: rowLock.rates },
    targets: options.targets,
    conditions: [
      { name: 'no failed request', holds: failures === 0, found: `${failures}` },
      ...service.conditions,
      ...rowLock.conditions,
    ],
  })
}
