/** Funds requests: their reads and commands, and the poller that reminds and ends them. */
import { background, type Node } from '../runtime/node.ts'
import { createFundsRequestCommands, createFundsRequestReads } from './funds-request-operations.ts'
import type { FundsRequestDeps } from './funds-request-changes.ts'
import { FundsRequests } from './funds-request-poller.ts'

/** The nouns that funds requests need. */
export interface FundsRequestServiceParts {
  readonly operators: { readonly reads: Pick<FundsRequestDeps, 'hasFeature'> }
}

export type FundsRequestService = ReturnType<typeof createFundsRequestService>

/** Creates the service. */
export function createFundsRequestService(node: Node, { operators }: FundsRequestServiceParts) {
  const deps: FundsRequestDeps = {
    ...node,
    linkKey: node.secrets.derive('links of funds requests', 32),
    origin: () => node.origin(),
    hasFeature: operators.reads.hasFeature,
  }
  return {
    reads: createFundsRequestReads(deps),
    commands: createFundsRequestCommands(deps),
    background: [background('funds requests', new FundsRequests(node))],
  }
}
