/**
 * Checks the rows of a file as the payments that they would become: finds the payee, asks the same questions and makes
 * the same decision as for a single payment, and writes no payment. Funds are not checked here; they are checked when
 * the payment is made.
 *
 * The data for hundreds of rows is read from the database at once. Between small groups of rows the event loop gets a
 * turn, so that a file of a hundred thousand rows delays no other request.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type { BulkRow, BulkInstruction, RowFault, RowWarning } from '../../lib/bulk-payments/instruction.ts'
import {
  bearerOfRow,
  faultOfIssue,
  idOfRow,
  railOfRow,
  recipientOfRow,
  saysAccount,
} from '../../lib/bulk-payments/payment-of-row.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import { ProblemError } from '../../lib/base/problems.ts'
import { validateRecipient, type ValidationDeps } from '../../lib/recipients/validation.ts'
import {
  accountKey,
  accountsOfRecipients,
  balancesWithAccounts,
  paymentsWithExternalIds,
  recipientsWithAccounts,
  type PaymentTraits,
} from '../../storage/bulk-payments/bulk-lookups.ts'
import type { BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import type { CheckedRow } from '../../storage/bulk-payments/checked-rows.ts'
import type { Database } from '../../storage/db/database.ts'
import { defaultBalances } from '../../storage/exchange/exchange-balances.ts'
import type { PayableRecipient } from '../../storage/recipients/recipient-cache.ts'
import { loadBalances } from '../../storage/balances/balance-states.ts'
import { examinePayment, type PaymentIssue } from '../payments/check-payment.ts'
import type { PaymentInput, PayDeps } from '../payments/submit-payment.ts'
import { DuplicateRows } from './duplicate-rows.ts'
import { paymentInput } from './payment-of-row.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { readerOf } from '../../storage/db/transaction.ts'

/** The number of rows between two turns of the event loop: about two milliseconds. */
const ROWS_PER_TURN = 25
/** The refusals that are left to the payment and are no fault of the file. */
const LEFT_TO_PAYMENT: ReadonlySet<string> = new Set(['insufficient-funds'])

export interface BulkCheckDeps extends PayDeps {
  readonly database: Database
  readonly validation: ValidationDeps
}

const minorOf = (money: { readonly amountMinor: string } | null | undefined): bigint | null =>
  money == null ? null : BigInt(money.amountMinor)

/** Creates a recipient from the description in a row; a refusal becomes faults of the row. */
export type MakeRecipient = (
  instruction: BulkInstruction,
) => Promise<{ readonly id: string } | { readonly faults: readonly RowFault[] }>

/** A row while it is checked. */
interface Draft {
  readonly row: BulkRow
  readonly faults: RowFault[]
  readonly warnings: RowWarning[]
  recipientId: string | null
  /** The account that the row describes, compared by `accountKey`; null when the row describes none. */
  account: { readonly currency: string; readonly accountIdentity: string; readonly masked: string } | null
  sourceBalanceId: string | null
}

/** Checks the rows of one file, batch after batch; each batch knows the results of the batches before. */
export class BulkRowChecker {
  readonly #deps: BulkCheckDeps
  readonly #bulk: BulkRecord
  readonly #caller: CommandOrigin
  readonly #makeRecipient: MakeRecipient
  readonly #balances = new Map<string, BalanceState | null>()
  readonly #defaults = new Map<string, string | null>()
  readonly #externalIds = new Set<string>()
  readonly #duplicates: DuplicateRows

  constructor(deps: BulkCheckDeps, bulk: BulkRecord, caller: CommandOrigin, makeRecipient: MakeRecipient) {
    this.#deps = deps
    this.#bulk = bulk
    this.#caller = caller
    this.#makeRecipient = makeRecipient
    this.#duplicates = new DuplicateRows({ database: deps.database, clock: deps.clock, customerId: bulk.customerId })
  }

