/** A connection of the adapter to the false Column, through the client that the service uses, and orders for it. */
import type { AdapterConnection } from '../../../actors/providers/adapters/adapter.ts'
import { columnAdapter } from '../../../actors/providers/adapters/column/column-adapter.ts'
import type { OrderQuestion, PaymentOrder } from '../../../actors/providers/bank.ts'
import { CallLimiter } from '../../../actors/providers/io/call-limiter.ts'
import { PartnerHttpClient } from '../../../actors/providers/io/partner-http-client.ts'
import type { ProviderCall } from '../../../lib/providers/provider-call.ts'
import { redactor } from '../../../lib/providers/redaction.ts'
import { NO_FILES } from '../no-files.ts'
import { ACCOUNT, API_KEY } from './fake-column.ts'

export const CONNECTION_ID = '0198a000-0000-7000-8000-00000000c01a'

export interface ColumnConnection {
  readonly connection: AdapterConnection
  /** What was recorded of the calls. */
  readonly calls: readonly Omit<ProviderCall, 'id'>[]
  close(): Promise<void>
}

/** Opens a connection. `change`: another key, or another account. */
export function openColumn(
  baseUrl: string,
  now: () => number,
  change: { readonly apiKey?: string; readonly accountRef?: string } = {},
): ColumnConnection {
  const apiKey = change.apiKey ?? API_KEY
  const calls: Omit<ProviderCall, 'id'>[] = []
  const clients: PartnerHttpClient[] = []
  // The rate of the bank would only make the tests wait.
  const limiter = new CallLimiter({ perSecond: 10_000, concurrent: 10, share: () => 1 })
  const accountRef = change.accountRef ?? ACCOUNT
  const connection = columnAdapter.open(
    {
      id: CONNECTION_ID,
      operatorId: '0198a000-0000-7000-8000-00000000000a',
      environment: 'sandbox',
      config: { baseUrl, settlementAccounts: [{ currency: 'USD', accountRef }] },
      credentials: { apiKey },
    },
    {
      http(endpoint) {
        const client = new PartnerHttpClient(
          {
            connectionId: CONNECTION_ID,
            targets: { policy: 'any', networks: [] },
            concurrent: 10,
            limiter,
            redact: redactor([apiKey]),
            clock: { now },
            record: (call) => calls.push(call),
            report: () => undefined,
          },
          endpoint,
        )
        clients.push(client)
        return client
      },
      files: NO_FILES,
    },
  )
  return {
    connection,
    calls,
    async close() {
      limiter.close()
      await Promise.all(clients.map((client) => client.close()))
    },
  }
}

/** An order of 12.34 dollars. */
export const columnOrder = (
  reference: string,
  payee: { readonly type?: 'business' | 'individual'; readonly account?: object } = {},
): PaymentOrder => ({
  reference,
  shard: 1,
  connectionId: CONNECTION_ID,
  rail: 'ach',
  currency: 'USD',
  amount: 1_234n,
  creditorName: 'Grace Hopper',
  remittance: 'Invoice 42 – May',
  parties: {
    debtor: { name: 'Acme Inc', address: null, account: null },
    creditor: {
      name: 'Grace Hopper',
      type: payee.type ?? 'individual',
      address: null,
      bankCountry: 'US',
      account: payee.account ?? { routingNumber: '099000011', accountNumber: '123456789', accountType: 'savings' },
      bankAddress: null,
    },
    endToEndId: 'PAY-1',
    uetr: null,
    purposeCode: null,
    purpose: null,
    chargeBearer: 'shared',
    executionDate: '2026-08-24',
    bulkPaymentId: null,
  },
})

/** The question about an order that was sent at a time. */
export const columnQuestion = (
  reference: string,
  sentAt: number,
  providerRef: string | null = null,
): OrderQuestion => ({
  reference,
  connectionId: CONNECTION_ID,
  providerRef,
  rail: 'ach',
  currency: 'USD',
  amount: 1_234n,
  sentAt,
})
