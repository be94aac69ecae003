/** Integration: the calls that API keys made, their use by operation, and the overview for an operator's developers. */
import { createIntegrationReads, type IntegrationOptions } from '../../storage/integration/integration-queries.ts'
import type { Node } from '../runtime/node.ts'

export type IntegrationService = ReturnType<typeof createIntegrationService>

/** Creates the service. `links`: the addresses of the documentation, known once the node listens. */
export function createIntegrationService(node: Node, parts: Pick<IntegrationOptions, 'deprecated' | 'links'>) {
  return { reads: createIntegrationReads({ ...node, ...parts }) }
}
