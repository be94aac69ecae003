/** The addresses of the documentation and of the contract. */
import type { IntegrationLinks } from '../../storage/integration/integration-queries.ts'
import { documentation } from './deprecation.ts'

/** Returns the links of the documentation for an operator's developers. */
export function integrationLinks(baseUrl: string, problemBase: string): IntegrationLinks {
  return {
    portal: documentation('', problemBase),
    reference: `${baseUrl}/docs`,
    gettingStarted: documentation('getting-started', problemBase),
    sandbox: documentation('sandbox', problemBase),
    changelog: documentation('changelog', problemBase),
    openapi: `${baseUrl}/v1/openapi.json`,
  }
}
