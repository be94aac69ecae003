/** Customers: how they are made and steered, their settings and closure, and the poller that ends closures. */
import { refuseNotFound, type Problem } from '../../lib/base/problems.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { ListResult } from '../../lib/contract/list.ts'
import type { Measure } from '../../lib/customers/customer.ts'
import type {
  Customer,
  CustomerCreate,
  CustomerMeasure,
  CustomerRisk,
  CustomerUpdate,
  OwnerInvitation,
} from '../../lib/customers/customer-schema.ts'
import { moneyProblem, type MoneyUse } from '../../lib/customers/money-access.ts'
import { type Caller, seesOperatorFields } from '../../lib/identity/caller.ts'
import { listCustomers, readCustomer, type CustomerListQuery } from '../../storage/customers/customer-queries.ts'
import { createCustomerStatusCache } from '../../storage/customers/customer-status-cache.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { background, type Node } from '../runtime/node.ts'
import { changeCustomer, rateRisk, steerCustomer } from './change-customer.ts'
import { Closures } from './closures.ts'
import { createCustomer } from './create-customer.ts'
import type { CustomerDeps } from './customer-deps.ts'
import { createCustomerLife } from './customer-life.ts'
import { createSettingsCommands, createSettingsReads } from './customer-settings.ts'
import { resendOwnerInvitation } from './owner-invitation.ts'

/** The NOTIFY channel for a customer's new status: its id and its version. */
const CUSTOMER_CHANGED = 'customer_changed'
/** The time that a measure waits for other nodes. A node that does not answer learns of it when it is back. */
const HEARD_WITHIN_MS = 1_000

/** The nouns that customers need. */
export interface CustomerServiceParts {
  readonly recipients: {
    /** Resolves when all nodes have dropped the customer's recipients from their caches. */
    forgetOf(customerId: string, version: number): Promise<void>
  }
}

/** The reads of customers themselves. */
export interface CustomerReads {
  listCustomers(query: CustomerListQuery): Promise<ListResult<Customer>>
  /**
   * Null when the tenant is neither the customer nor its operator. The risk is shown to the operator alone.
   */
  getCustomer(reader: Pick<Caller, 'tenant' | 'session'>, customerId: string): Promise<Versioned<Customer> | null>
  /** Returns the problem of a use of money for a customer as it stands; null when the customer may. */
  moneyProblem(customerId: string, use: MoneyUse): Promise<Problem | null>
}

/** The writes, for a customer that the caller reaches. Every refusal is thrown as a problem. */
export interface CustomerCommands {
  create(by: Caller, command: Command<CustomerCreate>): Promise<CommandAnswer<Customer, 201>>
  update(
    by: Caller<'person'>,
    customerId: string,
    body: CustomerUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<Customer>>
  steer(by: Caller<'person'>, customerId: string, measure: Measure, body: CustomerMeasure): Promise<Versioned<Customer>>
  rate(by: Caller<'person'>, customerId: string, body: CustomerRisk): Promise<Versioned<Customer>>
  resendInvitation(by: Caller<'person'>, customerId: string, body: OwnerInvitation): Promise<Versioned<Customer>>
}

export type CustomerService = ReturnType<typeof createCustomerService>

/** Creates the service. */
export function createCustomerService(node: Node, { recipients }: CustomerServiceParts) {
  const { database, listener } = node
  const life = createCustomerLife(node)
  const settings = createSettingsReads(node)
  const lists = readDatabase(database)
  const statuses = createCustomerStatusCache(database)
  const changes = listener.subscribe(CUSTOMER_CHANGED, {
    onMessage: (message) => statuses.forget(message.split(' ')[0] as string),
    onGap: () => statuses.forgetAll(),
    confirms: true,
  })
  const deps: CustomerDeps = {
    ...node,
    async announce(customerId, version) {
      statuses.forget(customerId)
      await changes.heard(`${customerId} ${version}`, HEARD_WITHIN_MS)
    },
  }
  const reads: CustomerReads = {
    listCustomers: (query) => listCustomers(lists, query),
    async getCustomer(reader, customerId) {
      if (!(await settings.reaches(reader.tenant, customerId))) return null
      const found = await readCustomer(database.pool, customerId)
      return found === null || seesOperatorFields(reader) ? found : { ...found, view: { ...found.view, risk: null } }
    },
    async moneyProblem(customerId, use) {
      const { standing } = await statuses.of(customerId)
      return moneyProblem(standing ?? refuseNotFound(), use)
    },
  }
  const commands: CustomerCommands = {
    create: (by, command) => createCustomer(deps, by, command),
    update: (by, customerId, body, expected) => changeCustomer(deps, by, customerId, body, expected),
    steer: (by, customerId, measure, body) => steerCustomer(deps, by, customerId, measure, body),
    rate: (by, customerId, body) => rateRisk(deps, by, customerId, body),
    resendInvitation: (by, customerId, body) => resendOwnerInvitation(deps, by, customerId, body),
  }
  return {
    reads: { ...reads, ...settings, ...life.reads },
    commands: {
      ...commands,
      ...createSettingsCommands({ ...node, forgetRecipientsOf: recipients.forgetOf }),
      ...life.commands,
    },
    /** Waits until every node knows of a customer's new status; the version is that of the customer's row. */
    announce: deps.announce,
    background: [background('closures of customers', new Closures(node))],
  }
}
