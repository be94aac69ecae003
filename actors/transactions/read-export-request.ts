/** Reads a request of an export: what a client may ask for, and the form in which its job runs. */
import { hasSandboxToken } from '../../lib/sandbox/triggers.ts'
import { DAY_MS } from '../../lib/base/clock.ts'
import type { ExportJobRequest } from './export-job.ts'
import { isExportColumn } from '../../lib/transactions/transaction-table.ts'
import { FAIL_CODE } from '../../lib/jobs/job.ts'
import { ProblemError, refuseField } from '../../lib/base/problems.ts'
import type { TransactionFilters } from '../../storage/transactions/transaction-queries.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ExportRequest } from '../../lib/transactions/export-schema.ts'
import type { ListParser } from '../../lib/contract/query.ts'

/** The maximum number of days of an export that names days. */
const DAYS_MAX = 366
/** The filters that camt.053 and MT940 accept. */
const STATEMENT_FILTERS: ReadonlySet<string> = new Set(['balanceId', 'bookedFrom', 'bookedTo'])

/** An export as its job runs it. */
export interface ReadExport {
  readonly request: ExportJobRequest
  /** Whether it is a full export, which needs a fresh step-up proof. */
  readonly isFull: boolean
}

/**
 * Reads the request of an export. Its filters are parsed by `parse`, the parser of the transaction list.
 *
 * @throws ProblemError `validation-error`
 */
export function readExportRequest(
  {
    clock,
    sandbox,
    parse,
  }: { readonly clock: { now(): number }; readonly sandbox: boolean; readonly parse: ListParser },
  by: Caller,
  body: ExportRequest,
): ReadExport {
  const {
    format,
    columns = null,
    timezone = 'UTC',
    decimalSeparator = '.',
    includeAnnotations = false,
    includeAttachments = false,
  } = body
  const { filters, q } = filtersOf(parse, by, body)
  // The type comes from the declaration of this list; the parser is generic for all lists.
  const { amountFrom, amountTo, ...others } = filters as TransactionFilters
  const fails = sandbox && columns?.some((column) => hasSandboxToken(column, FAIL_CODE)) === true
  columns?.forEach((column, index) => {
    if (!isExportColumn(column) && !fails)
      refuseField(`/columns/${index}`, 'invalid_value', 'The column does not exist.')
  })
  if (columns !== null && !fails && format !== 'csv' && format !== 'xlsx')
    refuseField('/columns', 'not_applicable', 'Only CSV and XLSX have columns.')
  checkTimeZone(timezone)
  if (isStatementFormat(format)) {
    checkStatementFilters(body)
    if (q !== null) refuseField('/q', 'not_applicable', 'Does not narrow a statement.')
    if (others.balanceId?.length !== 1) refuseField('/filter/balanceId', 'required', 'A statement is of one balance.')
    if (includeAnnotations) refuseField('/includeAnnotations', 'not_applicable', 'A statement has none.')
  }
  const spans = [
    [others.bookedFrom, others.bookedTo],
    [others.createdFrom, others.createdTo],
  ] as const
  for (const [from, to] of spans) {
    if (from === undefined) continue
    const end = to === undefined ? clock.now() : Date.parse(to.before)
    if (end - Date.parse(from) > DAYS_MAX * DAY_MS)
      refuseField('/filter', 'too_large', `An export covers at most ${DAYS_MAX} days.`, { max: DAYS_MAX })
  }
  const isLimited = others.balanceId !== undefined && spans.some(([from]) => from !== undefined)
  return {
    isFull: includeAttachments || !isLimited,
    request: {
      format,
      q,
      columns,
      timezone,
      decimalSeparator,
      includeAnnotations,
      includeAttachments,
      sandbox,
      filters: {
        ...others,
        ...(amountFrom === undefined ? {} : { amountFrom: String(amountFrom) }),
        ...(amountTo === undefined ? {} : { amountTo: String(amountTo) }),
      },
    },
  }
}

/** Whether a format is that of a bank statement, which covers all transactions of one balance in a period. */
export const isStatementFormat = (format: ExportRequest['format']): boolean =>
  format === 'camt053' || format === 'mt940'

function checkStatementFilters({ filter = {} }: ExportRequest): void {
  for (const name of Object.keys(filter))
    if (!STATEMENT_FILTERS.has(name)) refuseField(`/filter/${name}`, 'not_applicable', 'Does not narrow a statement.')
}

function checkTimeZone(timezone: string): void {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(timezone)
  } catch {
    // The calendar throws for an unknown zone, without further detail.
    refuseField('/timezone', 'invalid_value', 'No such time zone.')
  }
}

/** Parses the filters with the parser of the transaction list. */
function filtersOf(parse: ListParser, by: Caller, { filter = {}, q = null }: ExportRequest) {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter))
    query.append(`filter[${name}]`, Array.isArray(value) ? value.join(',') : String(value))
  if (q !== null) query.append('q', q)
  try {
    return parse(query.toString(), by.tenant, 'exportTransactions')
  } catch (error) {
    throw inBody(error)
  }
}

/** Turns a problem of a query string into a problem of the body whose members made up that query string. */
function inBody(error: unknown): unknown {
  if (
    !(error instanceof ProblemError) ||
    (error.problem.slug !== 'malformed-request' && error.problem.slug !== 'too_many_filter_values')
  )
    return error
  const errors = error.problem.errors?.map((each) => ({
    ...each,
    field: each.field.replace(/^query\.filter\[(.*)\]$/, '/filter/$1').replace(/^query\.q$/, '/q'),
  }))
  return new ProblemError({
    slug: 'validation-error',
    detail: 'Some fields of the body are not valid.',
    errors: errors ?? [{ field: '/filter', code: 'too_large', message: 'Has too many values.' }],
  })
}
