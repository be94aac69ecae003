/** A connection of the adapter to the false ClearBank, through the client that the service uses. */
import type { AdapterConnection } from '../../../actors/providers/adapters/adapter.ts'
import { clearbankAdapter } from '../../../actors/providers/adapters/clearbank/clearbank-adapter.ts'
import { CallLimiter } from '../../../actors/providers/io/call-limiter.ts'
import { PartnerHttpClient } from '../../../actors/providers/io/partner-http-client.ts'
import type { ProviderCall } from '../../../lib/providers/provider-call.ts'
import { redactor, textsIn } from '../../../lib/providers/redaction.ts'
import type { FakeClearbank } from './fake-clearbank.ts'
import { CLEARBANK_CONNECTION } from './clearbank-orders.ts'
import { NO_FILES } from '../no-files.ts'

export interface ClearbankConnection {
  readonly connection: AdapterConnection
  /** What was recorded of the calls. */
  readonly calls: readonly Omit<ProviderCall, 'id'>[]
  close(): Promise<void>
}

/**
 * Opens a connection with the bank's own settings.
 *
 * @param change credentials or configuration in their place
 */
export function openConnection(
  bank: FakeClearbank,
  baseUrl: string,
  now: () => number,
  change: { readonly credentials?: object | null; readonly timeoutMs?: number } = {},
): ClearbankConnection {
  const credentials = change.credentials === undefined ? bank.credentials() : change.credentials
  const calls: Omit<ProviderCall, 'id'>[] = []
  const clients: PartnerHttpClient[] = []
  const { concurrent } = clearbankAdapter.description.rate ?? { concurrent: 1 }
  // The rate of the bank would only make the tests wait.
  const limiter = new CallLimiter({ perSecond: 10_000, concurrent, share: () => 1 })
  const connection = clearbankAdapter.open(
    {
      ...CLEARBANK_CONNECTION,
      config: { ...bank.config(baseUrl), timeoutMs: change.timeoutMs ?? 10_000 },
      credentials,
    },
    {
      http(endpoint) {
        const client = new PartnerHttpClient(
          {
            connectionId: CLEARBANK_CONNECTION.id,
            targets: { policy: 'any', networks: [] },
            concurrent,
            limiter,
            redact: redactor(textsIn(credentials)),
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
