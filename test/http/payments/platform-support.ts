/** Payments to balances on this platform, in tests: two customers of one operator, and the one as the recipient of the other. */
import type { AccountDetails } from '../../../lib/accounts/account-details-schema.ts'
import type { IncomingPayment } from '../../../lib/incoming-payments/incoming-payment-schema.ts'
import type { Payment } from '../../../lib/payments/payment-schema.ts'
import type { Client } from '../../support/client.ts'
import type { Customer, World } from '../../support/world.ts'
import { createByKey, setMode } from '../recipients/support.ts'

export const eur = (minor: number | bigint) => ({ amountMinor: String(minor), currency: 'EUR' })

/** The account by which a balance is reached from its own country. */
export const accountOf = async (client: Client, balanceId: string): Promise<AccountDetails> =>
  (await client.list<AccountDetails>(`/balances/${balanceId}/details`)).body.data[0]!

/** A recipient of `payer` whose account is that of a balance of `payee`. Made by key, and approved as people would. */
export async function recipientOf(world: World, payer: Client, payee: Client, balanceId: string): Promise<string> {
  const {
    iban,
    sortCode,
    accountNumber,
    routingNumber,
    accountHolderName: name,
    currency,
    country,
  } = await accountOf(payee, balanceId)
  const address = { line1: 'Street 1', city: 'City', postalCode: '10005', state: 'NY', country: 'US' }
  const bank =
    iban !== null
      ? { iban }
      : sortCode !== null
        ? { bankCountry: country, sortCode, accountNumber }
        : { bankCountry: country, routingNumber, accountNumber, accountType: 'checking' }
  const made = await createByKey(payer, {
    name,
    currency,
    bank,
    ...(routingNumber === null ? {} : { address }),
  } as never)
  if (made.status !== 201) throw new Error(made.text)
  await approved(world, made.body.id)
  return made.body.id
}

/** Lets what waits for people go on, without their signing in. */
export async function approved(world: World, recipientId: string): Promise<void> {
  await world.query('delete from outbox where object_id in (select id from approval where subject_id = $1)', [
    recipientId,
  ])
  await world.query('delete from approval where subject_id = $1', [recipientId])
  await world.query(`update recipient set status = 'active', approval = null, version = version + 1 where id = $1`, [
    recipientId,
  ])
}

export interface Pair {
  readonly payer: Customer
  readonly payee: Customer
  readonly from: string
  readonly to: string
  readonly recipientId: string
}

/** Two customers of one operator, and the one as the recipient of the other. */
export async function pairOf(world: World, amount = 100_000n): Promise<Pair> {
  await setMode(world, 'none')
  const payer = await world.customer({ balances: [{ currency: 'EUR', amount }] })
  const payee = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const [from, to] = [payer.balanceIds[0]!, payee.balanceIds[0]!]
  return { payer, payee, from, to, recipientId: await recipientOf(world, payer.client, payee.client, to) }
}

export const incomingOf = async ({ client }: Customer) =>
  (await client.list<IncomingPayment>('/incoming-payments')).body.data
export const made = async (client: Client, body: Parameters<Client['createPayment']>[0]): Promise<Payment> =>
  (await client.createPayment(body)).body
export const rulesOf = async (world: World, id: string) =>
  (
    await world.query<{ entry: string }>(
      `select p.rule || ' ' || p.amount as entry from posting p where p.source_id = $1 order by p.entry_id, p.ordinal`,
      [id],
    )
  ).map(({ entry }) => entry)
