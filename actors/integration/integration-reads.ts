/** The reads of the calls that API keys made. */
import type { ApiKeyRequestLog, ApiUsageReport, IntegrationHome } from '../../lib/integration/api-usage-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** The reads of the request log and of usage. */
export interface IntegrationQueries {
  /** Null when the key is not the tenant's; an operator also has the keys of its customers. */
  apiKeyRequests(tenant: Tenant, apiKeyId: string, question: RequestLogQuestion): Promise<ApiKeyRequestLog | null>
  apiUsage(tenant: Tenant, question: UsageQuestion): Promise<ApiUsageReport>
  integrationHome(operatorId: string): Promise<IntegrationHome>
}

/** The query of a key's request log. */
export interface RequestLogQuestion {
  readonly limit: number
  readonly outcome: 'success' | 'client_error' | 'server_error' | 'rate_limited' | null
}

/** The period of a usage report: days in UTC, both ends included; and its key, null for all keys. */
export interface UsageQuestion {
  readonly from: string
  readonly to: string
  readonly apiKeyId: string | null
  readonly environment: 'live' | 'test' | null
  readonly customerId: string | null
}
