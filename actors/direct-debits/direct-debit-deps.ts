/** The dependencies of the use cases of direct debits. */
import type { MandateManagement, MandateScheme } from '../../lib/rails/debit-schemes.ts'
import type { ProviderId } from '../../lib/providers/provider.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import type { DebitMoverDeps } from './debit-mover.ts'

export interface DirectDebitDeps extends DebitMoverDeps {
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
  readonly random: (bytes: number) => Uint8Array
  /** Tells who manages mandates of a scheme on a connection of a provider. */
  readonly managementOf: (provider: ProviderId, scheme: MandateScheme) => MandateManagement
  /** Tells whether the bank of a connection is given each mandate by an order. */
  readonly isOrdered: (provider: ProviderId, scheme: MandateScheme) => boolean
}
