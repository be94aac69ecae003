/**
 * The *row-lock* baseline: what a competent team writes first. The same HTTP stack, the same schema, the same decision
 * and the same rows as the service, but every payment is a transaction of its own over a pool: the key is looked up,
 * the balance is locked with `select … for update`, the rows are written one table after the other, and it commits.
 *
 * Statements are prepared by name on every connection, as the service's are, so that the comparison is about the
 * transactions and not about parsing.
 */
import pg from 'pg'
import { NO_CONTROLS } from '../../lib/balances/debit-controls.ts'
import type { PaymentQueue } from '../../actors/payments/payment-queue.ts'
import type { Approvals } from '../../actors/approvals/approvals.ts'
import type { ActorSystem } from '../../actors/runtime/system.ts'
import { createPaymentCommands, type PaymentCommands } from '../../actors/payments/payment-operations.ts'
import { createAnswers, createIdempotencyRecords } from '../../actors/commands/answers.ts'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { BalanceState } from '../../lib/balances/balance.ts'
import type { Refused } from '../../lib/balances/decision.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { createPayment } from '../../lib/payments/create-payment.ts'
import type { CreatePayment, PaymentCreated } from '../../lib/payments/create-payment-command.ts'
import { sandboxPayee } from '../../lib/sandbox/payees.ts'
import { BalanceCache } from '../../storage/balances/balance-cache.ts'
import type { StoredOutcome } from '../../storage/commit/idempotency-section.ts'
import type { Database } from '../../storage/db/database.ts'
import { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { RecipientCache } from '../../storage/recipients/recipient-cache.ts'

/**
 * The size that served it best. Payments a second over 64 requests on two cores, hot balance: 696 with 4 connections,
 * 715 with 8, 569 with 12, 577 with 20 (the last two with a fifth of a core busy elsewhere). Over a thousand balances,
 * without HTTP, sizes from 4 to 16 lie within the noise (1 400 to 1 740) and 20 is the slowest (1 310).
 */
export const ROW_LOCK_POOL = 8

const RETENTION_DAYS = 1

export interface RowLockOptions {
  readonly database: Database
  readonly databaseUrl: string
  readonly poolMax: number
  readonly ids: IdSource
  readonly clock: Clock
  readonly problemBase: string
}

/**
 * The commands of the API with row locks behind them. Everything around the transaction is the service's own flow: what
 * is read beforehand, its caches and the answer's bytes; only the ask to the balance's actor is a transaction here.
 */
export function rowLockCommands({ database, databaseUrl, poolMax, ids, clock, problemBase }: RowLockOptions): {
  commands: PaymentCommands
  close(): Promise<void>
} {
  const payments = new RowLockPayments(databaseUrl, poolMax)
  const system = {
    ask: (_kind: unknown, balanceId: string, _shard: number, command: CreatePayment) =>
      payments.create(balanceId, command, clock.now()),
    remember: () => undefined,
  }
  const queue = {
    place: (now: number) => ({ position: 1, etaSeconds: 1, estimatedAt: timestamp(now + 1_000) }),
    offer: () => undefined,
  }
  const { createPayment: create } = createPaymentCommands(
    {
      // The flow asks nothing else of them.
      system: system as unknown as ActorSystem,
      queue: queue as unknown as PaymentQueue,
      approvals: null as unknown as Approvals,
      payees: { verifyPayee: async (question) => sandboxPayee(question) },
      ids,
      clock,
      sandbox: true,
      database,
      balances: new BalanceCache(database),
      recipients: new RecipientCache(database),
      orderNumbers: new OrderNumbers(database),
    },
    createAnswers({
      database,
      problemBase,
      findIdempotencyRecord: createIdempotencyRecords({ database, clock }),
    }),
  )
  return {
    commands: {
      createPayment: create,
      checkPayment: paymentsOnly,
      submitPayment: paymentsOnly,
      cancelPayment: paymentsOnly,
    },
    close: () => payments.close(),
  }
}

/** The outcome of one payment. `recorded` is the outcome of an earlier request under the same key. */
export type RowLockOutcome =
  | { readonly kind: 'decided'; readonly reply: PaymentCreated | Refused }
  | { readonly kind: 'recorded'; readonly outcome: StoredOutcome }

const LOCK_BALANCE = `select id, customer_id, operator_id, connection_id, shard, currency, name, status, posted - held, version
  from balance where id = $1 for update`

type Values = readonly (string | number | bigint | null)[]

/** Payments over a pool, one transaction each. */
export class RowLockPayments {
  readonly #pool: pg.Pool

  constructor(databaseUrl: string, poolMax: number = ROW_LOCK_POOL) {
    this.#pool = new pg.Pool({ connectionString: databaseUrl, max: poolMax, application_name: 'vostro bench row-lock' })
  }

  async create(balanceId: string, command: CreatePayment, now: number): Promise<RowLockOutcome> {
    const client = await this.#pool.connect()
    try {
      await client.query('begin')
      const outcome = await this.#decide(client, balanceId, command, now)
      await client.query('commit')
      client.release()
      return outcome
    } catch (error) {
      client.release(error as Error)
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #decide(
    client: pg.PoolClient,
    balanceId: string,
    command: CreatePayment,
    now: number,
  ): Promise<RowLockOutcome> {
    if (command.key !== null) {
      const [recorded] = await query(
        client,
        'find_idempotency',
        `select fingerprint, status, resource_type, resource_id, answer, created_at from idempotency where id = $1 and day >= $2::date - ${RETENTION_DAYS}`,
        [command.key.id, timestamp(now).slice(0, 10)],
      )
      if (recorded !== undefined) {
        const [fingerprint, status, resourceType, resourceId, answer, createdAt] = recorded as [
          string,
          number,
          StoredOutcome['resourceType'],
          string | null,
          string | null,
          Date,
        ]
        return {
          kind: 'recorded',
          outcome: { fingerprint, status, resourceType, resourceId, answer, decidedAt: timestamp(createdAt.getTime()) },
        }
      }
    }
    const [row] = await query(client, 'lock_balance', LOCK_BALANCE, [balanceId])
    const decision = createPayment(row === undefined ? null : balanceState(row), command, now)
    if (decision.effects !== null) await write(client, decision.effects, now)
    return { kind: 'decided', reply: decision.reply }
  }
}

async function query(client: pg.PoolClient, name: string, text: string, values: Values): Promise<unknown[][]> {
  const { rows } = await client.query({ name, text, values: values as unknown[], rowMode: 'array' })
  return rows as unknown[][]
}

function balanceState(row: unknown[]): BalanceState {
  const [id, customerId, operatorId, connectionId, shard, currency, name, status, available, version] = row as [
    string,
    string,
    string,
    string,
    number,
    string,
    string,
    BalanceState['status'],
    string,
    string,
  ]
  return {
    id,
    customerId,
    operatorId,
    connectionId,
    shard,
    currency,
    name,
    status,
    available: BigInt(available),
    version: BigInt(version),
    policy: null,
    exchangePolicy: null,
    limits: null,
    fees: [],
    calendar: null,
    customerStatus: 'active',
    customerMeasure: null,
    railVersion: 1,
    debitControls: NO_CONTROLS,
  }
}

/** Writes what a decision on a payment wants written, one statement a row. */
async function write(client: pg.PoolClient, effects: Effects, now: number): Promise<void> {
  const at = timestamp(now)
  for (const p of effects.payments ?? []) {
    await insert(client, 'payment', {
      id: p.id,
      customer_id: p.customerId,
      operator_id: p.operatorId,
      connection_id: p.connectionId,
      shard: p.shard,
      number: p.number,
      external_id: p.externalId,
      status: p.status,
      version: 1,
      source_balance_id: p.sourceBalanceId,
      paying_balance_id: p.payingBalanceId,
      recipient_id: p.recipientId,
      hold_id: p.holdId,
      currency: p.currency,
      amount: p.amount,
      fee: p.fee,
      rail: p.rail,
      execution_date: p.executionDate,
      created_by: p.createdBy,
      created_via: p.createdVia,
      details: p.details,
      metadata: p.metadata,
      created_at: at,
      updated_at: at,
    })
  }
  for (const h of effects.holds ?? []) {
    await insert(client, 'hold', {
      id: h.id,
      balance_id: h.balanceId,
      customer_id: h.customerId,
      amount: h.amount,
      status: 'active',
      subject_type: h.subjectType,
      subject_id: h.subjectId,
      description: h.description,
      created_at: at,
    })
  }
  for (const s of effects.statusUpdates ?? []) {
    await insert(client, 'status_update', {
      object_id: s.objectId,
      version: s.version,
      customer_id: s.customerId,
      status: s.status,
      previous_status: s.previousStatus,
      message: s.message,
      actor: s.actor,
      at,
    })
  }
  for (const e of effects.events ?? []) {
    await insert(client, 'outbox', {
      id: e.id,
      created_at: at,
      customer_id: e.customerId,
      operator_id: e.operatorId,
      shard: e.shard,
      type: e.type,
      object: e.object,
      object_id: e.objectId,
      status: e.status,
      previous_status: e.previousStatus,
      amount: e.amount,
      currency: e.currency,
    })
  }
  for (const i of effects.instructions ?? [])
    await insert(client, 'partner_instruction', { payment_id: i.paymentId, shard: i.shard })
  if (effects.idempotency !== undefined) {
    const i = effects.idempotency
    await insert(client, 'idempotency', {
      id: i.id,
      day: at.slice(0, 10),
      fingerprint: i.fingerprint,
      status: i.status,
      resource_type: i.resourceType,
      resource_id: i.resourceId,
      answer: i.answer,
      created_at: at,
    })
  }
  for (const h of effects.holds ?? []) {
    await query(
      client,
      'hold_funds',
      'update balance set held = held + $2, version = version + 1, updated_at = $3 where id = $1',
      [h.balanceId, h.amount, at],
    )
  }
}

const inserts = new Map<string, string>()

async function insert(
  client: pg.PoolClient,
  table: string,
  row: Readonly<Record<string, string | number | bigint | null>>,
): Promise<void> {
  let text = inserts.get(table)
  if (text === undefined) {
    const columns = Object.keys(row)
    text = `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, nth) => `$${nth + 1}`).join(', ')})`
    inserts.set(table, text)
  }
  await query(client, `insert_${table}`, text, Object.values(row))
}

function paymentsOnly(): never {
  throw new Error('The baseline makes payments only.')
}
