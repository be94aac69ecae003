/** Reads of the calls that API keys made. */
import type { ApiKeyRequestLog, ApiUsageReport, IntegrationHome } from '../../lib/integration/api-usage-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/** Reads of what keys have called. */
export interface IntegrationQueries {
  /** Null when the key is not the tenant's; an operator has those of its customers, too. */
  apiKeyRequests(tenant: Tenant, apiKeyId: string, question: RequestLogQuestion): Promise<ApiKeyRequestLog | null>
  apiUsage(tenant: Tenant, question: UsageQuestion): Promise<ApiUsageReport>
  integrationHome(operatorId: string): Promise<IntegrationHome>
}

/** What is asked of a key's log. */
export interface RequestLogQuestion {
  readonly limit: number
  readonly outcome: 'success' | 'client_error' | 'server_error' | 'rate_limited' | null
}

/** What a usage report is about: days in UTC, both ends included; null for all. */
export interface UsageQuestion {
  readonly from: string
  readonly to: string
  readonly apiKeyId: string | null
  readonly environment: 'live' | 'test' | null
  readonly customerId: string | null
}
