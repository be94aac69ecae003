/** KYC: connections to providers, their webhooks, tokens for their SDKs, and the tasks that use what they tell. */
import type { CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type {
  KycConnectionCreate,
  KycConnectionUpdate,
  KycConnectionView,
} from '../../lib/kyc/kyc-connection-schema.ts'
import type { KycSdkToken, KycSdkTokenCreate, SimKyc } from '../../lib/kyc/sdk-token-schema.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import { listKycConnections, readKycConnection } from '../../storage/kyc/kyc-connections.ts'
import type { Node } from '../runtime/node.ts'
import { sandboxKycTask } from '../sandbox/sandbox-kyc.ts'
import { createConnection, updateConnection } from './change-connection.ts'
import { connectionView } from './connection-view.ts'
import { createSdkToken } from './create-sdk-token.ts'
import type { KycDeps } from './kyc-deps.ts'
import { kycEventTasks, type KycEventsDeps } from './kyc-events.ts'
import { receiveWebhook } from './receive-webhook.ts'
import { simulateReview } from './simulate-review.ts'
import { SumsubClient } from './sumsub-client.ts'
import { verifyConnection } from './verify-connection.ts'

/** The parts of other nouns that KYC needs, and those that a test replaces. */
export interface KycServiceParts {
  readonly customers: Pick<KycEventsDeps, 'announce'>
  /** The address of Sumsub's API in place of its own. */
  readonly sumsubUrl?: string | undefined
}

/** The reads, of the operator that is the tenant. */
export interface KycReads {
  connections(operatorId: string): Promise<readonly KycConnectionView[]>
  connection(operatorId: string, id: string): Promise<Versioned<KycConnectionView> | null>
}

/** The writes. Every refusal is thrown as a problem. */
export interface KycCommands {
  createConnection(by: Caller<'person'>, body: KycConnectionCreate): Promise<Versioned<KycConnectionView>>
  updateConnection(
    by: Caller<'person'>,
    id: string,
    body: KycConnectionUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<KycConnectionView>>
  verifyConnection(by: Caller<'person'>, id: string): Promise<Versioned<KycConnectionView>>
  /** Takes a webhook of a provider; its signature is verified here. */
  receive(connectionId: string, request: SignedBody): Promise<void>
  createSdkToken(by: Caller<'person'>, customerId: string, body: KycSdkTokenCreate): Promise<KycSdkToken>
  simulate(by: Caller, body: SimKyc, idempotency: Idempotency | null): Promise<CommandAnswer<SimulationResult, 202>>
}

/** Creates the service. */
export function createKycService(node: Node, { customers, sumsubUrl }: KycServiceParts) {
  const { database } = node
  const { announce } = customers
  const deps: KycDeps & KycEventsDeps = { ...node, sumsub: new SumsubClient(sumsubUrl), announce }
  const view = (record: Parameters<typeof connectionView>[1]) => connectionView(node.origin(), record)
  const reads: KycReads = {
    connections: async (operatorId) =>
      (await listKycConnections(database.pool, operatorId)).map((record) => view(record).view),
    async connection(operatorId, id) {
      const record = await readKycConnection(database.pool, operatorId, id)
      return record === null ? null : view(record)
    },
  }
  const commands: KycCommands = {
    createConnection: async (by, body) => view(await createConnection(deps, by, body)),
    updateConnection: async (by, id, body, expected) => view(await updateConnection(deps, by, id, body, expected)),
    verifyConnection: async (by, id) => view(await verifyConnection(deps, by, id)),
    receive: (connectionId, request) => receiveWebhook(deps, connectionId, request),
    createSdkToken: (by, customerId, body) => createSdkToken(deps, by, customerId, body),
    simulate: (by, body, idempotency) => simulateReview(deps, by, body, idempotency),
  }
  return { reads, commands, tasks: [...kycEventTasks(deps), sandboxKycTask(node)] }
}
