/**
 * The steps that changes of funds requests share: each change is one transaction with its event, its trail entry and
 * its mail.
 */
import type { AuditVerb } from '../../lib/base/audit-actions.ts'
import {
  fundsRequestAt,
  moveFundsRequest,
  remainingOf,
  type FundsRequestMove,
} from '../../lib/funds-requests/funds-request.ts'
import { payerMail } from '../../lib/funds-requests/payer-mail.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import { moneyJson } from '../../lib/base/money.ts'
import type { Feature } from '../../lib/operators/features.ts'
import { ProblemError, refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { nameOfCustomer } from '../../storage/customers/customers.ts'
import type { Database } from '../../storage/db/database.ts'
import * as rows from '../../storage/funds-requests/funds-requests.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { writeMail } from '../../storage/notices/mails.ts'
import type * as reads from '../../storage/funds-requests/funds-request-queries.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Log } from '../../lib/base/log.ts'
import type { IdempotencyRecord } from '../../lib/commands/command.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import type { FundsRequestLinks } from './funds-request-view.ts'

export const FEATURE = 'payments.funds_requests' satisfies Feature

export interface FundsRequestDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly log: Log
  readonly secrets: SecretBox
  readonly orderNumbers: OrderNumbers
  readonly problemBase: string
  /** Key that tokens are computed with, 32 bytes, the same on every node. */
  readonly linkKey: Uint8Array
  /** Returns the public address of the service, without `/v1`. */
  readonly origin: () => string
  readonly hasFeature: (tenantId: string, feature: Feature) => Promise<boolean>
  readonly findIdempotencyRecord: (id: string) => Promise<IdempotencyRecord | null>
}

/** The dependencies of the commands, with the links of requests. */
export interface FundsRequestCommandDeps extends FundsRequestDeps {
  readonly links: FundsRequestLinks
}

/** Refuses a token. A wrong token, and one whose operator has switched funds requests off, get the same answer. */
export const unknownLink = (): never => refuse('not-found', 'The link is unknown.')

/** Returns a request as the trail keeps it: without the token and without the payer. */
export function state({
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

/** Writes a change of a request into the trail. */
export async function recordRequestChange(
  tx: ChangeTransaction,
  by: AuditBy,
  action: AuditVerb<'funds_request'>,
  customerId: string,
  id: string,
  before: object | null,
  after: object | null,
): Promise<void> {
  const object = { type: 'funds_request' as const, id }
  await recordChange(tx, by, customerId, { action: `funds_request.${action}`, object, before, after })
}

/** Reads a request again after its change. */
export async function rereadRequest({ client }: ChangeTransaction, id: string): Promise<reads.FundsRequestRecord> {
  const found = await rows.readFundsRequest(client, id)
  if (found === null) throw new Error(`The funds request ${id} has vanished.`)
  return found
}

/** Locks a request of the tenant until the transaction ends. @throws ProblemError `not-found` */
export async function lockRequest(
  { client }: ChangeTransaction,
  by: Caller,
  id: string,
): Promise<reads.FundsRequestRecord> {
  return (await rows.lockFundsRequest(client, by.tenant.id, id)) ?? refuseNotFound()
}

/** Reads the name of the customer that receives the money. */
export async function payeeNameOf(client: TransactionClient, customerId: string): Promise<string> {
  const name = await nameOfCustomer(client, customerId)
  if (name === null) throw new Error(`The customer ${customerId} does not exist.`)
  return name
}

/** Writes the mail to the payer, if the request names an address; it is sent after the commit. */
export async function mailPayer(
  tx: ChangeTransaction,
  { links, secrets }: FundsRequestCommandDeps,
  record: reads.FundsRequestRecord,
  payee: string,
  again: boolean,
): Promise<void> {
  if (record.payerEmail === null) return
  const mail = payerMail({
    ...record,
    to: record.payerEmail,
    payerName: record.payer.name,
    payeeName: payee,
    remaining: remainingOf(record),
    link: links.link(record.id),
    again,
  })
  await writeMail(tx, secrets, { ...mail, tenantId: record.customerId })
}

/** Ends a locked request by a move. @throws ProblemError when its state does not allow the move */
export async function moveRequest(
  by: AuditBy,
  tx: ChangeTransaction,
  before: reads.FundsRequestRecord,
  kind: Exclude<FundsRequestMove['kind'], 'pay'>,
  action: AuditVerb<'funds_request'>,
): Promise<reads.FundsRequestRecord> {
  const moved = moveFundsRequest(fundsRequestAt(before, tx.now), { kind })
  if ('refused' in moved) throw new ProblemError(moved.refused)
  await rows.writeMove(tx, before, moved, null)
  await recordRequestChange(
    tx,
    by,
    action,
    before.customerId,
    before.id,
    { status: before.status },
    { status: moved.status },
  )
  return await rereadRequest(tx, before.id)
}
