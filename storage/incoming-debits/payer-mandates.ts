/** The mandates of the payer's side, read for decisions. */
import { createHash } from 'node:crypto'
import type { PayConsent, PayerMandate } from '../../lib/incoming-debits/effects.ts'
import { comparedCreditor } from '../../lib/balances/debit-controls.ts'
import { plainArray } from '../db/array-literal.ts'
import { Mandate } from '../direct-debits/mandate-entity.ts'
import type { Queries } from '../db/transaction.ts'
import { expression, from, select } from '../db/select.ts'
import { pick, without } from '../db/columns.ts'
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

const CONSENT = select({
  ...pick(from(Mandate, 'm'), ['id', 'version', 'status', 'amountLimit']),
  creditorId: expression<string | null>(`m.counterparty::json->>'creditorId'`),
})

/**
 * Reads the mandate that a customer keeps to pay a creditor by, as far as a debit names it; null: there is none. Of
 * several the newest counts.
 */
export async function payConsent(
  database: Queries,
  {
    balanceId,
    scheme,
    creditorId,
    mandateReference,
  }: Pick<PayerMandate, 'balanceId' | 'scheme' | 'creditorId'> & { readonly mandateReference: string | null },
): Promise<PayConsent | null> {
  if (mandateReference === null) return null
  const rows = await database.query({
    name: 'pay_consent',
    values: [balanceId, scheme, mandateReference],
    text: `select ${CONSENT.sql} from mandate m where m.balance_id = $1 and m.direction = 'pay' and m.scheme = $2 and m.reference = $3
      order by m.created_at desc, m.id desc`,
  })
  const creditor = creditorId === null ? null : comparedCreditor(creditorId)
  for (const row of rows) {
    const { creditorId: theirs, ...consent } = CONSENT.read(row)
    if (creditor === null || theirs === null || comparedCreditor(theirs) === creditor) return consent
  }
  return null
}
