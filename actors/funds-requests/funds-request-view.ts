/**
 * The views of funds requests: of the customer, of the payer, and the answer that is stored under a key.
 *
 * The token of a link is computed from the request's id and the service's secret. So the customer can read the link at
 * any time, and a stolen table reveals no link: it holds only the hash of the token, by which a payer's token is looked
 * up.
 */
import { RAILS } from '../../lib/rails/rails.ts'
import { createHmac, hash } from 'node:crypto'
import { isWaiting, payerPath, remainingOf } from '../../lib/funds-requests/funds-request.ts'
import { qrPayload } from '../../lib/funds-requests/qr-payload.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { accountDetailsOf } from '../../storage/accounts/account-details.ts'
import * as reads from '../../storage/funds-requests/funds-request-queries.ts'
import { through, type Queries, type TransactionClient } from '../../storage/db/transaction.ts'
import type { FundsRequest, PublicFundsRequest } from '../../lib/funds-requests/funds-request-schema.ts'
import type { CommandAnswer, Versioned } from '../../lib/commands/command.ts'

/** Computes the link of a request, and the hash of its token. */
export interface FundsRequestLinks {
  link(id: string): string
  sha256(id: string): string
}

/** Creates the functions that compute links. `linkKey` has 32 bytes, the same on every node. */
export function createLinks({
  linkKey,
  origin,
}: {
  readonly linkKey: Uint8Array
  readonly origin: () => string
}): FundsRequestLinks {
  const token = (id: string): string => `frq_${createHmac('sha256', linkKey).update(id).digest('base64url')}`
  return {
    link: (id: string): string => `${origin()}${payerPath(token(id))}`,
    sha256: (id: string): string => hash('sha256', token(id), 'hex'),
  }
}

/** Reads the account details of balances, and returns a lookup of the active ones, to which money can be sent now. */
export async function activeDetails(database: Queries, balanceIds: readonly string[]) {
  const all = balanceIds.length === 0 ? new Map<string, never[]>() : await accountDetailsOf(database, balanceIds)
  return (balanceId: string) => (all.get(balanceId) ?? []).filter(({ status }) => status === 'active')
}

/** Builds the customer's view of a request. */
export async function fundsRequestView(
  database: Queries,
  record: reads.FundsRequestRecord,
  links: FundsRequestLinks,
): Promise<Versioned<FundsRequest>> {
  const details = await activeDetails(database, [record.balanceId])
  return {
    version: record.version,
    untagged: reads.FUNDS_REQUEST_UNTAGGED,
    view: reads.fundsRequestJson(record, { depositDetails: details(record.balanceId), link: links.link(record.id) }),
  }
}

/** Builds the payer's view of a request; a request that has ended has no account details. */
export async function payerView(
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

/** Builds the answer that is stored under an Idempotency-Key: without the link, because a link is a credential. */
export async function keptView(
  links: FundsRequestLinks,
  client: TransactionClient,
  record: reads.FundsRequestRecord,
): Promise<Versioned<FundsRequest>> {
  const { view, ...rest } = await fundsRequestView(through(client), record, links)
  return { ...rest, view: { ...view, link: null } }
}

/** Adds the link to a stored answer, before it is sent. */
export function withLink<Status extends number>(
  links: FundsRequestLinks,
  answer: CommandAnswer<FundsRequest, Status>,
): CommandAnswer<FundsRequest, Status> {
  if (answer.status >= 300) return answer
  const view = JSON.parse(answer.body) as FundsRequest
  return { ...answer, body: JSON.stringify({ ...view, link: links.link(view.id) }) }
}
