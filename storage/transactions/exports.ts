/** Reads transactions for exports: their number, and all of them, one batch at a time. */
import { sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { asUnavailable } from '../db/pool.ts'
import type { Position } from '../../lib/contract/list.ts'
import { all, conditionsOf, readPage, type ReadDatabase } from '../db/page.ts'
import {
  transactionBranch,
  transactionRecord,
  type TransactionFilters,
  type TransactionRow,
} from './transaction-queries.ts'
import { catchUp } from './transactions.ts'
import type { TransactionRecord } from '../../lib/transactions/transaction.ts'

/** The transactions to export. */
export interface ExportQuestion {
  readonly customerId: string
  readonly filters: TransactionFilters
  readonly q: string | null
}

const branchOf = ({ customerId, filters, q }: ExportQuestion) =>
  transactionBranch({ tenant: { id: customerId, kind: 'customer' }, filters, sort: 'createdAt', q })

/** Counts the transactions, including all commits before the call; `max` + 1 for more. @throws DatabaseUnavailable */
export async function countTransactions(
  database: Database,
  db: ReadDatabase,
  question: ExportQuestion,
  max: number,
  now: number,
): Promise<number> {
  await catchUp(database, question.customerId, now)
  const branch = branchOf(question)
  const { rows } = await sql<{
    count: string
  }>`select count(*) from (select from ${branch.from} where ${all(conditionsOf(branch))} limit ${sql.lit(max + 1)}) found`
    .execute(db.kysely)
    .catch((error: unknown) => {
      throw asUnavailable(error)
    })
  return Number(rows[0]?.count ?? 0)
}

/**
 * Reads all matching transactions, oldest first, in batches; each batch is read after the consumer has finished the one
 * before. @throws DatabaseUnavailable
 */
export async function* transactionsOf(
  db: ReadDatabase,
  question: ExportQuestion,
  limit: number,
): AsyncGenerator<TransactionRecord[]> {
  const branch = branchOf(question)
  let position: Position | null = null
  for (;;) {
    const page: Awaited<ReturnType<typeof readPage<TransactionRow>>> = await readPage<TransactionRow>(db, [branch], {
      limit,
      position,
      withTotal: false,
      q: question.q,
    })
    if (page.rows.length > 0) yield page.rows.map(transactionRecord)
    if (!page.hasMore) return
    position = { direction: 'after', keys: page.keys.at(-1)! }
  }
}
