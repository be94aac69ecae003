/**
 * Checks the rows of files of mandates and of collections, as bodies that a client sends: the check asks the same
 * questions and makes the same decision as a request, and writes nothing. The exposure of the customer is checked when
 * the collection is made, as funds are for a payment.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import {
  collectionBodyOf,
  columnOfDebitField,
  mandateBodyOf,
  type DebitBody,
} from '../../lib/bulk-payments/debit-of-row.ts'
import type { BulkKind } from '../../lib/bulk-payments/formats.ts'
import type { BulkInstruction, BulkRow, RowFault, RowWarning } from '../../lib/bulk-payments/instruction.ts'
import { idOfRow } from '../../lib/bulk-payments/payment-of-row.ts'
import { ProblemError, type FieldError, type Problem } from '../../lib/base/problems.ts'
import { compileBody } from '../../lib/contract/validation.ts'
import { CollectionCreate } from '../../lib/direct-debits/collection-schema.ts'
import { createCollection } from '../../lib/direct-debits/create-debits.ts'
import { MandateCreate } from '../../lib/direct-debits/mandate-schema.ts'
import { maskedAccount } from '../../lib/direct-debits/mandate-view.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import {
  collectionsWithExternalIds,
  mandatesOfRows,
  type MandateOfRow,
} from '../../storage/bulk-payments/debit-lookups.ts'
import type { BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import type { CheckedRow } from '../../storage/bulk-payments/checked-rows.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { createCollectionOf, wantedCollection } from '../direct-debits/create-collection.ts'
import { createMandateOf, wantedMandate } from '../direct-debits/create-mandate.ts'
import { factsOfLot, type CreditorFacts } from '../direct-debits/debit-facts.ts'
import type { DebitOutcome } from '../direct-debits/debit-mover.ts'
import type { DirectDebitDeps } from '../direct-debits/direct-debit-deps.ts'

/** The number of rows between two turns of the event loop: about two milliseconds. */
const ROWS_PER_TURN = 25

/** The facts of a row, as the mandate or collection that it would become shows them. */
type ShownDebit = Partial<
  Pick<
    CheckedRow,
    'recipientName' | 'maskedIdentifier' | 'currency' | 'reference' | 'executionDate' | 'sourceBalanceId'
  >
>

type Bulk = Pick<BulkRecord, 'options' | 'executionDate'>

/** A use case of direct debits, in the form in which files call it. */
interface DebitUse {
  /** Builds the body of a row; null when it names no mandate. What is wrong is added to `faults`. */
  bodyOf(instruction: BulkInstruction, bulk: Bulk, faults: RowFault[]): DebitBody | null
  validate(body: DebitBody): { readonly value: unknown; readonly errors: readonly FieldError[] }
  /** Checks a valid body and writes nothing. @throws ProblemError for the refusal that a request would get */
  check(checking: Checking, caller: CommandOrigin, body: unknown): Promise<ShownDebit>
  /** Makes it, under the caller's key and id. @throws ProblemError; OperatingError: ask again */
  make(deps: DirectDebitDeps, caller: CommandOrigin, body: unknown, facts: CreditorFacts): Promise<DebitOutcome>
}

/** The state of the check of a file while it reads a batch. */
interface Checking {
  readonly deps: DirectDebitDeps
  readonly facts: CreditorFacts
  /** How many collections of each mandate the rows before ask for. */
  readonly asked: Map<string, number>
}

const bodies = {
  mandates: compileBody(MandateCreate, undefined),
  collections: compileBody(CollectionCreate, undefined),
}

export type DebitKind = Exclude<BulkKind, 'payments'>

export const DEBIT_USES: Readonly<Record<DebitKind, DebitUse>> = {
  mandates: {
    bodyOf: (instruction, { options }, faults) => mandateBodyOf(instruction, options.decimalSeparator, faults),
    validate: (body) => bodies.mandates.validate(body, true),
    async check({ deps, facts }, caller, body) {
      const { mandate, refusal } = await wantedMandate(deps, caller, body as MandateCreate, facts)
      if (refusal !== null) throw new ProblemError(refusal)
      return {
        ...shownParty(mandate),
        reference: (body as MandateCreate).reference === '' ? null : mandate.reference,
        sourceBalanceId: mandate.balanceId,
      }
    },
    make: (deps, caller, body, facts) => createMandateOf(deps, caller, body as MandateCreate, facts),
  },
  collections: {
    bodyOf: (instruction, { executionDate }) =>
      instruction.mandateId === undefined
        ? null
        : collectionBodyOf(
            executionDate === null ? instruction : { dueDate: executionDate, ...instruction },
            instruction.mandateId.toLowerCase(),
          ),
    validate: (body) => bodies.collections.validate(body, true),
    check: (checking, caller, body) => checkCollection(checking, caller, body as CollectionCreate),
    make: (deps, caller, body, facts) => createCollectionOf(deps, caller, body as CollectionCreate, facts),
  },
}

