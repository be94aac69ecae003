/**
 * Alerts to a customer's users, as its alert settings demand: a low balance, a credit, a large payment; and, always, a
 * direct debit that is announced, waits for them or was refused, a collection that came back, and a mandate that its payer has cancelled. Derived from a range of events, in the transaction that follows them.
 */
import { formatMajor } from '../../lib/base/money.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { NoticeType } from '../../lib/notices/notices.ts'
import { IN_EVENT_RANGE, type EventRange } from '../outbox/outbox-cursor.ts'
import { insertNotices, peopleInRoles } from '../notices/notices.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { bigintOrNull, expression, select } from '../db/select.ts'

const setting = (name: string, enabled: boolean) => `coalesce((s.value->'${name}'->>'enabled')::boolean, ${enabled})`
const above = (name: string) => `(s.value->'${name}'->'threshold'->>'amountMinor' is null
  or (s.value->'${name}'->'threshold'->>'currency' = o.currency and o.amount >= (s.value->'${name}'->'threshold'->>'amountMinor')::bigint))`

/**
 * For each event that a setting demands an alert for: the subject, with the name of the balance, the number of the
 * payment or the name of the payer or creditor. Names are read one by one, by id: with a join, Postgres would read their tables
 * whole as soon as statistics are outdated.
 */
const ALERT = select({
  type: expression<keyof typeof ALERTS>('o.type'),
  objectId: expression<string>('o.object_id'),
  customerId: expression<string>('o.customer_id'),
  amount: bigintOrNull('o.amount'),
  currency: expression<CurrencyCode | null>('o.currency'),
  name: expression<string | null>(`case o.type
    when 'balance.low' then (select b.name from balance b where b.id = o.object_id)
    when 'payment.created' then (select p.number from payment p where p.id = o.object_id)
    when 'incoming_debit.received' then (select d.creditor_name from incoming_debit d where d.id = o.object_id)
    when 'incoming_debit.status_changed' then (select d.creditor_name from incoming_debit d where d.id = o.object_id)
    when 'collection.status_changed' then (select c.number from collection c where c.id = o.object_id)
    when 'mandate.status_changed' then (select m.reference from mandate m where m.id = o.object_id)
    else (select i.payer_name from incoming_payment i where i.id = o.object_id) end`),
})
const WANTED = `select ${ALERT.sql}
  from outbox o left join setting s on s.owner_id = o.customer_id and s.name = 'alerts'
  where ${IN_EVENT_RANGE} and not o.sandbox and o.type in ('balance.low', 'incoming_payment.received', 'payment.created', 'incoming_debit.received',
    'incoming_debit.status_changed', 'collection.status_changed', 'mandate.status_changed') and case o.type
    when 'balance.low' then ${setting('balanceLow', true)}
    when 'incoming_payment.received' then ${setting('incoming', false)} and ${above('incoming')}
    when 'incoming_debit.received' then o.status in ('announced', 'pending_confirmation')
    when 'incoming_debit.status_changed' then o.status = 'refused'
      and not exists (select from incoming_debit d where d.id = o.object_id and d.refusal = 'refused_by_customer')
    when 'collection.status_changed' then o.status = 'returned'
    when 'mandate.status_changed' then o.status = 'cancelled'
      and not exists (select from status_update u where u.object_id = o.object_id and u.status = 'cancelled' and u.actor = 'member')
    when 'payment.created' then ${setting('largePayment', false)} and ${above('largePayment')} else false end
  order by o.created_at, o.id`

interface Alert {
  readonly notice: NoticeType
  readonly object: string
  readonly roles: readonly string[]
  readonly title: (name: string) => string
  readonly text: (amount: string, name: string) => string
}

const ALERTS = {
  'balance.low': {
    notice: 'balance_low',
    object: 'balance',
    roles: ['owner', 'admin', 'accountant'],
    title: (name) => `The balance ${name} is low`,
    text: (amount, name) => `${amount} are available on the balance ${name}, less than its threshold.`,
  },
  'incoming_payment.received': {
    notice: 'incoming_payment',
    object: 'incoming_payment',
    roles: ['owner', 'admin', 'accountant'],
    title: () => 'Money has come in',
    text: (amount, name) => `${amount} have come in from ${name}.`,
  },
  'payment.created': {
    notice: 'large_payment',
    object: 'payment',
    roles: ['owner', 'admin'],
    title: (name) => `Payment ${name} was created`,
    text: (amount, name) => `${amount} are to be paid by payment ${name}.`,
  },
  'incoming_debit.received': {
    notice: 'incoming_debit',
    object: 'incoming_debit',
    roles: ['owner', 'admin', 'accountant'],
    title: () => 'A direct debit is announced',
    text: (amount, name) => `${amount} are to be debited by ${name}.`,
  },
  'incoming_debit.status_changed': {
    notice: 'incoming_debit',
    object: 'incoming_debit',
    roles: ['owner', 'admin', 'accountant'],
    title: () => 'A direct debit was refused',
    text: (amount, name) => `A direct debit of ${amount} by ${name} was refused.`,
  },
  'collection.status_changed': {
    notice: 'collection_returned',
    object: 'collection',
    roles: ['owner', 'admin', 'accountant'],
    title: (name) => `Collection ${name} came back`,
    text: (amount, name) => `The collection ${name} of ${amount} came back from the bank of its payer.`,
  },
  'mandate.status_changed': {
    notice: 'mandate_cancelled',
    object: 'mandate',
    roles: ['owner', 'admin', 'accountant'],
    title: (name) => `Mandate ${name} was cancelled`,
    text: (_, name) => `The payer or its bank has cancelled the mandate ${name}; its pending collections end with it.`,
  },
} as const satisfies Record<string, Alert>

/** Writes the alerts for a range of events, as notices and mails. */
export async function tellAlerts(
  client: TransactionClient,
  ids: IdSource,
  { bounds }: Pick<EventRange, 'bounds'>,
  now: number,
): Promise<void> {
  const { rows } = await client.query<unknown[]>({
    name: 'wanted_alerts',
    text: WANTED,
    values: [...bounds],
    rowMode: 'array',
  })
  const people = new Map<string, Promise<string[]>>()
  for (const row of rows) {
    const { type, objectId, customerId, amount, currency, name } = ALERT.read(row)
    const alert: Alert = ALERTS[type]
    const key = `${customerId} ${alert.roles.join()}`
    if (!people.has(key)) people.set(key, peopleInRoles(client, customerId, alert.roles))
    const title = alert.title(name ?? 'unnamed')
    const money = amount === null || currency === null ? '' : `${formatMajor(amount, currency)} ${currency}`
    const text = alert.text(money, name ?? 'somebody who is not named')
    await insertNotices(
      client,
      ids,
      (await people.get(key)) as string[],
      { tenantId: customerId, type: alert.notice, title, text, object: { type: alert.object, id: objectId } },
      now,
    )
  }
}
