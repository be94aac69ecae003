/**
 * Reads and commands of funds requests.
 *
 * A wrong token, and a token of a request whose operator has switched funds requests off, both get the same answer,
 * `not-found`. So a caller without a valid token learns nothing.
 */
import { hash } from 'node:crypto'
import * as reads from '../../storage/funds-requests/funds-request-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Linked } from '../../lib/contract/linked.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type {
  ArrivalAllocation,
  FundsRequest,
  FundsRequestCreate,
  fundsRequestList,
  FundsRequestUpdate,
  PublicFundsRequest,
} from '../../lib/funds-requests/funds-request-schema.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { activeDetails, createLinks, fundsRequestView, payerView } from './funds-request-view.ts'
import { FEATURE, type FundsRequestDeps } from './funds-request-changes.ts'
import { allocatePayment } from './allocate-payment.ts'
import { cancelFundsRequest, remindPayer, updateFundsRequest } from './change-funds-request.ts'
import { createFundsRequest } from './create-funds-request.ts'
import { declineFundsRequest } from './decline-funds-request.ts'

/** Reads of funds requests. Null means: no such row in this tenant, or no such link. */
export interface FundsRequestReads {
  list(query: ListQuery<typeof fundsRequestList>): Promise<ListResult<FundsRequest>>
  get(tenant: Tenant, id: string): Promise<Versioned<FundsRequest> | null>
  ofLink(token: string): Promise<Linked<PublicFundsRequest> | null>
}

/** Commands of funds requests. Refusals are thrown as problems, except those stored under an Idempotency-Key. */
export interface FundsRequestCommands {
  create(by: Caller, command: Command<FundsRequestCreate>): Promise<CommandAnswer<FundsRequest, 201>>
  update(
    by: Caller,
    id: string,
    body: FundsRequestUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<FundsRequest>>
  cancel(
    by: Caller,
    id: string,
    command: Pick<Command<unknown>, 'idempotency' | 'requestId' | 'instance'>,
  ): Promise<CommandAnswer<FundsRequest, 200>>
  remind(by: Caller, id: string): Promise<Versioned<FundsRequest>>
  /** Counts an incoming payment without the request's reference towards a funds request. */
  allocate(
    by: Caller,
    incomingPaymentId: string,
    command: Pick<Command<ArrivalAllocation>, 'body' | 'idempotency'>,
  ): Promise<CommandAnswer<FundsRequest, 200>>
  /** Declines a request for the payer, who has the token of its link. */
  decline(token: string, from: { readonly address: string; readonly requestId: string }): Promise<PublicFundsRequest>
}

/** Creates the reads of funds requests. */
export function createFundsRequestReads(
  deps: Pick<FundsRequestDeps, 'database' | 'linkKey' | 'origin' | 'hasFeature'>,
): FundsRequestReads {
  const { database } = deps
  const db = readDatabase(database)
  const links = createLinks(deps)
  return {
    async list(query) {
      const { rows: found, ...page } = await reads.listFundsRequests(db, query)
      const details = await activeDetails(database, [...new Set(found.map(({ balanceId }) => balanceId))])
      return {
        ...page,
        rows: found.map((record) =>
          reads.fundsRequestJson(record, { depositDetails: details(record.balanceId), link: links.link(record.id) }),
        ),
      }
    },
    async get(tenant, id) {
      const record = await reads.getFundsRequest(database, tenant, id)
      return record === null ? null : await fundsRequestView(database, record, links)
    },
    async ofLink(token) {
      const found = await reads.findFundsRequestOfLink(database, hash('sha256', token, 'hex'))
      if (found === null || !(await deps.hasFeature(found.record.customerId, FEATURE))) return null
      return { view: await payerView(database, found), tenantId: found.record.operatorId }
    },
  }
}

/** Creates the commands of funds requests. */
export function createFundsRequestCommands(deps: FundsRequestDeps): FundsRequestCommands {
  const linked = { ...deps, links: createLinks(deps) }
  return {
    create: (by, command) => createFundsRequest(linked, by, command),
    update: (by, id, body, expected) => updateFundsRequest(linked, by, id, body, expected),
    cancel: (by, id, command) => cancelFundsRequest(linked, by, id, command),
    remind: (by, id) => remindPayer(linked, by, id),
    allocate: (by, incomingPaymentId, command) => allocatePayment(linked, by, incomingPaymentId, command),
    decline: (token, from) => declineFundsRequest(linked, token, from),
  }
}
