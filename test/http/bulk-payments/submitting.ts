/** The parts that tests of submitted bulk payments share. */
import { randomUUID } from 'node:crypto'
import type { Approval } from '../../../lib/approvals/approval-schema.ts'
import type { BulkPayment } from '../../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Client, Reply } from '../../support/client.ts'
import { until } from '../../support/until.ts'
import { readBulk, sendRows, validated } from './support.ts'

export interface Accepted {
  readonly bulkPayment: BulkPayment
  readonly job: Job
  readonly approval: Approval | null
}

/** A row as a client sends it; the amount in major units. */
export const row = (recipientId: string, euro: number | string, more: Readonly<Record<string, string>> = {}) => ({
  recipientId,
  currency: 'EUR',
  amount: String(euro),
  reference: 'Invoice 42',
  ...more,
})

/** Sends rows in and waits until they have been checked. */
export async function checked(client: Client, body: Readonly<Record<string, unknown>>): Promise<BulkPayment> {
  return await validated(client, (await sendRows(client, { allowDuplicate: true, ...body })).body)
}

/** Waits until its run has come to its end. */
export async function settled(client: Client, id: string): Promise<BulkPayment> {
  return await until('the end of the run', async () => {
    const bulk = await readBulk(client, id)
    return bulk.status === 'submitting' ? null : bulk
  })
}

/** Waits until a run that the sandbox lets stall has made its first payment. */
export async function stalled(client: Client, id: string): Promise<BulkPayment> {
  return await until('a run that stands still', async () => {
    const bulk = await readBulk(client, id)
    return bulk.counts.submitted + bulk.counts.failed > 0 ? bulk : null
  })
}

export function submit(client: Client, id: string, key: string = randomUUID()): Promise<Reply<Accepted>> {
  return client.post<Accepted>(`/bulk-payments/${id}/submit`, undefined, key)
}

/** Submits it and waits until its run has come to its end. @throws when it is not taken */
export async function submitted(client: Client, id: string): Promise<BulkPayment> {
  return await settled(client, (await submit(client, id)).body.bulkPayment.id)
}

export async function paymentsOf(client: Client, id: string): Promise<readonly Payment[]> {
  return (await client.list<Payment>('/payments', { 'filter[bulkPaymentId]': id, limit: 100 })).body.data
}
