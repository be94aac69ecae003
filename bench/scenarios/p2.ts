/** P2: a thousand balances of a hundred customers, so that all lanes work and row locks seldom meet. */
import type { Scenario } from '../scenario.ts'
import { paymentOperation } from '../subject.ts'
import { comparePayments } from './accepted.ts'

export const p2: Scenario = {
  id: 'P2',
  title: 'POST /payments, 1 000 balances, 64 connections',
  run: async (bench) => [
    await comparePayments(bench, {
      id: 'P2',
      scenario: p2.title,
      operations: bench.databases.payers.map(paymentOperation),
      targets: [
        { baseline: 'rowLock', times: 4, direction: 'atLeast' },
        { baseline: 'bare', times: 0.33, direction: 'atLeast' },
      ],
    }),
  ],
}