  /** @throws only database errors; faults of a row are part of the result */
  async check(rows: readonly BulkRow[]): Promise<CheckedRow[]> {
    const drafts = rows.map(
      (row): Draft => ({
        row,
        faults: [...row.faults],
        warnings: [...row.warnings],
        recipientId: null,
        account: null,
        sourceBalanceId: null,
      }),
    )
    const payees = await this.#payees(drafts)
    await this.#sources(drafts)
    const externalIds = drafts.flatMap(
      ({
        row: {
          instruction: { externalId },
        },
      }) => externalId ?? [],
    )
    const owners =
      externalIds.length === 0
        ? new Map<string, string>()
        : await paymentsWithExternalIds(this.#deps.database, this.#bulk.customerId, externalIds)
    const checked: CheckedRow[] = []
    const traits: (PaymentTraits | null)[] = []
    for (let at = 0; at < drafts.length; at += ROWS_PER_TURN) {
      if (at > 0) await breathe()
      // In parallel, because banks are asked for names. A row reads the state that earlier rows left before it waits.
      for (const { row, alike } of await Promise.all(
        drafts.slice(at, at + ROWS_PER_TURN).map((draft) => this.#examine(draft, payees, owners)),
      )) {
        checked.push(row)
        traits.push(alike)
      }
    }
    return await this.#duplicates.warn(checked, traits)
  }

  /** Finds the payees of the rows: by id, else by account, else by creating them. */
  async #payees(drafts: readonly Draft[]): Promise<ReadonlyMap<string, PayableRecipient>> {
    const { database, recipients, validation } = this.#deps
    const { customerId } = this.#bulk
    for (const draft of drafts) {
      const { instruction } = draft.row
      draft.recipientId = idOfRow(instruction.recipientId, 'recipient_id', draft.faults)
      if (
        instruction.recipientId !== undefined
          ? !saysAccount(instruction)
          : draft.faults.some(({ column }) => column === 'currency')
      )
        continue
      const before = draft.faults.length
      const input = recipientOfRow(
        instruction.recipientId === undefined ? instruction : { recipientName: 'By id', ...instruction },
        draft.faults,
      )
      const validated = validateRecipient(validation, input)
      if ('errors' in validated) {
        // Missing members have been reported already.
        if (draft.faults.length === before)
          draft.faults.push(
            ...validated.errors.map(({ field, code, message }) => faultOfIssue({ field, code, message })),
          )
      } else {
        const { accountIdentity, maskedIdentifier } = validated.recipient
        draft.account = { currency: input.currency, accountIdentity, masked: maskedIdentifier }
      }
    }
    const named = drafts.filter(({ recipientId }) => recipientId !== null)
    const identities =
      named.length === 0
        ? new Map<string, string | null>()
        : await accountsOfRecipients(
            database,
            customerId,
            named.map(({ recipientId }) => recipientId!),
          )
    for (const draft of named) {
      const identity = identities.get(draft.recipientId!)
      if (identity === undefined) {
        draft.recipientId = null
        draft.faults.push({ column: 'recipient_id', code: 'recipient_not_found', message: 'No such recipient.' })
      } else if (draft.account !== null && draft.account.accountIdentity !== identity) {
        draft.faults.push({
          column: 'recipient_id',
          code: 'invalid_value',
          message: 'The recipient has another account than the row says.',
        })
      }
    }
    const described = drafts.filter(({ row, account }) => row.instruction.recipientId === undefined && account !== null)
    const known =
      described.length === 0
        ? new Map<string, string>()
        : await recipientsWithAccounts(
            database,
            customerId,
            described.map(({ account }) => account!),
          )
    const made = new Map<string, Awaited<ReturnType<MakeRecipient>>>()
    for (const draft of described) {
      const key = accountKey(draft.account!.currency, draft.account!.accountIdentity)
      draft.recipientId = known.get(key) ?? null
      if (draft.recipientId !== null) continue
      if (!this.#bulk.options.createMissingRecipients) {
        const isNamed = draft.faults.every(({ column }) => column !== 'recipient_name')
        if (isNamed)
          draft.faults.push({
            column: 'recipient_name',
            code: 'recipient_not_found',
            message: 'There is no recipient with this account.',
          })
        continue
      }
      const result = made.get(key) ?? (await this.#makeRecipient(draft.row.instruction))
      made.set(key, result)
      if ('id' in result) draft.recipientId = result.id
      else draft.faults.push(...result.faults)
    }
    return await recipients.findMany(drafts.flatMap(({ recipientId }) => recipientId ?? []))
  }

  /** Finds the balance that pays each row: named by the row, else by the file, else the default of the currency. */
  async #sources(drafts: readonly Draft[]): Promise<void> {
    const { database } = this.#deps
    const { customerId, sourceBalanceId } = this.#bulk
    const accounts = [
      ...new Set(
        drafts.flatMap(
          ({
            row: {
              instruction: { sourceAccount },
            },
          }) => sourceAccount ?? [],
        ),
      ),
    ]
    const byAccount =
      accounts.length === 0 ? new Map<string, string>() : await balancesWithAccounts(database, customerId, accounts)
    const currencies = [
      ...new Set(
        drafts.flatMap(
          ({
            row: {
              instruction: { currency },
            },
          }) => currency ?? [],
        ),
      ),
    ].filter((currency) => !this.#defaults.has(currency))
    if (sourceBalanceId === null && currencies.length > 0) {
      const found = await defaultBalances(database, customerId, currencies)
      for (const currency of currencies) this.#defaults.set(currency, found.get(currency)?.id ?? null)
    }
    for (const draft of drafts) {
      const { sourceBalanceId: named, sourceAccount, currency } = draft.row.instruction
      if (named !== undefined) draft.sourceBalanceId = idOfRow(named, 'source_balance_id', draft.faults)
      else if (sourceAccount !== undefined) {
        draft.sourceBalanceId = byAccount.get(sourceAccount) ?? null
        if (draft.sourceBalanceId === null)
          draft.faults.push({
            column: 'DbtrAcct',
            code: 'not_found',
            message: 'No balance of the customer has this account.',
          })
      } else {
        draft.sourceBalanceId =
          sourceBalanceId ?? (currency === undefined ? null : (this.#defaults.get(currency) ?? null))
        if (draft.sourceBalanceId === null && currency !== undefined)
          draft.faults.push({
            column: 'source_balance_id',
            code: 'required',
            message: 'There is no balance in this currency to pay from.',
          })
      }
    }
    const unknown = [...new Set(drafts.flatMap(({ sourceBalanceId: id }) => id ?? []))].filter(
      (id) => !this.#balances.has(id),
    )
    if (unknown.length === 0) return
    const loaded = await loadBalances(readerOf(database), unknown, false)
    for (const id of unknown) {
      const balance = loaded.get(id) ?? null
      this.#balances.set(id, balance?.customerId === customerId ? balance : null)
    }
  }

  async #examine(
    draft: Draft,
    payees: ReadonlyMap<string, PayableRecipient>,
    owners: ReadonlyMap<string, string>,
  ): Promise<{ readonly row: CheckedRow; readonly alike: PaymentTraits | null }> {
    const {
      row: { rowNumber, line, instruction },
      faults,
      warnings,
    } = draft
    const payee = draft.recipientId === null ? null : (payees.get(draft.recipientId) ?? null)
    const { externalId } = instruction
    if (externalId !== undefined) {
      if (this.#externalIds.has(externalId))
        faults.push({
          column: 'external_id',
          code: 'duplicate_external_id',
          message: 'An earlier row has the same value.',
        })
      this.#externalIds.add(externalId)
    }
    const reference = instruction.reference ?? payee?.defaultReference ?? null
    if (reference === null && payee !== null)
      faults.push({ column: 'reference', code: 'required', message: 'The recipient has no default reference.' })
    const rail = railOfRow(instruction, faults)
    const bearer = bearerOfRow(instruction, faults)
    const executionDate = instruction.executionDate ?? this.#bulk.executionDate
    const payer = draft.sourceBalanceId === null ? null : (this.#balances.get(draft.sourceBalanceId) ?? null)
    if (draft.sourceBalanceId !== null && payer === null)
      faults.push({ column: 'source_balance_id', code: 'not_found', message: 'No such balance.' })
    const examined =
      faults.length > 0 || payee === null || payer === null || reference === null
        ? null
        : await this.#examinePayment(
            {
              ...paymentInput(instruction, { recipientId: payee.id, sourceBalanceId: payer.id, reference }),
              requestedRail: rail,
              ...(bearer === undefined ? {} : { chargeBearer: bearer }),
              executionDate,
            },
            { payee, payer, externalIdOwner: externalId === undefined ? null : (owners.get(externalId) ?? null) },
          )
    for (const issue of examined?.issues ?? []) {
      if (issue.severity === 'warning')
        warnings.push({
          column: 'recipient_name',
          code: issue.code === 'name_will_be_cut' ? issue.code : 'verification_unavailable',
          message: issue.message,
        })
      else if (!LEFT_TO_PAYMENT.has(issue.code)) faults.push(faultOfIssue(issue))
    }
    if (examined?.verification?.outcome === 'close_match')
      warnings.push({
        column: 'recipient_name',
        code: 'close_match',
        message: "The recipient's bank knows the account under a similar name.",
      })
    if (examined?.executionDate != null && executionDate !== null && examined.executionDate > executionDate) {
      warnings.push({
        column: 'execution_date',
        code: 'date_moved',
        message: `No business day; it is paid on ${examined.executionDate}.`,
      })
    }
    const isValid = faults.length === 0 && examined !== null
    const amount = instruction.amountMinor === undefined ? null : BigInt(instruction.amountMinor)
    const row: CheckedRow = {
      rowNumber,
      line,
      status: isValid ? 'valid' : 'invalid',
      instruction,
      recipientId: draft.recipientId,
      recipientName: payee?.name ?? instruction.recipientName ?? '',
      maskedIdentifier: payee?.maskedIdentifier ?? draft.account?.masked ?? null,
      currency:
        instruction.currency !== undefined && !faults.some(({ column }) => column === 'currency')
          ? instruction.currency
          : null,
      amount,
      rail: examined?.rail ?? null,
      reference,
      executionDate:
        examined?.executionDate ?? (faults.some(({ column }) => column === 'execution_date') ? null : executionDate),
      sourceBalanceId: draft.sourceBalanceId,
      fee: minorOf(examined?.fee),
      feeTax: minorOf(examined?.feeTax),
      estimatedArrival: examined?.estimatedArrival == null ? null : Date.parse(examined.estimatedArrival),
      errors: faults,
      warnings,
    }
    return {
      row,
      alike: isValid
        ? { recipientId: draft.recipientId!, currency: row.currency!, amount: amount!, reference: reference! }
        : null,
    }
  }

  async #examinePayment(
    input: PaymentInput,
    facts: Parameters<typeof examinePayment>[3],
  ): Promise<Partial<Awaited<ReturnType<typeof examinePayment>>> & { readonly issues: readonly PaymentIssue[] }> {
    try {
      return await examinePayment(this.#deps, this.#caller, input, facts)
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const { slug, detail, errors } = error.problem
      return {
        issues: errors?.map(({ field, code, message }) => ({ severity: 'error', field, code, message })) ?? [
          { severity: 'error', field: null, code: slug, message: detail },
        ],
      }
    }
  }
}
