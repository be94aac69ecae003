/**
 * Reads and commands of funds requests: each change is one transaction with its event and its trail.
 *
 *  * The token of a link is computed from the request's id and the service's secret. So the customer can read the link
 *    at any time, and a stolen table reveals no link: it holds only the hash of the token, by which a payer's token is
 *    looked up.
 *  * A wrong token, and a token of a request whose operator has switched funds requests off, both get the same answer,
 *    `not-found`. So a caller without a valid token learns nothing.
 *  * Mails are sent after the commit of the change that they report.
 */
import { RAILS } from '../../lib/rails/rails.ts'
import { createHmac, hash } from 'node:crypto'
import { dateIn } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { referenceOf } from '../../lib/funds-requests/creditor-reference.ts'
import {
  expiryOf,
  invalidTransition,
  isWaiting,
  moveFundsRequest,
  OPEN_MAX,
  remainingOf,
  reminderRefusal,
  type FundsRequestMove,
} from '../../lib/funds-requests/funds-request.ts'
import { payerMail } from '../../lib/funds-requests/payer-mail.ts'
import { qrPayload } from '../../lib/funds-requests/qr-payload.ts'
import { orderNumber, type IdSource } from '../../lib/base/ids.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import { inStoredOrder, patchedMetadata } from '../../lib/base/metadata.ts'
import { moneyJson, REQUEST_AMOUNT_MAX } from '../../lib/base/money.ts'
import type { Feature } from '../../lib/operators/features.ts'
import { ProblemError, refuse, refuseField } from '../../lib/base/problems.ts'
import { accountDetailsOf } from '../../storage/accounts/account-details.ts'
import { nameOfCustomer } from '../../storage/customers/customers.ts'
import type { Database } from '../../storage/db/database.ts'
import * as rows from '../../storage/funds-requests/funds-requests.ts'
import { SYSTEM, writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import * as reads from '../../storage/funds-requests/funds-request-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { inTransaction, through, type Queries, type TransactionClient } from '../../storage/db/transaction.ts'
import { etagOf } from '../../lib/commands/etag.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { decideOnce } from '../commands/run-once.ts'
import type {
  FundsRequest,
  FundsRequestCreate,
  fundsRequestList,
  FundsRequestUpdate,
  PublicFundsRequest,
} from '../../lib/funds-requests/funds-request-schema.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type { Log } from '../../lib/base/log.ts'
import type { Command, CommandAnswer, IdempotencyRecord, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

const FEATURE = 'payments.funds_requests' satisfies Feature

export interface FundsRequestDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly log: Log
  readonly mailer: Mailer
  readonly orderNumbers: OrderNumbers
  readonly problemBase: string
  /** Key that tokens are computed with, 32 bytes, the same on every node. */
  readonly linkKey: Uint8Array
  /** Returns the public address of the service, without `/v1`. */
  readonly origin: () => string
  readonly hasFeature: (tenantId: string, feature: Feature) => Promise<boolean>
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/** Reads of funds requests. Null means: no such row in this tenant, or no such link. */
export interface FundsRequestReads {
  list(query: ListQuery<typeof fundsRequestList>): Promise<ListResult<FundsRequest>>
  get(tenant: Tenant, id: string): Promise<Versioned<FundsRequest> | null>
  ofLink(token: string): Promise<PublicFundsRequest | null>
}

/** Commands of funds requests. Refusals are thrown as problems, except those stored under an Idempotency-Key. */
export interface FundsRequestCommands {
  create(by: ByCaller, command: Command<FundsRequestCreate>): Promise<CommandAnswer<FundsRequest, 201>>
  update(
    by: ByCaller,
    id: string,
    body: FundsRequestUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<FundsRequest>>
  cancel(
    by: ByCaller,
    id: string,
    command: Pick<Command<unknown>, 'idempotency' | 'requestId' | 'instance'>,
  ): Promise<CommandAnswer<FundsRequest, 200>>
  remind(by: ByCaller, id: string): Promise<Versioned<FundsRequest>>
  /** Counts an incoming payment without the request's reference towards a funds request. */
  allocate(by: ByCaller, incomingPaymentId: string, id: string): Promise<Versioned<FundsRequest>>
  /** Declines a request for the payer, who has the token of its link. */
  decline(token: string, from: { readonly address: string; readonly requestId: string }): Promise<PublicFundsRequest>
}

const gone = (): never => refuse('not-found', 'No such resource exists in this tenant.')
const unknownLink = (): never => refuse('not-found', 'The link is unknown.')

/** Returns a request as the trail keeps it: without the token and without the payer. */
function state({
  status,
  amount,
  paidAmount,
  currency,
  description,
  dueDate,
  expiresAt,
  metadata,
}: reads.FundsRequestRecord): object {
  return {
    status,
    amount: moneyJson({ amountMinor: amount, currency }),
    paidAmount: moneyJson({ amountMinor: paidAmount, currency }),
    description,
    dueDate,
    expiresAt: new Date(expiresAt).toISOString(),
    metadata,
  }
}

/** Creates the functions that compute the link of a request and the hash of its token. */
function createLinks({ linkKey, origin }: Pick<FundsRequestDeps, 'linkKey' | 'origin'>) {
  const token = (id: string): string => `frq_${createHmac('sha256', linkKey).update(id).digest('base64url')}`
  return {
    link: (id: string): string => `${origin()}/v1/public/funds-requests/${token(id)}`,
    sha256: (id: string): string => hash('sha256', token(id), 'hex'),
  }
}

/** Creates the reads of funds requests. */
export function createFundsRequestReads(
  world: Pick<FundsRequestDeps, 'database' | 'linkKey' | 'origin' | 'hasFeature'>,
): FundsRequestReads {
  const { database } = world
  const db = readDatabase(database)
  const links = createLinks(world)
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
      return record === null ? null : await versioned(database, record, links)
    },
    async ofLink(token) {
      const found = await reads.findFundsRequestOfLink(database, hash('sha256', token, 'hex'))
      if (found === null || !(await world.hasFeature(found.record.customerId, FEATURE))) return null
      return await publicView(database, found)
    },
  }
}

/** Reads the account details of balances, and returns a lookup of the active ones, to which money can be sent now. */
async function activeDetails(database: Queries, balanceIds: readonly string[]) {
  const all = balanceIds.length === 0 ? new Map<string, never[]>() : await accountDetailsOf(database, balanceIds)
  return (balanceId: string) => (all.get(balanceId) ?? []).filter(({ status }) => status === 'active')
}

async function versioned(
  database: Queries,
  record: reads.FundsRequestRecord,
  links: ReturnType<typeof createLinks>,
): Promise<Versioned<FundsRequest>> {
  const details = await activeDetails(database, [record.balanceId])
  return {
    version: record.version,
    untagged: reads.FUNDS_REQUEST_UNTAGGED,
    view: reads.fundsRequestJson(record, { depositDetails: details(record.balanceId), link: links.link(record.id) }),
  }
}

/** Builds the payer's view of a request; a request that has ended has no account details. */
async function publicView(
  database: Queries,
  { record, payeeName }: { readonly record: reads.FundsRequestRecord; readonly payeeName: string },
): Promise<PublicFundsRequest> {
  const { currency } = record
  const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency })
  const waiting = isWaiting(record.status)
  const details = waiting ? (await activeDetails(database, [record.balanceId]))(record.balanceId) : []
  const account = details.find(
    ({ iban, rails }) => iban !== null && rails.some((rail) => RAILS.get(rail)?.sepa === true),
  )
  const remaining = remainingOf(record)
  return {
    payeeName,
    status: record.status,
    number: record.number,
    amount: money(record.amount),
    paidAmount: money(record.paidAmount),
    remainingAmount: money(remaining),
    description: record.description,
    invoiceNumber: record.invoiceNumber,
    dueDate: record.dueDate,
    expiresAt: new Date(record.expiresAt).toISOString(),
    allowPartial: record.allowPartial,
    reference: record.reference,
    depositDetails: details.map(
      ({
        id: _id,
        balanceId: _balance,
        status: _status,
        statusReason: _reason,
        validFrom: _from,
        validUntil: _until,
        replacedById: _by,
        createdAt: _at,
        ...shown
      }) => shown,
    ),
    qrPayload:
      account === undefined
        ? null
        : qrPayload({
            currency,
            amount: remaining,
            payeeName: account.accountHolderName,
            iban: account.iban,
            bic: account.bic,
            reference: record.reference,
          }),
  }
}

