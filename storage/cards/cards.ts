/** Cards as rows: read for decisions, changed by people, listed. Statements only; rules are in lib/cards. */
import type { InferEntity } from '@mikro-orm/core'
import { sql } from 'kysely'
import { timestamp } from '../../lib/base/clock.ts'
import { limitsFromJson, limitsToJson, useFromJson, useToJson } from '../../lib/cards/card-json.ts'
import type { CardRecord } from '../../lib/cards/card.ts'
import type { ListResult, RowQuery } from '../../lib/contract/list.ts'
import { plainArray } from '../db/array-literal.ts'
import type { Reader } from '../db/connection.ts'
import { entitiesOf } from '../db/entities.ts'
import { Conditions, EMPTY, readPage, type ReadDatabase, type TimeTo } from '../db/page.ts'
import { expression, from, select } from '../db/select.ts'
import { readerOf, through, type TransactionClient } from '../db/transaction.ts'
import { Card } from './card-entity.ts'

/** The zone in which periods of limits begin: that of the customer's preferences; UTC where they name none. */
const ZONE = `coalesce((select s.value->>'timezone' from setting s where s.owner_id = c.customer_id and s.name = 'preferences'), 'UTC')`

export const CARD = select({ ...from(Card, 'c'), zone: expression<string>(ZONE) })

export const cardOf = ({ limits, used, ...row }: ReturnType<typeof CARD.read>): CardRecord => ({
  ...row,
  limits: limitsFromJson(limits),
  used: useFromJson(used),
})

/** Reads cards by their ids; an id without a row is absent. */
export async function readCards(reader: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, CardRecord>> {
  const { rows } = await reader.query({
    name: 'cards',
    text: `select ${CARD.sql} from card c where c.id = any($1::uuid[])`,
    values: [plainArray(ids)],
  })
  return new Map(rows.map((row) => cardOf(CARD.read(row))).map((card) => [card.id, card]))
}

/** Adds a card. */
export async function insertCard(
  client: TransactionClient,
  { zone: _, version: __, ...card }: CardRecord,
): Promise<void> {
  const { customerId, limits, controls, used } = card
  await entitiesOf(client, { customerId }).insert(Card, {
    ...card,
    limits: limitsToJson(limits),
    controls,
    used: useToJson(used),
  })
}

/** Locks a card of a customer until the transaction ends; null when the customer has none with this id. */
export async function lockCard(client: TransactionClient, customerId: string, id: string): Promise<CardRecord | null> {
  const locked = await entitiesOf(client, { customerId }).lock(Card, { id })
  return locked === null ? null : ((await readCards(readerOf(through(client)), [id])).get(id) ?? null)
}

/** The members of a card that people change. */
export type CardEdit = Partial<
  Pick<
    CardRecord,
    | 'label'
    | 'status'
    | 'limits'
    | 'controls'
    | 'cancelAfterPayments'
    | 'closeReason'
    | 'replacedByCardId'
    | 'networkTokenRef'
  >
>

/** Writes a locked card, whose version rises. */
export async function updateCard(
  client: TransactionClient,
  { id, customerId }: Pick<CardRecord, 'id' | 'customerId'>,
  { limits, ...edit }: CardEdit,
  now: number,
): Promise<void> {
  const entities = entitiesOf(client, { customerId })
  const found: InferEntity<typeof Card> = await entities.get(Card, id)
  Object.assign(found, edit, limits === undefined ? {} : { limits: limitsToJson(limits) }, { updatedAt: now })
  await entities.save()
}

export interface CardFilters {
  readonly status?: readonly string[]
  readonly balanceId?: readonly string[]
  readonly holderUserId?: readonly string[]
  readonly type?: readonly string[]
  readonly createdFrom?: string
  readonly createdTo?: TimeTo
}

/** Lists the cards of a customer, or of one holder alone, by pages. @throws DatabaseUnavailable */
export async function listCards(
  db: ReadDatabase,
  { tenant, filters, sort, ...query }: RowQuery<CardFilters, '-createdAt' | 'createdAt'>,
  onlyHolder: string | null,
): Promise<ListResult<CardRecord>> {
  if (tenant.kind !== 'customer') return query.withTotal ? { ...EMPTY, total: 0 } : EMPTY
  const where = new Conditions()
    .add(sql`c.customer_id = ${tenant.id}::uuid`)
    .anyOf(sql`c.status`, filters.status, 'text')
    .anyOf(sql`c.balance_id`, filters.balanceId, 'uuid')
    .anyOf(sql`c.holder_user_id`, filters.holderUserId, 'uuid')
    .anyOf(sql`c.type`, filters.type, 'text')
    .anyOf(sql`c.holder_user_id`, onlyHolder === null ? undefined : [onlyHolder], 'uuid')
    .created('c', filters.createdFrom, filters.createdTo)
  const branch = {
    columns: sql.raw(CARD.named),
    from: sql`card c`,
    where: where.list,
    order: { keys: [{ expression: sql`c.id`, type: 'uuid' as const }], descending: sort === '-createdAt' },
  }
  const { rows, ...page } = await readPage<object>(db, [branch], query)
  return { ...page, rows: rows.map((row) => cardOf(CARD.readNamed(row))) }
}

/** The number of a customer's cards that are neither expired nor closed. */
export async function countOpenCards(client: TransactionClient, customerId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>({
    name: 'open_cards',
    text: `select count(*)::int as count from card where customer_id = $1 and status not in ('expired', 'closed')`,
    values: [customerId],
  })
  return rows[0]?.count ?? 0
}

/** Closes the open cards that pay from a locked balance. @returns them, with their statuses before */
export async function closeCardsOfBalance(
  client: TransactionClient,
  balanceId: string,
  now: number,
): Promise<readonly { readonly id: string; readonly status: string }[]> {
  const { rows } = await client.query<{ id: string; status: string }>({
    name: 'close_cards_of_balance',
    values: [balanceId, timestamp(now)],
    text: `with open as materialized (
        select id, status from card where balance_id = $1 and status not in ('expired', 'closed') order by id for update)
      update card c set status = 'closed', close_reason = 'unwanted', version = c.version + 1, updated_at = $2
      from open where c.id = open.id returning open.id, open.status`,
  })
  return rows
}
