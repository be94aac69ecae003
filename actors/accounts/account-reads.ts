/** The reads of accounts. Null means: no such row in this tenant. */
import type { AccountDetails } from '../../lib/accounts/account-details-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

export interface AccountReads {
  /** Null when the balance itself is not the tenant's. */
  getAccountDetails(tenant: Tenant, balanceId: string): Promise<readonly AccountDetails[] | null>
}
