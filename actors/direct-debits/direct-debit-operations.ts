/** The operations on mandates and collections for the HTTP layer. */
import { ProblemError, refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import { dayStart, instantOf } from '../../lib/contract/formats.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { showing } from '../../lib/commands/answer.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import { resourceETag } from '../../lib/commands/etag.ts'
import { collectionJson } from '../../lib/direct-debits/collection-view.ts'
import type {
  Collection,
  CollectionCreate,
  collectionList,
  CollectionReverse,
  CollectionStatusReport,
  PreNotificationSent,
} from '../../lib/direct-debits/collection-schema.ts'
import { schemeDate } from '../../lib/direct-debits/dates.ts'
import type { DirectDebitMessageType } from '../../lib/providers/messages.ts'
import type {
  Mandate,
  MandateCancel,
  MandateCreate,
  mandateList,
  MandateStatusReport,
  MandateUpdate,
} from '../../lib/direct-debits/mandate-schema.ts'
import { mandateJson } from '../../lib/direct-debits/mandate-view.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { noticeOf } from '../../lib/direct-debits/debit-terms.ts'
import { readDebitTerms } from '../../storage/direct-debits/customer-debit-terms.ts'
import {
  collectionOfTenant,
  getCollection,
  listCollections,
  listMandates,
  shownMandate,
  type ShownMandate,
} from '../../storage/direct-debits/direct-debit-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { done, type Answers } from '../commands/answers.ts'
import { createCollectionOf } from './create-collection.ts'
import { createMandateOf } from './create-mandate.ts'
import { patchOf } from './patch-mandate.ts'
import { keepProof } from './report-proofs.ts'
import { sentNotice } from './pre-notifications.ts'
import { reverseCollectionOf } from './reverse-collection.ts'
import { DebitInbox, type DebitInboxDeps } from './debit-inbox.ts'
import { DebitMover, type DebitOutcome } from './debit-mover.ts'
import type { DirectDebitDeps } from './direct-debit-deps.ts'

/** The reads. Null means: no such row in this tenant. */
export interface DirectDebitReads {
  getMandate(tenant: Tenant, id: string): Promise<Versioned<Mandate> | null>
  listMandates(query: ListQuery<typeof mandateList>): Promise<ListResult<Mandate>>
  getCollection(tenant: Tenant, id: string): Promise<Versioned<Collection> | null>
  listCollections(query: ListQuery<typeof collectionList>): Promise<ListResult<Collection>>
}

/** The writes. Refusals of commands with a key are answers; all others are thrown as problems. */
export interface DirectDebitCommands {
  createMandate(command: Command<MandateCreate>): Promise<CommandAnswer<Mandate, 201>>
  cancelMandate(command: Command<MandateCancel>, id: string): Promise<CommandAnswer<Mandate, 200>>
  updateMandate(
    by: Caller,
    id: string,
    body: MandateUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<Mandate>>
  reportMandate(by: Caller<'person'>, id: string, body: MandateStatusReport): Promise<Versioned<Mandate>>
  createCollection(command: Command<CollectionCreate>): Promise<CommandAnswer<Collection, 201>>
  cancelCollection(command: Command<null>, id: string): Promise<CommandAnswer<Collection, 200>>
  /** Sends collected money back to the payer (L54). */
  reverseCollection(command: Command<CollectionReverse>, id: string): Promise<CommandAnswer<Collection, 200>>
  /** Notes that the customer has told the payer of the collection. */
  noteNotice(command: Command<PreNotificationSent>, id: string): Promise<CommandAnswer<Collection, 200>>
  reportCollection(by: Caller<'person'>, id: string, body: CollectionStatusReport): Promise<Versioned<Collection>>
}

export type DirectDebitOperationDeps = DirectDebitDeps & DebitInboxDeps

/** Shows a mandate: its notice follows from the terms of its customer. */
async function shown(
  { database, clock }: Pick<DirectDebitDeps, 'database' | 'clock'>,
  { mandate, nextCollectionDate }: ShownMandate,
): Promise<Versioned<Mandate>> {
  const notice = noticeOf(DEBIT_SCHEMES[mandate.scheme], await readDebitTerms(database, mandate), mandate.noticeDays)
  return {
    version: mandate.termsVersion,
    view: mandateJson(mandate, { nextCollectionDate, notice, now: clock.now() }),
  }
}

/** Creates the reads. */
export function createDirectDebitReads(deps: DirectDebitDeps): DirectDebitReads {
  const { database, clock } = deps
  const db = readDatabase(database)
  return {
    async getMandate(tenant, id) {
      const found = await shownMandate(database, tenant, id)
      return found === null ? null : await shown(deps, found)
    },
    async listMandates(query) {
      const { rows, ...page } = await listMandates(db, query)
      const [first] = rows
      if (first === undefined) return { ...page, rows: [] }
      const terms = await readDebitTerms(database, first.mandate)
      return {
        ...page,
        rows: rows.map(({ mandate, nextCollectionDate }) =>
          mandateJson(mandate, {
            nextCollectionDate,
            notice: noticeOf(DEBIT_SCHEMES[mandate.scheme], terms, mandate.noticeDays),
            now: clock.now(),
          }),
        ),
      }
    },
    getCollection: (tenant, id) => getCollection(database, tenant, id),
    listCollections: (query) => listCollections(db, query),
  }
}

type Moved = Extract<DebitOutcome, { readonly kind: 'moved' }>

/** Narrows the outcome of a command about a row that was read before. */
function decided(outcome: DebitOutcome): Exclude<DebitOutcome, { readonly kind: 'ignored' }> {
  return outcome.kind === 'ignored' ? refuseNotFound() : outcome
}

/** Throws the refusal of a command that has no key. */
function made(outcome: DebitOutcome): Moved {
  if (outcome.kind === 'moved') return outcome
  if (outcome.kind === 'refused') throw new ProblemError(outcome.problem)
  return refuseNotFound()
}

function collectionOf({ collection }: Moved) {
  if (collection === null) throw new Error('A command about a collection was answered without it.')
  return collection
}

const created = <View extends object>(path: string, id: string, view: View): CommandAnswer<View, 201> => {
  const body = JSON.stringify(view)
  return showing({
    status: 201,
    body,
    contentType: 'application/json',
    etag: resourceETag(1, body),
    location: `/v1/${path}/${id}`,
    replayed: false,
  })
}

/** Creates the commands. */
export function createDirectDebitCommands(deps: DirectDebitOperationDeps, answers: Answers): DirectDebitCommands {
  const parts = { ...deps, mover: new DebitMover(deps), inbox: new DebitInbox(deps) }
  return { ...mandateCommands(parts, answers), ...collectionCommands(parts, answers) }
}

type CommandParts = DirectDebitOperationDeps & { readonly mover: DebitMover; readonly inbox: DebitInbox }
type MandateCommands = Pick<DirectDebitCommands, 'createMandate' | 'cancelMandate' | 'updateMandate' | 'reportMandate'>

async function read({ database }: Pick<CommandParts, 'database'>, tenant: Tenant, id: string): Promise<ShownMandate> {
  return (await shownMandate(database, tenant, id)) ?? refuseNotFound()
}

function mandateCommands(deps: CommandParts, { answer, recordedAnswer }: Answers): MandateCommands {
  const { database, ids, clock, mover, inbox } = deps

  const noticeFor = async (mandate: MandateRecord) =>
    noticeOf(DEBIT_SCHEMES[mandate.scheme], await readDebitTerms(database, mandate), mandate.noticeDays)

  return {
    createMandate: (command) =>
      answer(
        command,
        async (caller, body) => decided(await createMandateOf(deps, caller, body)),
        ({ mandate }) => {
          const now = mandate.createdAt
          return created(
            'mandates',
            mandate.id,
            mandateJson(mandate, {
              nextCollectionDate: null,
              notice: DEBIT_SCHEMES[mandate.scheme].preNotification,
              now,
            }),
          )
        },
      ),
    async cancelMandate(command, id) {
      // A key with an answer keeps it, whatever the mandate's status is now.
      const known = command.idempotency === null ? null : await recordedAnswer<Mandate, 200>(command.idempotency)
      if (known !== null) return known
      const { mandate } = await read(deps, { kind: 'customer', id: command.tenantId }, id)
      const notice = await noticeFor(mandate)
      return await answer(
        command,
        async ({ key, problemRequest, deadline }, { reason = null }) =>
          decided(
            await mover.moveMandate(
              mandate.id,
              { kind: 'cancel', reason },
              { by: 'member', key, problemRequest, deadline },
              { notice },
            ),
          ),
        ({ mandate: after }) => done(mandateJson(after, { nextCollectionDate: null, notice, now: clock.now() }), false),
      )
    },
    async updateMandate(by, id, body, expected) {
      const { mandate } = await read(deps, by.tenant, id)
      const patch = await patchOf(deps, mandate, body)
      made(
        await mover.patchMandate(mandate, {
          patch,
          termsVersion: expected === null ? mandate.termsVersion : Number(expected),
        }),
      )
      return await shown(deps, await read(deps, by.tenant, id))
    },
    async reportMandate(by, id, body) {
      const { mandate } = await read(deps, by.tenant, id)
      refuseProvider(mandate)
      const { customerId } = mandate
      await keepProof(database, { object: 'mandate', objectId: mandate.id, customerId }, body.documentId ?? null)
      const taken = await inbox.takeOne({
        type: `mandate.${body.status}`,
        id: ids.next(),
        connectionId: null,
        source: 'staff',
        mandateId: mandate.id,
        reasonCode: body.reasonCode ?? null,
        providerRef: null,
        signedAt: body.signedAt == null ? null : dayStart(body.signedAt),
      })
      if (taken !== 'moved') refuseReport('mandate', mandate.status)
      return await shown(deps, await read(deps, by.tenant, id))
    },
  }
}

function collectionCommands(
  deps: CommandParts,
  { answer, recordedAnswer }: Answers,
): Omit<DirectDebitCommands, keyof MandateCommands> {
  const { database, ids, clock, mover, inbox } = deps
  return {
    createCollection: (command) =>
      answer(
        command,
        async (caller, body) => decided(await createCollectionOf(deps, caller, body)),
        (outcome) => {
          const collection = collectionOf(outcome)
          return created('collections', collection.id, collectionJson(collection))
        },
      ),
    async cancelCollection(command, id) {
      const known = command.idempotency === null ? null : await recordedAnswer<Collection, 200>(command.idempotency)
      if (known !== null) return known
      const tenant = { kind: 'customer', id: command.tenantId } as const
      if ((await collectionOfTenant(database, tenant, id)) === null) refuseNotFound()
      return await answer(
        command,
        async ({ key, problemRequest, deadline }) =>
          decided(
            await mover.moveCollection(id, () => ({ kind: 'cancel', reason: 'cancelled_by_user' }), {
              by: 'member',
              key,
              problemRequest,
              deadline,
            }),
          ),
        (outcome) => done(collectionJson(collectionOf(outcome)), false),
      )
    },
    async noteNotice(command, id) {
      const known = command.idempotency === null ? null : await recordedAnswer<Collection, 200>(command.idempotency)
      if (known !== null) return known
      const tenant = { kind: 'customer', id: command.tenantId } as const
      if ((await collectionOfTenant(database, tenant, id)) === null) refuseNotFound()
      return await answer(
        command,
        async ({ key, problemRequest, deadline }, body) =>
          decided(
            await mover.moveCollection(id, (collection) => sentNotice(collection, body, clock.now()), {
              by: 'member',
              key,
              problemRequest,
              deadline,
            }),
          ),
        (outcome) => done(collectionJson(collectionOf(outcome)), false),
      )
    },
    async reverseCollection(command, id) {
      const known = command.idempotency === null ? null : await recordedAnswer<Collection, 200>(command.idempotency)
      if (known !== null) return known
      return await answer(
        command,
        (caller, body) => reverseCollectionOf(deps, caller, id, body),
        ({ collection }) => done(collectionJson(collection), false),
      )
    },
    async reportCollection(by, id, body) {
      const collection = (await collectionOfTenant(database, by.tenant, id)) ?? refuseNotFound()
      const { mandate } = await read(deps, by.tenant, collection.mandateId)
      refuseProvider(mandate)
      const amount = reportedAmount(collection, body)
      const { customerId } = collection
      await keepProof(database, { object: 'collection', objectId: collection.id, customerId }, body.documentId ?? null)
      const taken = await inbox.takeOne({
        type:
          collection.status === 'reversed'
            ? (REPORTED_REVERSAL[body.status] ?? REPORTED[body.status])
            : REPORTED[body.status],
        id: ids.next(),
        connectionId: null,
        source: 'staff',
        collectionId: collection.id,
        reasonCode: body.reasonCode ?? null,
        rType: null,
        amount,
        providerRef: null,
        bookedOn: schemeDate(DEBIT_SCHEMES[collection.scheme], instantOf(body.reportedAt)),
      })
      if (taken !== 'moved') refuseReport('collection', collection.status)
      return (await getCollection(database, by.tenant, id)) ?? refuseNotFound()
    },
  }
}

const REPORTED = {
  submitted: 'collection.submitted',
  collected: 'collection.collected',
  failed: 'collection.rejected',
  returned: 'collection.returned',
  reinstated: 'collection.reinstated',
  reversed: 'collection.reversed',
} as const satisfies Record<CollectionStatusReport['status'], DirectDebitMessageType>

/** Returns the amount of a report; null: it names none. @throws ProblemError `validation-error` */
function reportedAmount(
  { currency }: CollectionRecord,
  { status, amount = null }: CollectionStatusReport,
): bigint | null {
  if (amount === null) return null
  if (status !== 'returned' && status !== 'reinstated')
    refuseField('/amount', 'not_applicable', 'The amount is that of the collection.')
  if (amount.currency !== currency)
    refuseField('/amount/currency', 'currency_mismatch', `The collection is in ${currency}.`)
  return BigInt(amount.amountMinor)
}

/** Reports about a collection whose creditor sends it back. */
const REPORTED_REVERSAL: { readonly [status in CollectionStatusReport['status']]?: 'collection.reversal_refused' } = {
  collected: 'collection.reversal_refused',
}

function refuseProvider({ management, status }: MandateRecord): void {
  if (management === 'provider')
    refuse('invalid-transition', 'The bank of the connection manages the mandate and reports itself.', {
      extra: { currentStatus: status, allowed: [] },
    })
}

function refuseReport(noun: string, status: string): never {
  refuse('invalid-transition', `The ${noun} is ${status}; the report does not follow from it.`, {
    extra: { currentStatus: status, allowed: [] },
  })
}
