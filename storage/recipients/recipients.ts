/**
 * Rows of recipients as they are created, changed and deleted. Statements only; rules are in lib/recipients.
 *
 * Written by hand: payments are fenced by these rows, and a change locks them in one order with reviews.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { Editor } from '../../lib/approvals/requesters.ts'
import type { RecipientMode } from '../../lib/approvals/policy.ts'
import type { RecipientApproval, RecipientStatus } from '../../lib/recipients/review.ts'
import type { CheckedRecipient } from '../../lib/recipients/validation.ts'
import type { RecipientVerification, VerificationPolicy } from '../../lib/recipients/verification.ts'
import { recipientColumns, recipientRecord, type RecipientColumns, type RecipientRecord } from './recipient-queries.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { REQUIRES_VERIFICATION } from './verification-policy.ts'

/** The fields of a recipient to be written. */
export interface RecipientValues extends CheckedRecipient {
  readonly type: 'business' | 'individual'
  readonly name: string
  readonly nickname: string | null
  readonly email: string | null
  readonly currency: string
  readonly defaultReference: string | null
  readonly purpose: string | null
  readonly externalId: string | null
  readonly metadata: Readonly<Record<string, string>>
  readonly status: RecipientStatus
  readonly verification: RecipientVerification | null
  readonly approval: RecipientApproval | null
}

/** The facts about the recipients' customer. */
export interface RecipientCustomer {
  readonly operatorId: string
  readonly shard: number
  /** The operator's mode; a customer's own policy takes precedence. */
  readonly approvalMode: RecipientMode
  readonly policy: VerificationPolicy
}

const COLUMNS = [
  'type',
  'name',
  'nickname',
  'email',
  'currency',
  'bank_country',
  'bank',
  'address',
  'masked_identifier',
  'account_identity',
  'default_reference',
  'purpose',
  'external_id',
  'metadata',
  'status',
  'verification',
  'approval',
] as const
/** The first parameter number of the columns. */
const FIRST = 3

function parametersOf(values: RecipientValues): unknown[] {
  return [
    values.type,
    values.name,
    values.nickname,
    values.email,
    values.currency,
    values.bankCountry,
    JSON.stringify(values.bank),
    json(values.address),
    values.maskedIdentifier,
    values.accountIdentity,
    values.defaultReference,
    values.purpose,
    values.externalId,
    JSON.stringify(values.metadata),
    values.status,
    json(values.verification),
    json(values.approval),
  ]
}

const json = (value: object | null): string | null => (value === null ? null : JSON.stringify(value))
const place = (index: number): string => `$${FIRST + index}`

/**
 * Reads the customer of recipients, with the customer's and its operator's settings. @throws when the customer does not
 * exist
 */
export async function recipientCustomer(
  client: Pick<TransactionClient, 'query'>,
  customerId: string,
): Promise<RecipientCustomer> {
  const {
    rows: [row],
  } = await client.query<{
    operator_id: string
    shard: number
    mode: RecipientMode
    required: boolean
    overrides: string[]
  }>({
    name: 'recipient_customer',
    text: `select c.operator_id, c.shard, o.recipient_approval_mode as mode, ${REQUIRES_VERIFICATION} as required, o.recipient_allowed_overrides as overrides
      from customer c join operator o on o.id = c.operator_id where c.id = $1`,
    values: [customerId],
  })
  if (row === undefined) throw new Error(`The customer ${customerId} does not exist.`)
  return {
    operatorId: row.operator_id,
    shard: row.shard,
    approvalMode: row.mode,
    policy: { requireVerification: row.required, allowedOverrides: row.overrides },
  }
}

/** Serialises changes of one customer's recipients that must be unique or bounded, until the transaction ends. */
export async function lockRecipientsOf(client: TransactionClient, customerId: string): Promise<void> {
  await client.query({
    name: 'lock_recipients',
    text: `select pg_advisory_xact_lock(hashtextextended('recipients of ' || $1::text, 0))`,
    values: [customerId],
  })
}

/** Whether a customer has at least this many recipients that are not deleted. */
export async function hasRecipients(client: TransactionClient, customerId: string, count: number): Promise<boolean> {
  const { rows } = await client.query({
    name: 'has_recipients',
    text: `select from recipient where customer_id = $1 and status <> 'deleted' offset $2 limit 1`,
    values: [customerId, count - 1],
  })
  return rows.length > 0
}

/** Finds the recipient, other than `except`, that has an account already; null when none has. */
export async function recipientWithAccount(
  client: TransactionClient,
  {
    customerId,
    currency,
    accountIdentity,
    except,
  }: {
    readonly customerId: string
    readonly currency: string
    readonly accountIdentity: string
    readonly except: string | null
  },
): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>({
    name: 'recipient_with_account',
    text: `select id from recipient where customer_id = $1 and currency = $2 and account_identity = $3 and status <> 'deleted' and id is distinct from $4`,
    values: [customerId, currency, accountIdentity, except],
  })
  return rows[0]?.id ?? null
}

/** Finds the recipient, other than `except`, that has an external id already; null when none has. */
export async function recipientWithExternalId(
  client: TransactionClient,
  {
    customerId,
    externalId,
    except,
  }: { readonly customerId: string; readonly externalId: string; readonly except: string | null },
): Promise<string | null> {
  const { rows } = await client.query<{ id: string }>({
    name: 'recipient_with_external_id',
    text: `select id from recipient where customer_id = $1 and external_id = $2 and status <> 'deleted' and id is distinct from $3`,
    values: [customerId, externalId, except],
  })
  return rows[0]?.id ?? null
}

