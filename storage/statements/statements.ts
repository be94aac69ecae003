/**
 * Statements as rows, and the journal lines they show. A statement is planned once, in a transaction: its first and
 * last line, and their totals. Everything shown later is read from those lines, which never change.
 */
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type {
  StatementFormat,
  StatementHead,
  StatementHolder,
  StatementKind,
  StatementLine,
  StatementStatus,
} from '../../lib/statements/statement.ts'
import { accountDetailsOf } from '../accounts/account-details.ts'
import type { Database } from '../db/database.ts'
import { keepFile } from '../documents/files.ts'
import { bookedLine, lineColumns, linesFrom, SIDES, type LineRow } from '../journal/journal-lines.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { expression, select } from '../db/select.ts'
import type { CustomerAddress } from '../../lib/customers/customer-address-schema.ts'

/** A statement as stored. */
export interface StatementRecord extends StatementHead {
  readonly customerId: string
  readonly operatorId: string
  readonly firstSequence: number
  /** One less than `firstSequence` where there are no lines. */
  readonly lastSequence: number
  /** The largest amount of its lines. */
  readonly largest: bigint
  readonly status: StatementStatus
  readonly version: number
  readonly jobId: string | null
  /** The formats whose files are ready. */
  readonly formats: readonly StatementFormat[]
}

export interface StatementColumns {
  readonly id: string
  readonly customer_id: string
  readonly operator_id: string
  readonly balance_id: string
  readonly kind: StatementKind
  readonly sequence_number: number
  readonly period_from: string
  readonly period_to: string
  readonly currency: CurrencyCode
  readonly first_sequence: string
  readonly last_sequence: string
  readonly opening: string
  readonly closing: string
  readonly credits: string
  readonly debits: string
  readonly credit_count: string
  readonly debit_count: string
  readonly largest: string
  readonly holder: string
  readonly status: StatementStatus
  readonly version: number
  readonly job_id: string | null
  readonly created_at: Date
  readonly formats: StatementFormat[]
}

export const STATEMENT_COLUMNS = `s.id, s.customer_id, s.operator_id, s.balance_id, s.kind, s.sequence_number, s.period_from::text as period_from, s.period_to::text as period_to, s.currency,
  s.first_sequence, s.last_sequence, s.opening, s.closing, s.credits, s.debits, s.credit_count, s.debit_count, s.largest, s.holder, s.status, s.version, s.job_id, s.created_at,
  array(select f.format from statement_file f where f.statement_id = s.id order by array_position('{pdf,csv,xlsx,camt053,mt940}', f.format)) as formats`

export function statementRecord(row: StatementColumns): StatementRecord {
  return {
    id: row.id,
    customerId: row.customer_id,
    operatorId: row.operator_id,
    kind: row.kind,
    sequenceNumber: row.sequence_number,
    from: row.period_from,
    to: row.period_to,
    currency: row.currency,
    firstSequence: Number(row.first_sequence),
    lastSequence: Number(row.last_sequence),
    opening: BigInt(row.opening),
    closing: BigInt(row.closing),
    credits: BigInt(row.credits),
    debits: BigInt(row.debits),
    creditCount: Number(row.credit_count),
    debitCount: Number(row.debit_count),
    largest: BigInt(row.largest),
    holder: JSON.parse(row.holder) as StatementHolder,
    status: row.status,
    version: row.version,
    jobId: row.job_id,
    createdAt: row.created_at.getTime(),
    formats: row.formats,
  }
}

/** The fields of a balance that its statements need. */
export interface StatementBalance {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly shard: number
  readonly currency: CurrencyCode
}

/** Reads a balance of a customer; null when it is not the customer's. */
export async function statementBalance(
  database: Database,
  customerId: string,
  balanceId: string,
): Promise<StatementBalance | null> {
  const [row] = await database.query<[string, number, CurrencyCode]>({
    name: 'statement_balance',
    text: 'select operator_id, shard, currency from balance where id = $1 and customer_id = $2',
    values: [balanceId, customerId],
  })
  return row === undefined ? null : { id: balanceId, customerId, operatorId: row[0], shard: row[1], currency: row[2] }
}

const HOLDER = select({
  operatorName: expression<string>('o.name'),
  name: expression<string>('c.legal_name'),
  balanceName: expression<string>('b.name'),
  address: expression<
    CustomerAddress['address'] | null
  >(`(select a.address from customer_address a where a.customer_id = c.id
        order by array_position('{correspondence,registered,operating}', a.kind), a.id limit 1)`),
})