/** Creates the commands of funds requests. */
export function createFundsRequestCommands(world: FundsRequestDeps): FundsRequestCommands {
  const { database, ids, clock, log, mailer } = world
  const links = createLinks(world)

  async function changing<Result>(work: (tx: rows.FundsRequestTx) => Promise<Result>): Promise<Result> {
    return await inTransaction(database, async (client) => work({ client, ids, now: clock.now() }))
  }

  async function trail(
    { client, now }: rows.FundsRequestTx,
    by: AuditBy,
    action: string,
    customerId: string,
    id: string,
    before: object | null,
    after: object | null,
  ): Promise<void> {
    await writeAudit(client, {
      ...by,
      id: ids.next(),
      tenantId: customerId,
      at: now,
      action: `funds_request.${action}`,
      object: { type: 'funds_request', id },
      before,
      after,
    })
  }

  async function reread({ client }: rows.FundsRequestTx, id: string): Promise<reads.FundsRequestRecord> {
    const found = await rows.readFundsRequest(client, id)
    if (found === null) throw new Error(`The funds request ${id} has vanished.`)
    return found
  }

  async function locked({ client }: rows.FundsRequestTx, by: ByCaller, id: string): Promise<reads.FundsRequestRecord> {
    return (await rows.lockFundsRequest(client, by.tenant.id, id)) ?? gone()
  }

  async function payeeName(client: TransactionClient, customerId: string): Promise<string> {
    const name = await nameOfCustomer(client, customerId)
    if (name === null) throw new Error(`The customer ${customerId} does not exist.`)
    return name
  }

  /**
   * Sends the mail to the payer without waiting for it: the change is committed, and the link is in the API's answer
   * too.
   */
  function tell(record: reads.FundsRequestRecord, payee: string, again: boolean): void {
    if (record.payerEmail === null) return
    mailer
      .send(
        payerMail({
          ...record,
          to: record.payerEmail,
          payerName: record.payer.name,
          payeeName: payee,
          remaining: remainingOf(record),
          link: links.link(record.id),
          again,
        }),
      )
      .catch((error: unknown) => log.warn({ err: error }, 'the mail to a payer could not be sent'))
  }

  /**
   * Checks a body against the customer's balances and recipients, and returns when the request expires.
   *
   * @throws ProblemError for a body from which no request can be made
   */
  async function check(
    client: TransactionClient,
    customerId: string,
    body: FundsRequestCreate,
    now: number,
  ): Promise<{ readonly expiresAt: number }> {
    const {
      balanceId,
      amount,
      externalId = null,
      payer: { recipientId = null },
      dueDate = null,
    } = body
    const balance =
      (await rows.receivingBalance(client, customerId, balanceId)) ??
      refuseField('/balanceId', 'not_found', 'No such balance.')
    if (balance.currency !== amount.currency)
      refuseField('/amount/currency', 'currency_mismatch', `The balance is in ${balance.currency}.`)
    if (balance.status !== 'active') refuseField('/balanceId', 'inactive', `The balance is ${balance.status}.`)
    if ((await activeDetails(through(client), [balanceId]))(balanceId).length === 0)
      refuseField('/balanceId', 'account_not_eligible', 'The balance has no active account details.')
    if (recipientId !== null && !(await rows.hasRecipient(client, customerId, recipientId.toLowerCase())))
      refuseField('/payer/recipientId', 'not_found', 'No such recipient.')
    if (dueDate !== null && dueDate < dateIn(now, 'UTC')) refuseField('/dueDate', 'in_past', 'Must not be in the past.')
    const expiry = expiryOf(body.expiresAt ?? null, now)
    if ('code' in expiry) refuseField('/expiresAt', expiry.code, expiry.message)
    const owner = externalId === null ? null : await rows.fundsRequestWithExternalId(client, customerId, externalId)
    if (owner !== null)
      refuse('duplicate-external-id', `externalId ${externalId} belongs to another funds request.`, {
        extra: { existingId: owner },
      })
    if (await rows.hasWaiting(client, customerId, OPEN_MAX)) {
      refuse('limit-reached', `At most ${OPEN_MAX} funds requests may wait for money.`, {
        extra: { limit: OPEN_MAX, resource: 'funds_request' },
      })
    }
    if (BigInt(amount.amountMinor) > REQUEST_AMOUNT_MAX) {
      const limit = moneyJson({ amountMinor: REQUEST_AMOUNT_MAX, currency: amount.currency as CurrencyCode })
      refuse('limit-exceeded', 'The amount is above the limit of a single request.', {
        extra: { limit: { kind: 'single', amount: limit, period: null, remaining: limit } },
      })
    }
    return expiry
  }

  async function move(
    by: AuditBy,
    tx: rows.FundsRequestTx,
    before: reads.FundsRequestRecord,
    kind: Exclude<FundsRequestMove['kind'], 'pay'>,
    action: string,
  ): Promise<reads.FundsRequestRecord> {
    const moved = moveFundsRequest(before, { kind })
    if ('refused' in moved) throw new ProblemError(moved.refused)
    await rows.writeMove(tx, before, moved, null)
    await trail(tx, by, action, before.customerId, before.id, { status: before.status }, { status: moved.status })
    return await reread(tx, before.id)
  }

  return {
    async create(by, command) {
      const customerId = by.tenant.id
      const { body } = command
      const number = orderNumber('FRQ', await world.orderNumbers.take())
      const made: { record?: reads.FundsRequestRecord; payee?: string } = {}
      const answer = await decideOnce(world, command, 201, async (client) => {
        const tx = { client, ids, now: clock.now() }
        await rows.lockFundsRequestsOf(client, customerId)
        const { expiresAt } = await check(client, customerId, body, tx.now)
        const id = ids.next()
        await rows.insertFundsRequest(client, {
          id,
          customerId,
          number,
          externalId: body.externalId ?? null,
          balanceId: body.balanceId,
          currency: body.amount.currency,
          amount: BigInt(body.amount.amountMinor),
          payer: {
            name: body.payer.name,
            email: body.payer.email ?? null,
            recipientId: body.payer.recipientId?.toLowerCase() ?? null,
          },
          description: body.description,
          invoiceNumber: body.invoiceNumber ?? null,
          dueDate: body.dueDate ?? null,
          expiresAt,
          allowPartial: body.allowPartial ?? false,
          reference: referenceOf(number),
          linkSha256: links.sha256(id),
          metadata: inStoredOrder(body.metadata ?? {}),
          createdBy: by.principal.id,
          now: tx.now,
        })
        const record = await reread(tx, id)
        await trail(tx, auditCaller(by), 'created', customerId, id, null, state(record))
        made.record = record
        made.payee = await payeeName(client, customerId)
        return { shown: await keptView(client, record), made: { id, location: `/v1/funds-requests/${id}` } }
      })
      if (made.record !== undefined && made.payee !== undefined && (body.send ?? true))
        tell(made.record, made.payee, false)
      return withLink(answer)
    },

    async update(by, id, body, expected) {
      return await changing(async (tx) => {
        const before = await locked(tx, by, id)
        if (expected !== null && before.version !== BigInt(expected)) {
          refuse('precondition-failed', 'The resource has changed since it was read.', {
            extra: { currentEtag: etagOf(await versioned(through(tx.client), before, links)) },
          })
        }
        const { description = before.description, dueDate = before.dueDate, expiresAt, metadata } = body
        const terms = body.description !== undefined || body.dueDate !== undefined || expiresAt !== undefined
        if (terms && !isWaiting(before.status)) throw new ProblemError(invalidTransition(before.status))
        if (body.dueDate !== undefined && dueDate !== null && dueDate < dateIn(tx.now, 'UTC'))
          refuseField('/dueDate', 'in_past', 'Must not be in the past.')
        const expiry = expiresAt === undefined ? before : expiryOf(expiresAt, tx.now)
        if ('code' in expiry) refuseField('/expiresAt', expiry.code, expiry.message)
        const merged = metadata === undefined ? before.metadata : patchedMetadata(before.metadata, metadata)
        if (!fitsMetadata(merged)) refuseField('/metadata', 'too_large', 'Is too large.')
        const values = { description, dueDate, expiresAt: expiry.expiresAt, metadata: merged }
        const was = {
          description: before.description,
          dueDate: before.dueDate,
          expiresAt: before.expiresAt,
          metadata: before.metadata,
        }
        if (JSON.stringify(values) === JSON.stringify(was)) return await versioned(through(tx.client), before, links)
        await rows.updateFundsRequest(tx.client, id, { ...values, now: tx.now })
        const after = await reread(tx, id)
        await trail(tx, auditCaller(by), 'updated', by.tenant.id, id, state(before), state(after))
        return await versioned(through(tx.client), after, links)
      })
    },

    async cancel(by, id, command) {
      return withLink(
        await decideOnce(world, command, 200, async (client) => {
          const tx = { client, ids, now: clock.now() }
          return {
            shown: await keptView(
              client,
              await move(auditCaller(by), tx, await locked(tx, by, id), 'cancel', 'cancelled'),
            ),
          }
        }),
      )
    },

    async remind(by, id) {
      const { record, payee } = await changing(async (tx) => {
        const before = await locked(tx, by, id)
        const refused = reminderRefusal(before, tx.now)
        if (refused !== null) throw new ProblemError(refused)
        await rows.noteReminder(tx.client, id, tx.now)
        const after = await reread(tx, id)
        await trail(
          tx,
          auditCaller(by),
          'reminded',
          by.tenant.id,
          id,
          { remindersSent: before.remindersSent },
          { remindersSent: after.remindersSent },
        )
        return { record: after, payee: await payeeName(tx.client, by.tenant.id) }
      })
      tell(record, payee, true)
      return await versioned(database, record, links)
    },

    async allocate(by, incomingPaymentId, id) {
      return await changing(async (tx) => {
        // Incoming payments are locked before requests, the same order as where payments are matched by their
        // reference.
        const arrival = (await rows.lockArrival(tx.client, by.tenant.id, incomingPaymentId)) ?? gone()
        const request = await rows.lockFundsRequest(tx.client, by.tenant.id, id)
        if (request === null) refuseField('/fundsRequestId', 'not_found', 'No such funds request.')
        if (arrival.currency !== request.currency)
          refuseField('/fundsRequestId', 'currency_mismatch', `The funds request is in ${request.currency}.`)
        if (arrival.balanceId !== request.balanceId)
          refuseField('/fundsRequestId', 'not_applicable', 'The funds request is for another balance.')
        if (arrival.status !== 'received' || arrival.fundsRequestId !== null) {
          const detail =
            arrival.status === 'received'
              ? 'The payment counts towards a funds request already.'
              : `The payment is ${arrival.status}.`
          refuse('invalid-transition', detail, { extra: { currentStatus: arrival.status, allowed: [] } })
        }
        if (!(await rows.countArrival(tx, request, arrival))) throw new ProblemError(invalidTransition(request.status))
        const after = await reread(tx, id)
        await trail(tx, auditCaller(by), 'allocated', by.tenant.id, id, state(request), {
          ...state(after),
          incomingPaymentId,
        })
        return await versioned(through(tx.client), after, links)
      })
    },

    async decline(token, { address, requestId }) {
      const found = (await reads.findFundsRequestOfLink(database, hash('sha256', token, 'hex'))) ?? unknownLink()
      const { id, customerId } = found.record
      if (!(await world.hasFeature(customerId, FEATURE))) unknownLink()
      const record = await changing(async (tx) => {
        const before = (await rows.lockAnyFundsRequest(tx.client, id)) ?? unknownLink()
        return await move(
          { ...SYSTEM, actor: { ...SYSTEM.actor, name: 'Payer' }, address, requestId },
          tx,
          before,
          'decline',
          'declined',
        )
      })
      return await publicView(database, { ...found, record })
    },
  }

  /** Builds the answer that is stored under an Idempotency-Key: without the link, because a link is a credential. */
  async function keptView(
    client: TransactionClient,
    record: reads.FundsRequestRecord,
  ): Promise<Versioned<FundsRequest>> {
    const { view, ...rest } = await versioned(through(client), record, links)
    return { ...rest, view: { ...view, link: null } }
  }

  /** Adds the link to a stored answer, before it is sent. */
  function withLink<Status extends number>(
    answer: CommandAnswer<FundsRequest, Status>,
  ): CommandAnswer<FundsRequest, Status> {
    if (answer.status >= 300) return answer
    const view = JSON.parse(answer.body) as FundsRequest
    return { ...answer, body: JSON.stringify({ ...view, link: links.link(view.id) }) }
  }
}