export async function insertRecipient(
  client: TransactionClient,
  {
    id,
    customerId,
    createdBy,
    now,
  }: { readonly id: string; readonly customerId: string; readonly createdBy: string; readonly now: number },
  values: RecipientValues,
): Promise<void> {
  const last = FIRST + COLUMNS.length
  await client.query({
    name: 'insert_recipient',
    text: `insert into recipient (id, customer_id, ${COLUMNS.join(', ')}, created_by, created_at, updated_at)
      values ($1, $2, ${COLUMNS.map((_, index) => place(index)).join(', ')}, $${last}, $${last + 1}, $${last + 1})`,
    values: [id, customerId, ...parametersOf(values), createdBy, timestamp(now)],
  })
}

/** Writes the fields of a recipient as its next version. */
export async function updateRecipient(
  client: TransactionClient,
  { id, editors, now }: { readonly id: string; readonly editors: readonly Editor[]; readonly now: number },
  values: RecipientValues,
): Promise<void> {
  await client.query({
    name: 'update_recipient',
    text: `update recipient set updated_at = $2, version = version + 1, ${COLUMNS.map((name, index) => `${name} = ${place(index)}`).join(', ')}, editors = ${place(COLUMNS.length)} where id = $1`,
    values: [id, timestamp(now), ...parametersOf(values), JSON.stringify(editors)],
  })
}

/**
 * Locks a recipient, with all its fields, until the transaction ends; null when it is deleted or not the customer's.
 */
export async function lockRecipient(
  client: TransactionClient,
  customerId: string,
  id: string,
): Promise<RecipientRecord | null> {
  const {
    rows: [row],
  } = await client.query<RecipientColumns>({
    name: 'lock_recipient',
    text: `select ${recipientColumns} from recipient r where r.id = $1 and r.customer_id = $2 and r.status <> 'deleted' for update`,
    values: [id, customerId],
  })
  return row === undefined ? null : recipientRecord(row)
}

/** Writes the status and approval of a recipient after its review or its deletion. */
export async function setRecipientState(
  client: TransactionClient,
  id: string,
  {
    status,
    approval,
    now,
  }: { readonly status: RecipientStatus; readonly approval: RecipientApproval | null; readonly now: number },
): Promise<void> {
  await client.query({
    name: 'set_recipient_state',
    text: 'update recipient set status = $2, approval = $3, updated_at = $4, version = version + 1 where id = $1',
    values: [id, status, json(approval), timestamp(now)],
  })
}

/** Records the last check of the name. */
export async function setRecipientVerification(
  client: TransactionClient,
  id: string,
  verification: RecipientVerification,
  now: number,
): Promise<void> {
  await client.query({
    name: 'set_recipient_verification',
    text: 'update recipient set verification = $2, updated_at = $3, version = version + 1 where id = $1',
    values: [id, json(verification), timestamp(now)],
  })
}

/** Payments in these states still need their recipient. */
const OPEN = `('scheduled', 'pending_approval', 'processing', 'on_hold', 'exception')`

/**
 * Finds the first payments that still need a recipient. No index on payments is needed: until its handover to the
 * partner a payment has an active hold, and from its release to its outcome an instruction; a payment for a later day
 * waits for an approval or for its day; a payment under review has a hold of another name. A payment that is being
 * written at this very moment is not seen: it goes through, with the recipient as it was.
 */
export async function openPaymentsTo(
  client: TransactionClient,
  {
    customerId,
    recipientId,
    shard,
    max,
  }: { readonly customerId: string; readonly recipientId: string; readonly shard: number; readonly max: number },
): Promise<readonly string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'open_payments_to',
    text: `select p.id from balance b join hold h on h.balance_id = b.id and h.status = 'active' join payment p on p.id = h.subject_id
        where b.customer_id = $1 and p.recipient_id = $2 and p.status in ${OPEN}
      union select p.id from partner_instruction i join payment p on p.id = i.payment_id
        where i.shard = $3 and p.customer_id = $1 and p.recipient_id = $2 and p.status in ${OPEN}
      union select p.id from payment_due d join payment p on p.id = d.payment_id where d.shard = $3 and p.customer_id = $1 and p.recipient_id = $2
      union select p.id from approval a join payment p on p.id = a.subject_id
        where a.customer_id = $1 and a.status = 'pending' and a.subject_type = 'payment' and p.recipient_id = $2
      union select p.id from compliance_hold c join payment p on p.id = c.subject_id
        where c.customer_id = $1 and c.status = 'open' and p.recipient_id = $2 and p.status in ${OPEN}
      order by id limit $4`,
    values: [customerId, recipientId, shard, max],
  })
  return rows.map(({ id }) => id)
}

/** Reads the customer of a recipient, if it is one of the operator's; null otherwise. */
export async function customerOfRecipient(
  client: TransactionClient,
  operatorId: string,
  id: string,
): Promise<string | null> {
  const { rows } = await client.query<{ customer_id: string }>({
    name: 'customer_of_recipient',
    text: 'select r.customer_id from recipient r join customer c on c.id = r.customer_id where r.id = $1 and c.operator_id = $2',
    values: [id, operatorId],
  })
  return rows[0]?.customer_id ?? null
}
