/**
 * Makes the mandates and collections of rows. A row is made under its own key and with an id of its own, so nothing is
 * made twice.
 */
import type { RowFailure } from '../../lib/bulk-payments/bulk-payment.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import { ProblemError, type Problem } from '../../lib/base/problems.ts'
import type { BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import type { RowEnd, RowToSubmit } from '../../storage/bulk-payments/bulk-runs.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'
import { factsOfLot, type CreditorFacts } from '../direct-debits/debit-facts.ts'
import type { DirectDebitDeps } from '../direct-debits/direct-debit-deps.ts'
import { DEBIT_USES, faultsOfProblem, uuidOf, type DebitKind } from './debit-rows.ts'

/** Returns the makers of what the rows of one lot ask for, which share the facts that they need. */
export async function debitMakers(
  deps: DirectDebitDeps,
  bulk: BulkRecord,
  kind: DebitKind,
  rows: readonly Pick<RowToSubmit, 'instruction'>[],
): Promise<
  (row: Pick<RowToSubmit, 'rowNumber' | 'instruction' | 'paymentId'>, caller: CommandOrigin) => Promise<RowEnd | null>
> {
  const mandateIds = kind === 'mandates' ? [] : rows.flatMap(({ instruction }) => uuidOf(instruction))
  const facts = await factsOfLot(deps.database, bulk.customerId, [...new Set(mandateIds)])
  return (row, caller) => makeOfRow(deps, bulk, kind, facts, row, caller)
}

/**
 * Makes the mandate or collection of a row.
 *
 * @returns the result of the row; null when it could not be decided and has to be submitted again
 */
async function makeOfRow(
  deps: DirectDebitDeps,
  bulk: BulkRecord,
  kind: DebitKind,
  facts: CreditorFacts,
  { rowNumber, instruction, paymentId: id }: Pick<RowToSubmit, 'rowNumber' | 'instruction' | 'paymentId'>,
  caller: CommandOrigin,
): Promise<RowEnd | null> {
  const use = DEBIT_USES[kind]
  const body = use.bodyOf(instruction, bulk, [])
  if (body === null) throw new Error(`Row ${rowNumber} of ${bulk.id} is valid without a mandate.`)
  const { value, errors } = use.validate(body)
  if (errors.length > 0) return refused(rowNumber, { slug: 'validation-error', detail: '', errors })
  try {
    const outcome = await use.make(deps, caller, value, facts)
    switch (outcome.kind) {
      case 'moved':
        return { rowNumber, failure: null, errors: [] }
      case 'refused':
        return refused(rowNumber, outcome.problem)
      case 'recorded':
        return outcome.outcome.resourceId === id
          ? { rowNumber, failure: null, errors: [] }
          : refused(rowNumber, JSON.parse(outcome.outcome.answer ?? '{}') as RecordedProblem)
      default:
        throw new Error(`Row ${rowNumber} of ${bulk.id} was answered with ${outcome.kind}.`)
    }
  } catch (error) {
    if (error instanceof ProblemError) return refused(rowNumber, error.problem)
    if (error instanceof OperatingError) return null
    throw error
  }
}

/** A problem as it was answered, and as it is stored. */
type RecordedProblem = Partial<Pick<Problem, 'slug' | 'detail' | 'errors'>> & { readonly code?: Problem['slug'] }

const FAILURES: Readonly<Record<string, RowFailure>> = {
  'limit-exceeded': 'limit_exceeded',
  'limit-reached': 'limit_exceeded',
  'customer-restricted': 'customer_restricted',
  'customer-not-active': 'customer_not_active',
}

function refused(rowNumber: number, { slug, code, detail = '', errors }: RecordedProblem): RowEnd {
  const name = slug ?? code ?? 'internal-error'
  return {
    rowNumber,
    failure: FAILURES[name] ?? 'internal_error',
    errors: faultsOfProblem({ slug: name, detail, ...(errors === undefined ? {} : { errors }) }),
  }
}
