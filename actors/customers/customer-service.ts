/** Customers: their settings, their onboarding and closure, and the poller that ends closures. */
import { background, type Node } from '../runtime/node.ts'
import { Closures } from './closures.ts'
import { createCustomerLife } from './customer-life.ts'
import { createSettingsCommands, createSettingsReads } from './customer-settings.ts'

/** The nouns that customers need. */
export interface CustomerServiceParts {
  readonly recipients: {
    /** Resolves when all nodes have dropped the customer's recipients from their caches. */
    forgetOf(customerId: string, version: number): Promise<void>
  }
}

export type CustomerService = ReturnType<typeof createCustomerService>

/** Creates the service. */
export function createCustomerService(node: Node, { recipients }: CustomerServiceParts) {
  const life = createCustomerLife(node)
  return {
    reads: { ...createSettingsReads(node), ...life.reads },
    commands: {
      ...createSettingsCommands({ ...node, forgetRecipientsOf: recipients.forgetOf }),
      ...life.commands,
    },
    background: [background('closures of customers', new Closures(node))],
  }
}
