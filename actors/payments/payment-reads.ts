/** The reads of payments. Null means: no such row in this tenant. */
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Payment, paymentList } from '../../lib/payments/payment-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

export interface PaymentReads {
  listPayments(query: ListQuery<typeof paymentList>): Promise<ListResult<Payment>>
  getPayment(tenant: Tenant, id: string): Promise<Versioned<Payment> | null>
}
