/** Direct debits that customers collect: mandates, collections, and the inbox of what banks tell about them. */
import type { MandateManagement, MandateScheme } from '../../lib/rails/debit-schemes.ts'
import { PROVIDER_DESCRIPTIONS } from '../../lib/providers/descriptions.ts'
import type { ProviderId } from '../../lib/providers/provider.ts'
import type { Node } from '../runtime/node.ts'
import { DebitInbox, type ReturnTermsOf } from './debit-inbox.ts'
import { DebitMover } from './debit-mover.ts'
import { createDirectDebitCommands, createDirectDebitReads } from './direct-debit-operations.ts'

/** Mandates of a scheme that the provider of the connection does not name are managed by this service. */
const managementOf = (provider: ProviderId, scheme: MandateScheme): MandateManagement =>
  PROVIDER_DESCRIPTIONS[provider].debits[scheme]?.management ?? 'client'

export interface DirectDebitServiceParts {
  /** Fees and retries of returned collections; without them a return costs nothing and is not presented again. */
  readonly returnTermsOf?: ReturnTermsOf
}

export type DirectDebitService = ReturnType<typeof createDirectDebitService>

/** Creates the service. */
export function createDirectDebitService(node: Node, parts: DirectDebitServiceParts = {}) {
  // A bank that is sent nothing reports nothing, so its reports are not waited for.
  const isOrdered = (provider: ProviderId, scheme: MandateScheme): boolean =>
    node.dispatch && PROVIDER_DESCRIPTIONS[provider].debits[scheme]?.travelBy === 'orders'
  const deps = { ...node, ...parts, managementOf, isOrdered }
  const inbox = new DebitInbox(deps)
  return {
    reads: createDirectDebitReads(deps),
    commands: createDirectDebitCommands(deps, node.answers),
    /** For tasks, files and simulations. */
    mover: new DebitMover(deps),
    inbox,
  }
}
