/**
 * Payments to the customer's own accounts, over HTTP: a policy that leaves them out asks nobody about them, and about
 * everything else.
 */
import t from 'tap'
import type { AccountDetails } from '../../../lib/accounts/account-details-schema.ts'
import type { PaymentCheck } from '../../../lib/payments/payment-schema.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody, type World } from '../../support/world.ts'
import { createAs, setMode } from '../recipients/support.ts'
import { setPolicy, tier } from './people.ts'

const detailsOf = async (world: World, balanceId: string) =>
  (await world.seeded.client.list<AccountDetails>(`/balances/${balanceId}/details`)).body.data

t.test("a policy may leave out payments to accounts of the customer's own", async (t) => {
  await using world = await createWorld({ dispatch: false })
  const { client, balances, recipients } = world.seeded
  const owner = await world.person('owner').signIn()
  await setMode(world, 'none')
  const [euro] = await detailsOf(world, balances.EUR)
  const [pound] = await detailsOf(world, balances.GBP)
  const [dollar] = await detailsOf(world, balances.USD)
  // The accounts are those of further balances: no balance pays itself.
  const savings: Record<'EUR' | 'GBP' | 'USD', string> = { EUR: '', GBP: '', USD: '' }
  for (const currency of ['EUR', 'GBP', 'USD'] as const) {
    savings[currency] = (await owner.post<{ readonly id: string }>('/balances', { currency })).body.id
    await world.query('update account_details set balance_id = $1 where balance_id = $2', [
      savings[currency],
      balances[currency],
    ])
  }
  const other = await world.customer({ balances: [{ currency: 'EUR', amount: 0n }] })
  const [stranger] = (await other.client.list<AccountDetails>(`/balances/${other.balanceIds[0]!}/details`)).body.data
  const recipient = async (currency: string, bank: object, name = 'Sandbox Company'): Promise<string> => {
    const made = await createAs(owner, {
      currency,
      bank,
      name,
      address: { line1: 'Street 1', city: 'City', postalCode: '10005', state: 'NY', country: 'US' },
    } as never)
    t.equal(made.status, 201, made.text)
    return made.body.id
  }
  const ours = {
    EUR: await recipient('EUR', { iban: euro!.iban }),
    GBP: await recipient('GBP', { bankCountry: 'GB', sortCode: '99-00-01', accountNumber: pound!.accountNumber }),
    USD: await recipient('USD', {
      bankCountry: 'US',
      routingNumber: dollar!.routingNumber,
      accountNumber: dollar!.accountNumber,
      accountType: 'checking',
    }),
  }
  const theirs = await recipient('EUR', { iban: stranger!.iban }, stranger!.accountHolderName)
  const samePlace = await recipient('GBP', { bankCountry: 'GB', sortCode: '200000', accountNumber: '55779911' })
  const pay = async (currency: 'EUR' | 'GBP' | 'USD', id: string): Promise<string> => {
    const made = await client.createPayment(paymentBody(balances[currency], id, 5_000, currency))
    t.equal(made.status, 201, made.text)
    return made.body.status
  }
  const needed = async (id: string): Promise<boolean | null> =>
    (await client.post<PaymentCheck>('/payments/validate', paymentBody(balances.EUR, id, 5_000))).body.approval.required

  await setPolicy(t, owner, 'payment', { tiers: [tier(1, 0, null)], exemptOwnAccounts: false })
  for (const currency of ['EUR', 'GBP', 'USD'] as const)
    t.equal(await pay(currency, ours[currency]), 'pending_approval', `${currency}: nothing is left out`)
  t.equal(await needed(ours.EUR), true)

  // Leaving something out is loosening, which waits for somebody else; here it is the terms that are looked at.
  await world.query(`update approval_policy set terms = jsonb_set(terms, '{exemptOwnAccounts}', 'true')`)
  await world.query('update balance set version = version + 1')
  await world.restart()
  for (const currency of ['EUR', 'GBP', 'USD'] as const)
    t.equal(await pay(currency, ours[currency]), 'processing', `${currency}: an account of their own`)
  t.equal(await needed(ours.EUR), false)
  t.equal(await pay('EUR', recipients.EUR), 'pending_approval', 'somebody else')
  t.equal(await pay('EUR', theirs), 'pending_approval', 'another customer of the same bank')
  t.equal(await pay('GBP', samePlace), 'pending_approval')

  const told = async (required: boolean) =>
    await until('every node has heard of it', async () => ((await needed(ours.EUR)) === required ? true : null))
  await world.query('update account_details set shared = true where balance_id = $1', [savings.EUR])
  t.ok(await told(true), "an account that many share is nobody's own")
  await world.query('update account_details set shared = false where balance_id = $1', [savings.EUR])
  await told(false)
  await world.query(`update account_details set status = 'closed' where balance_id = $1`, [savings.EUR])
  t.ok(await told(true), 'an account that is closed leads nowhere')
  t.equal(await pay('EUR', ours.EUR), 'pending_approval')
  const [waiting] = await world.query<{ n: number }>(
    `select count(*)::int as n from payment where status = 'pending_approval'`,
  )
  t.match(waiting, { n: 7 })
})
