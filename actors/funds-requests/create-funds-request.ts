/** Creates a funds request. */
import { dateIn } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { referenceOf } from '../../lib/funds-requests/creditor-reference.ts'
import { expiryOf, OPEN_MAX } from '../../lib/funds-requests/funds-request.ts'
import { orderNumber } from '../../lib/base/ids.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { moneyJson, REQUEST_AMOUNT_MAX } from '../../lib/base/money.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import * as rows from '../../storage/funds-requests/funds-requests.ts'
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { decideOnce } from '../commands/run-once.ts'
import type { FundsRequest, FundsRequestCreate } from '../../lib/funds-requests/funds-request-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { activeDetails, keptView, withLink } from './funds-request-view.ts'
import {
  mailPayer,
  payeeNameOf,
  recordRequestChange,
  rereadRequest,
  state,
  type FundsRequestCommandDeps,
} from './funds-request-changes.ts'

/**
 * Creates a request, and mails its link to the payer unless the body says otherwise.
 *
 * @throws ProblemError for a body from which no request can be made
 */
export async function createFundsRequest(
  deps: FundsRequestCommandDeps,
  by: Caller,
  command: Command<FundsRequestCreate>,
): Promise<CommandAnswer<FundsRequest, 201>> {
  const { ids, clock } = deps
  const customerId = by.tenant.id
  const { body } = command
  const number = orderNumber('FRQ', await deps.orderNumbers.take())
  const answer = await decideOnce(deps, command, 201, async (client) => {
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
      linkSha256: deps.links.sha256(id),
      metadata: inStoredOrder(body.metadata ?? {}),
      createdBy: by.principal.id,
      now: tx.now,
    })
    const record = await rereadRequest(tx, id)
    await recordRequestChange(tx, auditCaller(by), 'created', customerId, id, null, state(record))
    if (body.send ?? true) await mailPayer(tx, deps, record, await payeeNameOf(client, customerId), false)
    return { shown: await keptView(deps.links, client, record), made: { type: 'funds_request', id } }
  })
  return withLink(deps.links, answer)
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
