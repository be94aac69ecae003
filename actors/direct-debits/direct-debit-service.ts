/** Direct debits that customers collect: mandates, collections, and the inbox of what banks tell about them. */
import type { MandateManagement, MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { PROVIDER_DESCRIPTIONS } from '../../lib/providers/descriptions.ts'
import type { ProviderId } from '../../lib/providers/provider.ts'
import type { Node } from '../runtime/node.ts'
import { DebitInbox, type DebitInboxDeps } from './debit-inbox.ts'
import type { DirectDebitDeps } from './direct-debit-deps.ts'
import { DebitMover } from './debit-mover.ts'
import { DueDebits } from './due-debits.ts'
import { PreNotifications } from './pre-notifications.ts'
import { returnRateTask } from './return-rates.ts'
import { returnTermsOf } from './return-terms.ts'
import { createDirectDebitCommands, createDirectDebitReads } from './direct-debit-operations.ts'

/** Mandates of a scheme that the provider of the connection does not name are managed by this service. */
const managementOf = (provider: ProviderId, scheme: MandateScheme): MandateManagement =>
  PROVIDER_DESCRIPTIONS[provider].debits[scheme]?.management ?? 'client'

export type DirectDebitService = ReturnType<typeof createDirectDebitService>

/** Creates the service. */
export function createDirectDebitService(node: Node) {
  // A bank that is sent nothing reports nothing, so its reports are not waited for.
  const isOrdered = (provider: ProviderId, scheme: MandateScheme): boolean =>
    node.dispatch && PROVIDER_DESCRIPTIONS[provider].debits[scheme]?.travelBy === 'orders'
  const deps: DirectDebitDeps & DebitInboxDeps = {
    ...node,
    managementOf,
    isOrdered,
    returnTermsOf: async (collection, _mandate, message) => await returnTermsOf(node, collection, message),
  }
  const mover = new DebitMover(deps)
  const inbox = new DebitInbox(deps)
  const due = new DueDebits({ ...node, mover, notices: new PreNotifications(node) })
  return {
    /** For files of mandates and collections. */
    deps,
    reads: createDirectDebitReads(deps),
    commands: createDirectDebitCommands(deps, node.answers),
    /** For tasks, files and simulations. */
    mover,
    inbox,
    tasks: [...due.tasks(), returnRateTask(node)],
  }
}
