/** The mandates of the payer's side, read for decisions. */
import { createHash } from 'node:crypto'
import type { PayerMandate } from '../../lib/incoming-debits/effects.ts'
import { comparedCreditor } from '../../lib/balances/debit-controls.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Queries } from '../db/transaction.ts'
import { from, select } from '../db/select.ts'
import { without } from '../db/columns.ts'
import { PayerMandateRow } from './payer-mandate-entity.ts'

const MANDATE = select(without(from(PayerMandateRow, 'm'), ['updatedAt']))

/**
 * Derives the id of a mandate from what tells it apart, so that two debits that name it make one row. A creditor without
 * an identifier is known by its name.
 */
export function payerMandateId({
  balanceId,
  scheme,
  creditorId,
  creditorName,
  reference,
}: Pick<PayerMandate, 'balanceId' | 'scheme' | 'creditorId' | 'creditorName' | 'reference'>): string {
  const creditor = creditorId === null ? `name ${creditorName.toUpperCase()}` : `id ${comparedCreditor(creditorId)}`
  const hash = createHash('sha256')
    .update(JSON.stringify([balanceId, scheme, creditor, reference]))
    .digest('hex')
  // A UUID of version 8 (RFC 9562), which applications fill as they like.
  const variant = (8 | (Number.parseInt(hash.slice(16, 17), 16) & 3)).toString(16)
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

/** Reads mandates by their ids; one that is not written is absent. @throws DatabaseUnavailable, and the driver's errors */
export async function payerMandates(
  database: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PayerMandate>> {
  if (ids.length === 0) return new Map()
  const rows = await database.query({
    name: 'payer_mandates',
    values: [plainArray([...new Set(ids)])],
    text: `select ${MANDATE.sql} from payer_mandate m where m.id = any($1::uuid[])`,
  })
  return new Map(rows.map((row) => MANDATE.read(row)).map((mandate) => [mandate.id, mandate]))
}
