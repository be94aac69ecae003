/** Reads of incoming payments. Null means: no such row in this tenant. */
import type { ListQuery, ListResult } from '../../http/list.ts'
import type { IncomingPayment, SuspenseItem, incomingPaymentList, suspenseList } from '../../http/schemas/incoming-payment.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

export interface IncomingPaymentReads {
  listIncomingPayments(query: ListQuery<typeof incomingPaymentList>): Promise<ListResult<IncomingPayment>>
  getIncomingPayment(tenant: Tenant, id: string): Promise<Versioned<IncomingPayment> | null>
  listSuspense(query: ListQuery<typeof suspenseList>): Promise<ListResult<SuspenseItem>>
  getSuspenseItem(tenant: Tenant, id: string): Promise<Versioned<SuspenseItem> | null>
}