const numberOf = ({ iban, accountNumber }: ReturnType<typeof maskedAccount>): string | null => iban ?? accountNumber

const shownParty = ({ counterparty, currency }: MandateRecord): ShownDebit => ({
  recipientName: counterparty.name,
  maskedIdentifier: numberOf(maskedAccount(counterparty)),
  currency,
})

/** Decides the collection of a row as its mandate would, after the collections of the rows before. */
async function checkCollection(
  { deps, facts, asked }: Checking,
  caller: CommandOrigin,
  body: CollectionCreate,
): Promise<ShownDebit> {
  const { mandate, refusal, at } = await wantedCollection(deps, caller, body, facts)
  const before = asked.get(mandate.id) ?? 0
  const { ids, clock } = deps
  const wanted = at({ id: ids.next(), number: '' })
  const { reply } = createCollection(
    {
      ...mandate,
      presentedCount: mandate.presentedCount + before,
      pendingCount: mandate.pendingCount + before,
    },
    {
      kind: 'create_collection',
      customerId: caller.customerId,
      ...wanted,
      refusal,
      key: null,
      problemRequest: caller.problemRequest,
      context: { by: 'member', ids },
    },
    clock.now(),
  )
  if (reply.kind === 'refused') throw new ProblemError(reply.problem)
  asked.set(mandate.id, before + 1)
  return {
    ...shownParty(mandate),
    reference: body.reference,
    executionDate: wanted.collection.dueDate,
    sourceBalanceId: mandate.balanceId,
  }
}

/** Converts a refusal to faults of the row. */
export function faultsOfProblem({
  slug,
  detail,
  errors,
}: Pick<Problem, 'slug' | 'detail' | 'errors'>): readonly RowFault[] {
  if (errors === undefined)
    return [{ column: COLUMNS[slug] ?? '', code: CODES[slug] ?? 'not_payable', message: detail }]
  return errors.map(({ field, code, message }) => ({ column: columnOfDebitField(field), code, message }))
}

const CODES: Readonly<Record<string, RowFault['code']>> = {
  'duplicate-external-id': 'duplicate_external_id',
  'limit-exceeded': 'limit_exceeded',
  'limit-reached': 'limit_exceeded',
  'customer-restricted': 'customer_restricted',
  'customer-not-active': 'customer_not_active',
}
const COLUMNS: Readonly<Record<string, string>> = {
  'duplicate-external-id': 'external_id',
  'limit-exceeded': 'amount',
  'limit-reached': 'mandate_id',
  'invalid-transition': 'mandate_id',
}

/** Checks the rows of one file, batch after batch; each batch knows what the batches before ask for. */
export class DebitRowChecker {
  readonly #deps: DirectDebitDeps
  readonly #bulk: BulkRecord
  readonly #caller: CommandOrigin
  readonly #kind: DebitKind
  readonly #keys = new Set<string>()
  readonly #alike = new Set<string>()
  readonly #asked = new Map<string, number>()

  constructor(deps: DirectDebitDeps, bulk: BulkRecord, caller: CommandOrigin, kind: DebitKind) {
    this.#deps = deps
    this.#bulk = bulk
    this.#caller = caller
    this.#kind = kind
  }

