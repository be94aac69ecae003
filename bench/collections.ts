/**
 * Collections in large numbers: one mandate and one pending collection, made through the API, are copied in a few
 * statements, with their updates and events, so that the audit finds nothing missing.
 */

type Query = (text: string) => Promise<unknown>

const mandateOf = (nth: string): string => `('0f000000-0000-7000-8000-' || lpad(to_hex(${nth}), 12, '0'))::uuid`
const collectionOf = (nth: string): string => `('0f000000-0000-7000-9000-' || lpad(to_hex(${nth}), 12, '0'))::uuid`

/** Copies a collection and its mandate, both by their ids, so often. */
export async function copyCollections(
  query: Query,
  {
    mandateId,
    collectionId,
    count,
  }: { readonly mandateId: string; readonly collectionId: string; readonly count: number },
): Promise<void> {
  const all = `generate_series(1, ${count}) n`
  await query(`insert into mandate select (jsonb_populate_record(m, jsonb_build_object('id', ${mandateOf('n')}, 'reference', 'BENCH' || n))).*
    from mandate m, ${all} where m.id = '${mandateId}'`)
  await query(`insert into collection select (jsonb_populate_record(c, jsonb_build_object('id', ${collectionOf('n')}, 'mandate_id', ${mandateOf('n')},
      'number', 'COLB' || n, 'end_to_end_id', 'COLB' || n, 'external_id', null))).*
    from collection c, ${all} where c.id = '${collectionId}'`)
  for (const [id, copy] of [
    [mandateId, mandateOf('n')],
    [collectionId, collectionOf('n')],
  ] as const) {
    await query(`insert into status_update select (jsonb_populate_record(u, jsonb_build_object('object_id', ${copy}))).*
      from status_update u, ${all} where u.object_id = '${id}'`)
    await query(`insert into outbox select (jsonb_populate_record(o, jsonb_build_object('id', uuidv7(), 'object_id', ${copy}))).*
      from outbox o, ${all} where o.object_id = '${id}'`)
  }
  await query(`update debit_exposure e set amount = e.amount + ${count} * c.amount from collection c
    where c.id = '${collectionId}' and e.customer_id = c.customer_id and e.currency = c.currency`)
  await query('analyze mandate, collection')
}
