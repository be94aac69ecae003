/**
 * Adds money to a balance: returns the account details for a bank transfer from outside, or converts money of another
 * balance (L81). A conversion is an exchange of the named quote or of a new one, and is decided like any exchange.
 */
import { bookSpot, findQuote, type ExchangeDeps } from '../exchange/create-exchange.ts'
import { createQuote } from '../exchange/create-quote.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import type { ExchangeBooked } from '../../lib/exchange/book-exchange.ts'
import { moneyConverted } from '../../lib/exchange/exchange.ts'
import type { QuoteRecord } from '../../lib/exchange/quote.ts'
import { ProblemError, refuse, type FieldError, type Problem } from '../../lib/base/problems.ts'
import { depositDetailsOf } from '../../storage/accounts/account-details.ts'
import type { KnownBalance } from '../../storage/balances/balance-cache.ts'
import { statusOfBalance } from '../../storage/balances/balance-lookups.ts'
import type { TransactionClient } from '../../storage/db/transaction.ts'
import { done, type Answers } from '../commands/answers.ts'
import { runOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { AddMoney, AddMoneyResult } from '../../lib/accounts/add-money-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'

export interface AddMoneyDeps extends ExchangeDeps, Pick<RunOnceDeps, 'findIdempotencyRecord'> {
  readonly answers: Answers
}

/** Answers with the result or with a refusal; problems that are not stored under an Idempotency-Key are thrown. */
export type AddMoneyCommand = (command: Command<AddMoney>) => Promise<CommandAnswer<AddMoneyResult, 200>>

const CONVERSIONS_ONLY = ['fromBalanceId', 'quoteId', 'fixedSide'] as const

/** Creates the command that adds money by the method that the body names. */
export function createAddMoney(deps: AddMoneyDeps): AddMoneyCommand {
  return async (command) => {
    if (command.body.method === 'bank_transfer') return await answerDeposit(deps, command)
    return await deps.answers.answer<AddMoney, ExchangeBooked, AddMoneyResult, 200>(
      command,
      async (caller, body) => {
        const outcome = await convert(deps, caller, body).catch((error: unknown): never => {
          throw error instanceof ProblemError ? new ProblemError(inWordsOfBody(error.problem)) : error
        })
        if (outcome.kind === 'refused') return { ...outcome, problem: inWordsOfBody(outcome.problem) }
        return outcome
      },
      ({ exchange }) => done(moneyConverted(exchange), false),
    )
  }
}

/** Answers with the account details to which money can be sent. @throws ProblemError `validation-error` */
async function answerDeposit(
  deps: AddMoneyDeps,
  { tenantId, body, idempotency }: Command<AddMoney>,
): Promise<CommandAnswer<AddMoneyResult, 200>> {
  const [balance, depositDetails] = await Promise.all([
    requireBalance(deps, tenantId, body.balanceId),
    depositDetailsOf(deps.database, body.balanceId),
  ])
  return await runOnce(deps, idempotency, 200, async (client) => {
    await requireOpenToMoney(client, body.balanceId)
    const errors = CONVERSIONS_ONLY.filter((name) => body[name] != null).map(
      (name): FieldError => ({ field: `/${name}`, code: 'not_applicable', message: 'Is for conversions only.' }),
    )
    if (body.amount != null && body.amount.currency !== balance.currency) {
      errors.push({
        field: '/amount/currency',
        code: 'currency_mismatch',
        message: `The balance is in ${balance.currency}.`,
      })
    }
    if (errors.length > 0) refuseFields(errors)
    return { method: body.method, depositDetails, exchange: null }
  })
}

/** Books the exchange of a conversion. @throws ProblemError `validation-error`, and what `bookSpot` throws */
async function convert(deps: AddMoneyDeps, caller: CommandOrigin, body: AddMoney) {
  const { from, to } = await sidesOf(deps, caller, body)
  const { amount = null, fixedSide = null } = body
  let { quoteId = null } = body
  if (quoteId === null) {
    if (amount === null)
      return refuseFields([{ field: '/amount', code: 'required', message: 'Either an amount or a quote is required.' }])
    // The quote is for this one conversion, so it gets no key of its own: the Idempotency-Key belongs to the
    // conversion.
    const made = await createQuote(
      deps,
      { ...caller, key: null },
      {
        sellCurrency: from.currency,
        buyCurrency: to.currency,
        amount,
        fixedSide: fixedSide ?? 'buy',
        kind: 'spot',
        sellBalanceId: from.id,
        buyBalanceId: to.id,
      },
    )
    if (made.kind !== 'quote_created') throw new Error('A quote without a key was decided before.')
    quoteId = made.quote.id
  }
  const found = await findQuote(
    deps,
    caller,
    { quoteId: quoteId.toLowerCase(), sellBalanceId: from.id, buyBalanceId: to.id },
    'spot',
  )
  if (amount !== null && body.quoteId != null) requireQuotedAmount(found.quote, amount, fixedSide ?? 'buy')
  return await bookSpot(deps, caller, found, {
    reference: null,
    externalId: null,
    metadata: {},
    rule: 'L81',
    operation: 'add_money',
  })
}

/**
 * Finds the two balances of a conversion.
 *
 * @throws ProblemError with every invalid field
 */
async function sidesOf(
  deps: AddMoneyDeps,
  { customerId }: CommandOrigin,
  { balanceId, fromBalanceId, amount, quoteId, fixedSide }: AddMoney,
): Promise<{ readonly from: Side; readonly to: Side }> {
  const to = await requireBalance(deps, customerId, balanceId)
  await requireOpenToMoney(deps.database.pool, balanceId)
  const from = fromBalanceId == null ? null : await deps.balances.find(fromBalanceId.toLowerCase())
  const errors: FieldError[] = []
  if (fromBalanceId == null) errors.push({ field: '/fromBalanceId', code: 'required', message: 'Is required.' })
  else if (from === null || from.customerId !== customerId)
    errors.push({ field: '/fromBalanceId', code: 'not_found', message: 'No such balance.' })
  else if (fromBalanceId.toLowerCase() === balanceId.toLowerCase())
    errors.push({ field: '/fromBalanceId', code: 'invalid_value', message: 'The two balances must be different.' })
  else if (from.currency === to.currency)
    errors.push({
      field: '/fromBalanceId',
      code: 'invalid_value',
      message: 'Both balances have the same currency; there is nothing to convert.',
    })
  if (quoteId == null && amount == null)
    errors.push({ field: '/amount', code: 'required', message: 'Either an amount or a quote is required.' })
  const side = fixedSide === 'sell' ? from?.currency : to.currency
  if (amount != null && side !== undefined && amount.currency !== side)
    errors.push({
      field: '/amount/currency',
      code: 'currency_mismatch',
      message: `The currency of this side is ${side}.`,
    })
  if (errors.length > 0) return refuseFields(errors)
  return {
    from: { id: (fromBalanceId as string).toLowerCase(), currency: (from as KnownBalance).currency },
    to: { id: balanceId.toLowerCase(), currency: to.currency },
  }
}

/** Finds a balance of the customer. @throws ProblemError `validation-error` */
async function requireBalance(
  { balances }: AddMoneyDeps,
  customerId: string,
  balanceId: string,
): Promise<KnownBalance> {
  const balance = await balances.find(balanceId.toLowerCase())
  return balance?.customerId === customerId
    ? balance
    : refuseFields([{ field: '/balanceId', code: 'not_found', message: 'No such balance.' }])
}

interface Side {
  readonly id: string
  readonly currency: string
}

/**
 * Checks that an amount given beside a quote is the quoted amount of that side.
 *
 * @throws ProblemError when the quote is of another amount
 */
function requireQuotedAmount(
  { sellAmount, buyAmount }: QuoteRecord,
  amount: NonNullable<AddMoney['amount']>,
  side: 'sell' | 'buy',
): void {
  if (BigInt(amount.amountMinor) !== (side === 'sell' ? sellAmount : buyAmount))
    refuseFields([{ field: '/amount/amountMinor', code: 'invalid_value', message: 'The quote is of another amount.' }])
}

/**
 * Checks that a balance accepts money: it must be active or frozen.
 *
 * @throws ProblemError for any other status
 */
async function requireOpenToMoney(client: Pick<TransactionClient, 'query'>, balanceId: string): Promise<void> {
  const status = await statusOfBalance(client, balanceId)
  if (status !== 'active' && status !== 'frozen')
    refuseFields([{ field: '/balanceId', code: 'inactive', message: `The balance is ${status ?? 'gone'}.` }])
}

/** Members of this body, by the names that problems of exchanges use. */
const MEMBERS: Readonly<Record<string, string>> = {
  '/sellBalanceId': '/fromBalanceId',
  '/sellCurrency': '/fromBalanceId',
  '/buyBalanceId': '/balanceId',
  '/buyCurrency': '/balanceId',
}

const inWordsOfBody = (problem: Problem): Problem =>
  problem.errors === undefined
    ? problem
    : { ...problem, errors: problem.errors.map((error) => ({ ...error, field: MEMBERS[error.field] ?? error.field })) }

function refuseFields(errors: readonly FieldError[]): never {
  refuse('validation-error', errors[0]?.message ?? '', { errors })
}
