/** Asks about payees through the connection that routing gives for it, whose provider has the scheme. */
import type { Clock } from '../../lib/base/clock.ts'
import type { PayeeVerifier } from './bank.ts'
import type { OpenConnections } from './open-connections.ts'
import type { RoutingTable } from './routing/routing-table.ts'

export interface PayeeCheckOptions {
  readonly clock: Clock
  readonly routing: Pick<RoutingTable, 'connectionFor'>
  readonly connections: Pick<OpenConnections, 'open'>
}

/** Creates the port. */
export function createPayeeChecks({ clock, routing, connections }: PayeeCheckOptions): PayeeVerifier {
  return {
    async verifyPayee(question, { operatorId, customerId, currency }) {
      const id = await routing.connectionFor(operatorId, { customerId, currency, capability: question.scheme })
      const opened = id === null ? null : await connections.open(id)
      return (await opened?.adapter.verifyPayee?.(question, clock.now())) ?? 'not_offered'
    },
  }
}
