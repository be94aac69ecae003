/** P1: one hot balance. Everybody pays from the same one, which is where a lock per request hurts most. */
import type { Scenario } from '../scenario.ts'
import { paymentOperation } from '../subject.ts'
import { comparePayments } from './accepted.ts'

export const p1: Scenario = {
  id: 'P1',
  title: 'POST /payments, one hot balance, 64 connections',
  run: async (bench) => [
    await comparePayments(bench, {
      id: 'P1',
      scenario: p1.title,
      operations: [paymentOperation(bench.databases.payers[0]!)],
      targets: [
        { baseline: 'rowLock', times: 8, direction: 'atLeast' },
        { baseline: 'bare', times: 0.35, direction: 'atLeast' },
      ],
    }),
  ],
}
