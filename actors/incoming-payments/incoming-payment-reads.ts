/** The reads of incoming payments. Null means: no such row in this tenant. */
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  IncomingPayment,
  SuspenseItem,
  incomingPaymentList,
  suspenseList,
} from '../../lib/incoming-payments/incoming-payment-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

export interface IncomingPaymentReads {
  listIncomingPayments(query: ListQuery<typeof incomingPaymentList>): Promise<ListResult<IncomingPayment>>
  getIncomingPayment(tenant: Tenant, id: string): Promise<Versioned<IncomingPayment> | null>
  listSuspense(query: ListQuery<typeof suspenseList>): Promise<ListResult<SuspenseItem>>
  getSuspenseItem(tenant: Tenant, id: string): Promise<Versioned<SuspenseItem> | null>
}
