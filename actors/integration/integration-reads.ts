/** The reads of the calls that API keys made. */
import type { ApiKeyRequestLog, ApiUsageReport, IntegrationHome } from '../../lib/integration/api-usage-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { UsageReportQuery } from '../../storage/integration/request-log.ts'

/** The reads of the request log and of usage. */
export interface IntegrationQueries {
  /** Null when the key is not the tenant's; an operator also has the keys of its customers. */
  apiKeyRequests(tenant: Tenant, apiKeyId: string, question: RequestLogQuestion): Promise<ApiKeyRequestLog | null>
  apiUsage(tenant: Tenant, question: UsageReportQuery): Promise<ApiUsageReport>
  integrationHome(operatorId: string): Promise<IntegrationHome>
}

/** The query of a key's request log. */
export interface RequestLogQuestion {
  readonly limit: number
  readonly outcome: 'success' | 'client_error' | 'server_error' | 'rate_limited' | null
}
