/** The words of questions to partners, and of their answers beside an outcome: facts of orders, and references of their own. */
import type { Rail } from '../../lib/rails/rails.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import { expression, select } from '../db/select.ts'
import type { Queries } from '../db/transaction.ts'

/** A payment about which its partner is asked. */
export interface AskedPayment {
  readonly reference: string
  readonly connectionId: string
  readonly providerRef: string | null
  readonly rail: Rail
  readonly currency: string
  /** Minor units. */
  readonly amount: bigint
  /** Epoch milliseconds. */
  readonly sentAt: number
}

const ASKED = select({
  reference: expression<string>('p.id'),
  connectionId: expression<string>('p.connection_id'),
  providerRef: expression<string | null>('p.provider_ref'),
  rail: expression<Rail>('p.rail'),
  currency: expression<string>('p.currency'),
  amount: expression<string>('p.amount::text'),
  sentAt: expression<number>('(extract(epoch from coalesce(p.sent_at, p.updated_at)) * 1000)::float8'),
})

/**
 * Reads the payments of these ids, for questions to their partners. Payments that do not exist are absent.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function askedPayments(database: Queries, ids: readonly string[]): Promise<readonly AskedPayment[]> {
  const rows = await database.query({
    name: 'asked_payments',
    text: `select ${ASKED.sql} from payment p where p.id = any($1::uuid[]) and p.rail is not null`,
    values: [plainArray(ids)],
  })
  return rows.map((row) => {
    const asked = ASKED.read(row)
    return { ...asked, amount: BigInt(asked.amount) }
  })
}

/** Reads the connections of exchanges, by the exchanges' ids. @throws DatabaseUnavailable and the driver's errors */
export async function connectionsOfExchanges(
  database: Queries,
  ids: readonly string[],
): Promise<readonly { readonly reference: string; readonly connectionId: string }[]> {
  const rows = await database.query<[string, string]>({
    name: 'connections_of_exchanges',
    text: 'select id, connection_id from exchange where id = any($1::uuid[])',
    values: [plainArray(ids)],
  })
  return rows.map(([reference, connectionId]) => ({ reference, connectionId }))
}

/**
 * Writes the references that partners have given payments; one that was written before stays. The payments' versions
 * stay too: nothing is decided by these references.
 *
 * @throws DatabaseUnavailable and the driver's errors
 */
export async function keepProviderRefs(database: Queries, refs: ReadonlyMap<string, string>): Promise<void> {
  if (refs.size === 0) return
  await database.query({
    name: 'keep_provider_refs',
    text: `update payment p set provider_ref = u.ref from unnest($1::uuid[], $2::text[]) as u(id, ref)
      where p.id = u.id and p.provider_ref is null`,
    values: [plainArray([...refs.keys()]), textArray([...refs.values()])],
  })
}