  /** @throws only database errors; faults of a row are part of the result */
  async check(rows: readonly BulkRow[]): Promise<CheckedRow[]> {
    const { database } = this.#deps
    const { customerId } = this.#bulk
    const known = await mandatesOfRows(database, customerId, referencesOf(rows, this.#kind))
    const drafts = rows.map((row) => {
      const faults = [...row.faults]
      const named = this.#kind === 'mandates' ? row.instruction : namingMandate(row.instruction, known, faults)
      return { row, faults, instruction: named }
    })
    const taken =
      this.#kind === 'mandates'
        ? new Set(known.map(keyOfMandate))
        : await collectionsWithExternalIds(database, customerId, externalIdsOf(rows))
    const mandateIds = this.#kind === 'mandates' ? [] : drafts.flatMap(({ instruction }) => uuidOf(instruction))
    const checking = {
      deps: this.#deps,
      facts: await factsOfLot(database, customerId, [...new Set(mandateIds)]),
      asked: this.#asked,
    }
    const checked: CheckedRow[] = []
    for (const [nth, draft] of drafts.entries()) {
      if (nth > 0 && nth % ROWS_PER_TURN === 0) await breathe()
      checked.push(await this.#checked(checking, draft, taken))
    }
    return checked
  }

  async #checked(
    checking: Checking,
    {
      row,
      faults,
      instruction,
    }: { readonly row: BulkRow; readonly faults: RowFault[]; readonly instruction: BulkInstruction },
    taken: ReadonlySet<string>,
  ): Promise<CheckedRow> {
    this.#checkKey(instruction, taken, faults)
    const use = DEBIT_USES[this.#kind]
    const body = use.bodyOf(instruction, this.#bulk, faults)
    let shown: ShownDebit = {}
    if (body !== null && faults.length === 0) {
      const { value, errors } = use.validate(body)
      if (errors.length > 0) faults.push(...faultsOfProblem({ slug: 'validation-error', detail: '', errors }))
      else
        try {
          shown = await use.check(checking, this.#caller, value)
        } catch (error) {
          if (!(error instanceof ProblemError)) throw error
          faults.push(...faultsOfProblem(error.problem))
        }
    }
    const isValid = faults.length === 0 && body !== null
    const amount = instruction.amountMinor === undefined ? null : BigInt(instruction.amountMinor)
    return {
      rowNumber: row.rowNumber,
      line: row.line,
      status: isValid ? 'valid' : 'invalid',
      instruction,
      recipientId: null,
      recipientName: shown.recipientName ?? instruction.counterpartyName ?? '',
      maskedIdentifier: shown.maskedIdentifier ?? null,
      currency: shown.currency ?? (amount === null ? null : (instruction.currency ?? null)),
      amount,
      rail: null,
      reference: shown.reference ?? instruction.reference ?? null,
      executionDate: shown.executionDate ?? null,
      sourceBalanceId: shown.sourceBalanceId ?? null,
      fee: null,
      feeTax: null,
      estimatedArrival: null,
      errors: faults,
      warnings: isValid ? [...row.warnings, ...this.#repeated(instruction)] : row.warnings,
    }
  }

  /** Checks that no earlier row, and nothing that exists, has the external id of a collection or the reference of a mandate. */
  #checkKey(instruction: BulkInstruction, taken: ReadonlySet<string>, faults: RowFault[]): void {
    const isMandate = this.#kind === 'mandates'
    const { scheme = '', reference, externalId } = instruction
    const key = isMandate ? (reference === undefined ? undefined : keyOfMandate({ scheme, reference })) : externalId
    if (key === undefined) return
    const message = this.#keys.has(key)
      ? 'An earlier row has the same value.'
      : taken.has(key)
        ? `Another ${isMandate ? 'mandate' : 'collection'} has the same value.`
        : null
    if (message !== null)
      faults.push(
        isMandate
          ? { column: 'reference', code: 'invalid_value', message }
          : { column: 'external_id', code: 'duplicate_external_id', message },
      )
    this.#keys.add(key)
  }

  /** Warns of a collection that an earlier row asks for in the same words. */
  #repeated({ mandateId, amountMinor, reference, dueDate = '' }: BulkInstruction): readonly RowWarning[] {
    if (this.#kind === 'mandates') return []
    const key = JSON.stringify([mandateId, amountMinor, reference, dueDate])
    const isRepeated = this.#alike.has(key)
    this.#alike.add(key)
    return isRepeated ? [{ column: '', code: 'possible_duplicate', message: 'An earlier row is like this one.' }] : []
  }
}

const keyOfMandate = ({ scheme, reference }: { readonly scheme: string; readonly reference: string }): string =>
  `${scheme} ${reference}`

/** The references by which rows of collections name mandates, or which rows of mandates want. */
const referencesOf = (rows: readonly BulkRow[], kind: DebitKind): readonly string[] =>
  rows.flatMap(({ instruction: { mandateReference, mandateId, reference } }) =>
    kind === 'mandates' ? (reference ?? []) : mandateId === undefined ? (mandateReference ?? []) : [],
  )
const externalIdsOf = (rows: readonly BulkRow[]): readonly string[] =>
  rows.flatMap(({ instruction: { externalId } }) => externalId ?? [])
/** The mandate of a row; none when its id is not one. */
export const uuidOf = ({ mandateId }: BulkInstruction): readonly string[] => {
  const id = idOfRow(mandateId, 'mandate_id', [])
  return id === null ? [] : [id]
}

/** Gives a row of collections the id of the mandate that it names by its reference; what is wrong is added to `faults`. */
function namingMandate(
  instruction: BulkInstruction,
  known: readonly MandateOfRow[],
  faults: RowFault[],
): BulkInstruction {
  const { mandateId, mandateReference } = instruction
  if (mandateId !== undefined) {
    idOfRow(mandateId, 'mandate_id', faults)
    return instruction
  }
  if (mandateReference === undefined) {
    const message = 'A mandate is required, by its id or its reference.'
    faults.push({ column: 'mandate_id', code: 'required', message })
    return instruction
  }
  const [only, ...others] = known.filter(({ reference }) => reference === mandateReference)
  if (only !== undefined && others.length === 0) return { ...instruction, mandateId: only.id }
  faults.push(
    only === undefined
      ? { column: 'mandate_reference', code: 'not_found', message: 'No mandate has this reference.' }
      : { column: 'mandate_reference', code: 'invalid_value', message: 'Several mandates have this reference.' },
  )
  return instruction
}
