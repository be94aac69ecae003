/** The inbox of providers: their webhooks and polls, the use of what they tell, and the log of it. */
import type { Versioned } from '../../../lib/commands/command.ts'
import type { ListResult } from '../../../lib/contract/list.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import type {
  ProviderEventDetail,
  ProviderEventDismiss,
  ProviderEventReprocess,
  ProviderEventReprocessing,
  ProviderEventsReprocess,
  ProviderEventView,
} from '../../../lib/providers/provider-event-schema.ts'
import type { SignedBody } from '../../../lib/security/signed-body.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { readProviderEvent } from '../../../storage/providers/provider-event-detail.ts'
import {
  listProviderEvents,
  summariseProviderEvents,
  type ProviderEventListQuery,
} from '../../../storage/providers/provider-event-list.ts'
import { removeOldInboxEvents } from '../../../storage/providers/provider-inbox.ts'
import { background, type Background, type Node } from '../../runtime/node.ts'
import type { Task } from '../../runtime/tasks.ts'
import type { WebhookAnswer } from '../adapters/adapter.ts'
import { WebhookRegistrations } from '../connections/webhook-registrations.ts'
import { EventKeeper } from './event-keeper.ts'
import type { InboxPartners, InboxPorts } from './inbox-ports.ts'
import { InboxWorker } from './inbox-worker.ts'
import { pollTasks } from './poll-partners.ts'
import { receiveWebhook } from './receive-webhook.ts'
import { dismissEvent, reprocessEvent, reprocessEvents } from './reprocess.ts'

/** The reads, of the operator that is the tenant. */
export interface ProviderEventReads {
  list(query: ProviderEventListQuery): Promise<ListResult<ProviderEventView>>
  get(operatorId: string, id: string): Promise<Versioned<ProviderEventDetail> | null>
}

/** The writes. Every refusal is thrown as a problem. */
export interface ProviderEventCommands {
  /** Takes a webhook of a provider; its signature is verified here. @returns the answer that the provider expects */
  receive(connectionId: string, request: SignedBody): Promise<WebhookAnswer | null>
  reprocess(by: Caller<'person'>, id: string, body: ProviderEventReprocess): Promise<ProviderEventReprocessing>
  reprocessRange(by: Caller<'person'>, body: ProviderEventsReprocess): Promise<ProviderEventReprocessing>
  dismiss(by: Caller<'person'>, id: string, body: ProviderEventDismiss): Promise<Versioned<ProviderEventDetail> | null>
}

/** The parts of other nouns that the inbox needs. */
export interface InboxServiceParts {
  readonly partners: InboxPartners
  readonly ports: InboxPorts
}

/** Creates the service. */
export function createInboxService(node: Node, { partners, ports }: InboxServiceParts) {
  const { database, clock } = node
  const db = readDatabase(database)
  const keeper = new EventKeeper(node)
  const deps = { ...node, partners, ports, keeper, registrations: new WebhookRegistrations(database) }
  const reads: ProviderEventReads = {
    list: async (query) => await listProviderEvents(db, query, clock.now()),
    get: async (operatorId, id) => await readProviderEvent(db, operatorId, id),
  }
  const commands: ProviderEventCommands = {
    receive: async (connectionId, request) => await receiveWebhook(deps, connectionId, request),
    reprocess: async (by, id, body) => await reprocessEvent(deps, by, id, body),
    reprocessRange: async (by, body) => await reprocessEvents(deps, by, body),
    async dismiss(by, id, body) {
      await dismissEvent(deps, by, id, body)
      return await reads.get(by.tenant.id, id)
    },
  }
  const upkeep: readonly Task[] = [
    {
      name: 'providers.remove_events',
      cron: '51 3 * * *',
      async run() {
        while ((await removeOldInboxEvents(database, clock.now())) > 0);
      },
    },
    {
      name: 'providers.summarise_events',
      cron: '*/10 * * * *',
      run: async () => await summariseProviderEvents(database),
    },
  ]
  const dispatching: readonly Background[] = [background('events of providers', new InboxWorker(deps))]
  return {
    reads,
    commands,
    background: node.dispatch ? dispatching : [],
    tasks: [...upkeep, ...pollTasks(deps)],
  }
}
