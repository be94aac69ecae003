/** The sandbox's rule for webhooks, chosen by the address of the endpoint. */
import type { CatalogueRule } from './triggers.ts'

/** A URL whose path has this end is answered by the sandbox itself, with a 500. */
export const FAILING_PATH = '/sbx-fail'

/** Describes this rule, for the catalogue that integrators read. */
export function webhookRules(): readonly CatalogueRule[] {
  return [
    {
      topic: 'webhooks',
      rule: `url whose path ends with ${FAILING_PATH}: nothing is sent, and each attempt is recorded as a 500`,
    },
  ]
}