/** Reads the holder of a balance and its present account details. */
export async function holderOf(database: Database, balanceId: string): Promise<StatementHolder> {
  const [row] = await database.query({
    name: 'statement_holder',
    values: [balanceId],
    text: `select ${HOLDER.sql}
      from balance b join customer c on c.id = b.customer_id join operator o on o.id = b.operator_id where b.id = $1`,
  })
  if (row === undefined) throw new Error(`The balance ${balanceId} has vanished.`)
  const { operatorName, name, balanceName, address } = HOLDER.read(row)
  const details = (await accountDetailsOf(database, [balanceId]))
    .get(balanceId)
    ?.find(({ status, shared }) => status === 'active' && !shared)
  return {
    operatorName,
    name,
    balanceId,
    balanceName,
    address:
      address === null
        ? []
        : [
            address.line1,
            address.line2,
            [address.postalCode, address.city].filter((part) => part != null && part !== '').join(' '),
            address.country,
          ].filter((line): line is string => line != null && line !== ''),
    iban: details?.iban ?? null,
    bic: details?.bic ?? null,
    accountNumber: details?.accountNumber ?? null,
    bankName: details?.bankName ?? null,
  }
}

/** Finds the statement of a job; null while the job has planned none. */
export async function statementOfJob(
  client: Pick<TransactionClient, 'query'>,
  jobId: string,
): Promise<StatementRecord | null> {
  const {
    rows: [row],
  } = await client.query<StatementColumns>({
    name: 'statement_of_job',
    text: `select ${STATEMENT_COLUMNS} from statement s where s.job_id = $1`,
    values: [jobId],
  })
  return row === undefined ? null : statementRecord(row)
}

/** Marks a statement as ready in these formats, and keeps their files. */
export async function finishStatement(
  client: TransactionClient,
  id: string,
  files: readonly { readonly format: StatementFormat; readonly fileId: string }[],
): Promise<void> {
  for (const { format, fileId } of files) {
    await keepFile(client, fileId, null)
    await client.query({
      name: 'statement_file_insert',
      text: 'insert into statement_file (statement_id, format, file_id) values ($1, $2, $3)',
      values: [id, format, fileId],
    })
  }
  await client.query({
    name: 'statement_ready',
    text: `update statement set status = 'ready', version = version + 1 where id = $1`,
    values: [id],
  })
}

/** Marks the statement of a failed job as failed, if there is one. */
export async function failStatement(client: TransactionClient, jobId: string): Promise<void> {
  await client.query({
    name: 'statement_failed',
    text: `update statement set status = 'failed', version = version + 1 where job_id = $1 and status = 'preparing'`,
    values: [jobId],
  })
}

/** Finds the file of a statement in a format; null when there is none. */
export async function statementFile(database: Database, id: string, format: StatementFormat): Promise<string | null> {
  const [row] = await database.query<[string]>({
    name: 'statement_file_of',
    text: 'select file_id from statement_file where statement_id = $1 and format = $2',
    values: [id, format],
  })
  return row?.[0] ?? null
}

/** Both sides are ranges of an index. A sequence has no gaps, so the number of sequences is the number of lines. */
const LINES = SIDES.map(
  (side) => `select ${lineColumns(side)},
    case p.source_object when 'payment' then (select o.details::json->>'endToEndId' from payment o where o.id = p.source_id)
      when 'incoming_payment' then (select i.end_to_end_id from incoming_payment i where i.id = p.source_id)
      when 'incoming_debit' then (select d.end_to_end_id from incoming_debit d where d.id = p.source_id)
      when 'collection' then (select l.end_to_end_id from collection l where l.id = p.source_id) end as end_to_end_id
  from ${linesFrom(side)} where p.${side}_account = $1 and p.${side}_sequence is not null and p.${side}_sequence >= $2 and p.${side}_sequence <= $3`,
).join(' union all ')

/** Reads lines of a balance by their sequences, both ends included, in order. @throws DatabaseUnavailable */
export async function readLines(
  database: Database,
  balanceId: string,
  from: number,
  to: number,
): Promise<StatementLine[]> {
  const { rows } = await database.pool.query<LineRow & { readonly end_to_end_id: string | null }>({
    name: 'statement_lines',
    text: LINES,
    values: [balanceId, from, to],
  })
  const lines = rows.map((row): StatementLine => {
    const { reversalOf, ...line } = bookedLine(row)
    return { ...line, endToEndId: row.end_to_end_id, isReversal: reversalOf !== null }
  })
  return lines.sort((left, right) => left.sequence - right.sequence)
}

/** Finds the statement of the month that ends on a day; null when there is none. */
export async function statementOfMonth(
  database: Database,
  balanceId: string,
  to: string,
): Promise<StatementRecord | null> {
  const {
    rows: [row],
  } = await database.pool.query<StatementColumns>({
    name: 'statement_of_month',
    values: [balanceId, to],
    text: `select ${STATEMENT_COLUMNS} from statement s where s.balance_id = $1 and s.period_to = $2 and s.kind = 'monthly'`,
  })
  return row === undefined ? null : statementRecord(row)
}
