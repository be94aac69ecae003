/** The recipients of a sandbox customer, and the approval that one of them waits for. */
import { timestamp } from '../../lib/base/clock.ts'
import { DEFAULT_TIER } from '../../lib/approvals/policy.ts'
import { opening, summary } from '../../lib/approvals/opening.ts'
import { maskAccountNumber, maskIban } from '../../lib/recipients/masking.ts'
import { openedReview } from '../../lib/recipients/review.ts'
import { accountIdentityOf } from '../../lib/recipients/validation.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import { writeEffects } from '../sections/write-effects.ts'
import type { Row, SeedTransaction } from './seed-transaction.ts'
import { KEY_NAME } from './seed-keys.ts'

/** Account numbers of the sandbox bank: their check digits are right, their banks do not exist. */
const SANDBOX_RECIPIENTS = [
  {
    key: 'EUR',
    currency: 'EUR',
    country: 'NL',
    name: 'Amsterdam Trading BV',
    status: 'active',
    bank: { iban: 'NL77SBOX0100000001', bic: 'SBOXNL2A' },
    masked: maskIban('NL77SBOX0100000001'),
  },
  {
    key: 'GBP',
    currency: 'GBP',
    country: 'GB',
    name: 'London Supplies Ltd',
    status: 'active',
    bank: { sortCode: '990001', accountNumber: '10000001' },
    masked: maskAccountNumber('10000001'),
  },
  {
    key: 'USD',
    currency: 'USD',
    country: 'US',
    name: 'New York Services Inc',
    status: 'active',
    bank: { routingNumber: '099000011', accountNumber: '1000000001', accountType: 'checking' },
    masked: maskAccountNumber('1000000001'),
  },
  {
    key: 'pending',
    currency: 'EUR',
    country: 'NL',
    name: 'Rotterdam Freight BV',
    status: 'pending_approval',
    bank: { iban: 'NL50SBOX0100000002', bic: 'SBOXNL2A' },
    masked: maskIban('NL50SBOX0100000002'),
  },
] as const

const SANDBOX_ADDRESSES: Readonly<Record<string, object>> = {
  NL: address('Keizersgracht', '1', 'Amsterdam', { postalCode: '1015CJ', country: 'NL' }),
  GB: address('Fleet Street', '1', 'London', { postalCode: 'EC4Y 1AA', country: 'GB' }),
  US: address('Broadway', '1', 'New York', { postalCode: '10004', state: 'NY', country: 'US' }),
}

function address(
  line1: string,
  buildingNumber: string,
  city: string,
  rest: { readonly postalCode: string; readonly state?: string; readonly country: string },
): object {
  return {
    line1,
    line2: null,
    buildingNumber,
    city,
    postalCode: rest.postalCode,
    state: rest.state ?? null,
    country: rest.country,
  }
}

/**
 * Recipients made by a key wait for an approval, so an approval is opened for each. A new sandbox sends no mail:
 * approvers see the approvals when they sign in.
 */
export async function askForApproval(
  tx: SeedTransaction,
  operatorId: string,
  recipients: readonly Row[],
): Promise<void> {
  if (recipients.length === 0) return
  const asked = recipients.map(
    ({ id, customer_id: customerId, created_by: requestedBy, name, masked_identifier: recipientMaskedIdentifier }) =>
      opening(
        {
          id: tx.ids.next(),
          eventId: tx.ids.next(),
          customerId: customerId as string,
          operatorId,
          shard: shardOf(customerId as string),
          subjectType: 'recipient',
          subjectId: id as string,
          subject: summary({
            title: `Recipient ${name as string}`,
            recipientName: name as string,
            recipientMaskedIdentifier: recipientMaskedIdentifier as string,
          }),
          kind: 'recipient',
          source: 'recipient',
          tier: DEFAULT_TIER,
          tierCurrency: 'EUR',
          requestedBy: requestedBy as string,
          requestedByName: KEY_NAME,
          sandboxDecision: null,
        },
        tx.now,
      ),
  )
  const approvals = asked.flatMap((one) => one.approvals)
  await writeEffects(tx, { approvals, events: asked.flatMap((one) => one.events) })
  await tx.client.query('update approval set announced_at = created_at, wake_at = expires_at where id = any($1)', [
    approvals.map(({ id }) => id),
  ])
  await tx.client.query(
    'update recipient r set approval = u.approval::jsonb from unnest($1::uuid[], $2::text[]) u(id, approval) where r.id = u.id',
    [
      approvals.map(({ subjectId }) => subjectId),
      approvals.map(({ id }) => JSON.stringify(openedReview('customer_tier', 'customer', id, tx.now))),
    ],
  )
}

export function recipientsOf(
  { ids, now }: SeedTransaction,
  { customerId, createdBy }: { readonly customerId: string; readonly createdBy: string },
) {
  const rows = SANDBOX_RECIPIENTS.map(
    ({ key, currency, country, name, status, bank, masked }): Row => ({
      id: ids.next(),
      customer_id: customerId,
      type: 'business',
      name,
      currency,
      bank_country: country,
      bank: JSON.stringify(bank),
      address: JSON.stringify(SANDBOX_ADDRESSES[country]),
      masked_identifier: masked,
      account_identity: accountIdentityOf(country, bank),
      external_id: `sandbox-${key}`,
      status,
      created_by: createdBy,
      created_at: timestamp(now),
      updated_at: timestamp(now),
    }),
  )
  const [EUR, GBP, USD] = rows.map(({ id }) => id as string) as [string, string, string]
  return { rows, active: { EUR, GBP, USD } }
}
