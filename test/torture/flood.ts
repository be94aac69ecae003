/** Far more than a node can take, from somebody who does not wait for answers: an open loop. */
import { randomUUID } from 'node:crypto'

import { Agent, request } from 'undici'

import type { CreatedCustomer } from '../../storage/seed/seed-customers.ts'

export interface FloodReport {
  readonly sent: number
  /** Answers by status; 0 for those that never came. */
  readonly statuses: ReadonlyMap<number, number>
  /** How long a 503 took, and a 201, milliseconds, in order. */
  readonly refusedMs: readonly number[]
  readonly acceptedMs: readonly number[]
  /** 503s that do not say when to come back. */
  readonly mute: number
}

/** Sends `perSecond` transfers a second, under a key each, between the first two balances of one customer. */
export async function flood(options: {
  readonly urls: readonly string[]
  readonly customer: CreatedCustomer
  readonly perSecond: number
  readonly ms: number
}): Promise<FloodReport> {
  const { urls, customer, perSecond, ms } = options
  const agent = new Agent({ connections: 1_024, headersTimeout: 20_000, connect: { timeout: 5_000 } })
  const statuses = new Map<number, number>()
  const refusedMs: number[] = []
  const acceptedMs: number[] = []
  let mute = 0
  const pending: Promise<void>[] = []
  const body = JSON.stringify({
    fromBalanceId: customer.balanceIds[0],
    toBalanceId: customer.balanceIds[1],
    amount: { amountMinor: '1', currency: 'EUR' },
  })
  const one = async (nth: number) => {
    const start = performance.now()
    let status = 0
    try {
      const answer = await request(`${urls[nth % urls.length]}/v1/transfers`, {
        dispatcher: agent,
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'idempotency-key': randomUUID(),
          authorization: `Bearer ${customer.apiKey}`,
          'x-tenant-id': customer.id,
        },
      })
      status = answer.statusCode
      if (status === 503 && answer.headers['retry-after'] === undefined) mute += 1
      await answer.body.dump()
    } catch {
      // No answer: counted as 0.
    }
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status === 503) refusedMs.push(performance.now() - start)
    if (status === 201) acceptedMs.push(performance.now() - start)
  }
  const start = performance.now()
  for (let sent = 0; performance.now() - start < ms; ) {
    const due = Math.floor(((performance.now() - start) * perSecond) / 1_000)
    while (sent < due) pending.push(one(sent++))
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await Promise.all(pending)
  await agent.close()
  const sorted = (times: number[]) => times.sort((a, b) => a - b)
  return { sent: pending.length, statuses, refusedMs: sorted(refusedMs), acceptedMs: sorted(acceptedMs), mute }
}

export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
