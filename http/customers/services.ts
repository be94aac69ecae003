/** Services of customers for handlers. */
import type { CustomerService } from '../../actors/customers/customer-service.ts'

declare module '../route/services.ts' {
  interface Nouns {
    readonly customers: CustomerService
  }
}
