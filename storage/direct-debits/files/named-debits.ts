/** The collections and mandates that a bank's answer names, of one operator. Statements only. */
import type { CollectionStatus } from '../../../lib/direct-debits/collection.ts'
import type { NamedCollection, NamedMandate } from '../../../lib/direct-debits/files/responses.ts'
import type { MandateStatus } from '../../../lib/direct-debits/mandate.ts'
import type { MandateScheme } from '../../../lib/rails/debit-schemes.ts'
import { plainArray, textArray } from '../../db/array-literal.ts'
import type { Database } from '../../db/database.ts'

type Queries = Pick<Database, 'query'>

const COLLECTION =
  'c.id, c.connection_id, c.scheme, c.status, c.amount::text, c.due_date::text, c.end_to_end_id, c.file_id'

function collectionOf(row: readonly unknown[]): NamedCollection {
  const [id, connectionId, scheme, status, amount, dueDate, endToEndId, fileId] = row as readonly string[]
  return {
    id: id as string,
    connectionId: connectionId as string,
    scheme: scheme as MandateScheme,
    status: status as CollectionStatus,
    amount: BigInt(amount as string),
    dueDate: dueDate as string,
    endToEndId: endToEndId as string,
    fileId: fileId ?? null,
  }
}

/** Finds collections by our references (their ids) and by their end-to-end ids; a name of nothing is absent. */
export async function collectionsNamed(
  database: Queries,
  operatorId: string,
  { ids, endToEndIds }: { readonly ids: readonly string[]; readonly endToEndIds: readonly string[] },
): Promise<readonly NamedCollection[]> {
  const rows = await database.query({
    name: 'collections_named',
    values: [operatorId, plainArray(ids), textArray(endToEndIds)],
    text: `select ${COLLECTION} from collection c where c.operator_id = $1 and c.id = any($2::uuid[])
      union select ${COLLECTION} from collection c where c.operator_id = $1 and c.end_to_end_id = any($3::text[])`,
  })
  return rows.map(collectionOf)
}

/** A file of ours as an answer names it. */
export interface NamedFile {
  readonly id: string
  readonly connectionId: string
  readonly messageId: string
}

/** Finds the written files of an operator by the ids of their messages. */
export async function filesNamed(
  database: Queries,
  operatorId: string,
  messageIds: readonly string[],
): Promise<readonly NamedFile[]> {
  const rows = await database.query({
    name: 'collection_files_named',
    values: [operatorId, textArray(messageIds)],
    text: `select id, connection_id, message_id from collection_file where operator_id = $1 and message_id = any($2::text[]) and status <> 'gathering'`,
  })
  return (rows as readonly (readonly string[])[]).map(
    ([id, connectionId, messageId]) => ({ id, connectionId, messageId }) as NamedFile,
  )
}

/** Reads the collections of a file, in batches in the order of their ids. */
export async function* collectionsOfFile(
  database: Queries,
  fileId: string,
  batch: number,
): AsyncGenerator<readonly NamedCollection[]> {
  for (let after: string | null = null; ; ) {
    const rows: readonly (readonly unknown[])[] = await database.query({
      name: 'collections_of_file',
      values: [fileId, after, batch],
      text: `select ${COLLECTION} from collection_file_line l join collection c on c.id = l.object_id
        where l.file_id = $1 and ($2::uuid is null or l.object_id > $2) order by l.object_id limit $3`,
    })
    if (rows.length === 0) return
    const found = rows.map(collectionOf)
    yield found
    after = (found.at(-1) as NamedCollection).id
  }
}

/** A debit of Bacs as its reports name it: by the mandate, one of some days, and the amount. */
export interface BacsDebitName {
  readonly reference: string
  readonly days: readonly string[]
  readonly amount: bigint
}

/** Finds the collections of a service user that a report may mean, by mandate and day; oldest first. */
export async function bacsCollectionsNamed(
  database: Queries,
  { operatorId, creditorId }: { readonly operatorId: string; readonly creditorId: string },
  names: readonly BacsDebitName[],
): Promise<readonly (NamedCollection & { readonly mandateReference: string })[]> {
  const rows = await database.query({
    name: 'bacs_collections_named',
    values: [
      operatorId,
      creditorId,
      textArray(names.map(({ reference }) => reference)),
      textArray([...new Set(names.flatMap(({ days }) => days))]),
    ],
    text: `select ${COLLECTION}, m.reference from collection c join mandate m on m.id = c.mandate_id
      where m.operator_id = $1 and m.scheme = 'bacs_dd' and m.direction = 'collect' and m.creditor_id = $2 and m.reference = any($3::text[])
        and c.due_date = any($4::text[]::date[]) and c.status <> 'pending' and c.status <> 'cancelled' order by c.id`,
  })
  return (rows as readonly (readonly unknown[])[]).map((row) => ({
    ...collectionOf(row),
    mandateReference: row[8] as string,
  }))
}

/** Finds the mandates of a service user by their references. */
export async function bacsMandatesNamed(
  database: Queries,
  { operatorId, creditorId }: { readonly operatorId: string; readonly creditorId: string },
  references: readonly string[],
): Promise<ReadonlyMap<string, NamedMandate>> {
  const rows = await database.query({
    name: 'bacs_mandates_named',
    values: [operatorId, creditorId, textArray(references)],
    text: `select m.reference, m.id, m.connection_id, m.status from mandate m
      where m.operator_id = $1 and m.scheme = 'bacs_dd' and m.direction = 'collect' and m.creditor_id = $2 and m.reference = any($3::text[])`,
  })
  return new Map(
    (rows as readonly (readonly string[])[]).map(([reference, id, connectionId, status]) => [
      reference as string,
      {
        id: id as string,
        connectionId: connectionId as string,
        scheme: 'bacs_dd',
        status: status as MandateStatus,
      },
    ]),
  )
}

/** Whether an operator collects as a service user of Bacs: a report of any other one is not for it. */
export async function isServiceUser(database: Queries, operatorId: string, creditorId: string): Promise<boolean> {
  const rows = await database.query({
    name: 'is_service_user',
    values: [operatorId, creditorId],
    text: `select from mandate where operator_id = $1 and scheme = 'bacs_dd' and creditor_id = $2 limit 1`,
  })
  return rows.length > 0
}
