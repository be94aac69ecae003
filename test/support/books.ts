/**
 * A ledger to read and audit: a seeded sandbox whose payments and transfers are decided and committed as in production.
 */
import type { Described } from '../../lib/decisions/seeded.ts'
import { NO_MARKET } from '../../lib/exchange/market.ts'
import { NO_REQUEST } from '../../lib/balances/decision.ts'
import pg from 'pg'
import type { Test } from 'tap'

import { paymentActor } from '../../actors/payments/payment.ts'
import { ManualClock } from '../../lib/base/clock.ts'
import { createIdSource, orderNumber } from '../../lib/base/ids.ts'
import { createPayment } from '../../lib/payments/create-payment.ts'
import type { CreatePayment } from '../../lib/payments/create-payment-command.ts'
import { NONE_GIVEN } from '../../lib/payments/given-schema.ts'
import type { PaymentMoveContext, PaymentCommand } from '../../lib/payments/payment-state.ts'
import { newRecall, type RecallCommand } from '../../lib/payments/recall.ts'
import { createTransfer } from '../../lib/transfers/transfer.ts'
import { commit } from '../../storage/sections/commit.ts'
import type { CommitCommand } from '../../storage/commit/turn.ts'
import { Connection } from '../../storage/db/connection.ts'
import { Database } from '../../storage/db/database.ts'
import { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { createBalanceReads } from '../../actors/balances/balance-reads.ts'
import { createIncomingPaymentReads } from '../../actors/incoming-payments/incoming-payment-reads.ts'
import { createPaymentReads } from '../../actors/payments/payment-reads.ts'
import { createRecipientReads } from '../../actors/recipients/recipient-reads.ts'
import { createTransferReads } from '../../actors/transfers/transfer-reads.ts'
import { findApiKey } from '../../storage/identity/api-key-queries.ts'
import { findIdempotencyRecord } from '../../storage/replay/recorded-commands.ts'
import { seedSandbox, type SandboxContent } from '../../storage/seed/seed.ts'
import { loadBalances } from '../../storage/balances/balance-states.ts'
import { loadPayments } from '../../storage/payments/payment-states.ts'
import { createTestDatabase } from './postgres.ts'

export const START = Date.parse('2026-05-04T09:30:00.000Z')

/** A database with a sandbox in it, gone when the test ends. */
export async function openBooks(t: Test) {
  const testDatabase = await createTestDatabase()
  const database = new Database(testDatabase.url, 4)
  const connection = await Connection.open(testDatabase.url, 'test')
  const client = new pg.Client({ connectionString: testDatabase.url })
  await client.connect()
  t.teardown(async () => {
    await client.end()
    await connection.close()
    await database.close()
    await testDatabase[Symbol.asyncDispose]()
  })
  const clock = new ManualClock(START)
  const ids = createIdSource(clock)
  const sandbox = await seedSandbox({ database, clock, ids, kept: null })
  const accounts = new InternalAccountCache(database, ids)
  const reads = {
    ...createBalanceReads({ database }),
    ...createIncomingPaymentReads({ database }),
    ...createPaymentReads({ database, clock, drainPerSecond: () => 10 }),
    ...createRecipientReads({ database, clock }),
    ...createTransferReads({ database }),
    findApiKey: (sha256: string) => findApiKey(database, sha256),
    findIdempotencyRecord: (id: string) => findIdempotencyRecord(database, id, clock.now()),
  }
  let numbers = 0n

  async function write(
    fence: { readonly balanceId: string; readonly version: bigint } | null,
    command: CommitCommand,
  ): Promise<void> {
    const result = await commit(connection, [{ fence, commands: [command] }], clock.now())
    if (!result.ok) throw new Error(JSON.stringify(result.conflicts))
  }

  async function balanceState(id: string) {
    return (await loadBalances(connection, [id], false)).get(id)!
  }

  async function context(currency: 'EUR'): Promise<PaymentMoveContext> {
    const { operatorId, connectionId } = await balanceState(sandbox.customer.balances[currency])
    return { accounts: await accounts.accounts({ operatorId, connectionId, currency }), ids, valueDate: '2026-05-04' }
  }

  /** Makes a payment in EUR and returns its id. */
  async function pay(options: Partial<CreatePayment> = {}, taxBps = 0n): Promise<string> {
    clock.advance(1)
    const balance = await balanceState(sandbox.customer.balances.EUR)
    const paymentId = ids.next()
    numbers += 1n
    const decision = createPayment(
      {
        ...balance,
        fees: [
          {
            kind: 'payment',
            rail: null,
            fixed: 15n,
            bps: 0n,
            min: 0n,
            max: null,
            taxBps,
            refundable: false,
            passedOn: false,
          },
        ],
      },
      {
        kind: 'create_payment',
        customerId: sandbox.customer.id,
        paymentId,
        holdId: ids.next(),
        seed: ids.next(),
        number: orderNumber('PAY', numbers),
        recipient: {
          id: sandbox.customer.recipients.EUR,
          status: 'active',
          version: 1n,
          name: 'Amsterdam Trading BV',
          type: 'business',
          maskedIdentifier: 'NL77****0001',
          currency: 'EUR',
          bankCountry: 'NL',
          digest: '',
          ownAccount: false,
          rails: { version: 1 },
        },
        amount: 1_000n,
        currency: 'EUR',
        rail: 'sepa',
        instant: false,
        executionDate: '2026-05-04',
        createdBy: sandbox.customer.id,
        createdByName: 'Key',
        createdVia: 'api_key',
        approving: { sandboxDecision: null, rates: NO_MARKET },
        ...NONE_GIVEN,
        externalIdOwner: null,
        shown: {
          chargeBearer: 'shared',
          requestedRail: null,
          reference: 'Invoice 1',
          endToEndId: 'E2E',
          uetr: null,
          purposeCode: null,
          purpose: null,
          internalNote: null,
          notifyRecipient: false,
        },
        policyRefusal: null,
        metadata: {},
        queued: { position: 1, etaSeconds: 1, estimatedAt: '2026-05-04T09:30:01.000Z' },
        key: { id: ids.next(), fingerprint: ids.next() },
        problemRequest: NO_REQUEST,
        ...options,
      },
      clock.now(),
    )
    await write({ balanceId: balance.id, version: balance.version }, { effects: decision.effects! })
    return paymentId
  }

  async function move(id: string, command: Described<PaymentCommand | RecallCommand>): Promise<void> {
    clock.advance(1)
    const state = (await loadPayments(connection, [id], false)).get(id)!
    await write(null, { effects: paymentActor.decide(state, { ...command, seed: ids.next() }, clock.now()).effects! })
  }

  const handOver = async (id: string) => move(id, { kind: 'hand_over', context: await context('EUR') })
  const settle = async (id: string) =>
    move(id, { kind: 'settled', context: await context('EUR'), schemeCode: null, event: null })
  const reject = async (id: string) =>
    move(id, { kind: 'rejected', context: await context('EUR'), schemeCode: 'AC04', event: null })
  const giveBack = async (id: string, amount: bigint) =>
    move(id, { kind: 'returned', context: await context('EUR'), amount, schemeCode: 'AC04', event: null })
  const recall = async (id: string) =>
    move(id, {
      kind: 'request_recall',
      recall: newRecall('sepa', 'DUPL', 'Paid twice by mistake.', clock.now()),
    })
  const expireRecall = async (id: string) => move(id, { kind: 'recall_expired' })
  const time = async (id: string) =>
    move(id, { kind: 'timeout', context: await context('EUR'), askAgainAt: clock.now() + 1000 })

  const hold = async (id: string) => move(id, { kind: 'hold', hit: { provider: 'test', findings: [], decides: null } })

  /** Opens another EUR balance of the same customer, empty. */
  async function openBalance(name: string): Promise<string> {
    const id = ids.next()
    await client.query(
      `insert into balance (id, customer_id, operator_id, connection_id, shard, currency, name, type, status, is_default, created_at, updated_at)
       select $1, customer_id, operator_id, connection_id, shard, currency, $2, 'main', 'active', false, $3, $3 from balance where id = $4`,
      [id, name, new Date(clock.now()), sandbox.customer.balances.EUR],
    )
    return id
  }

  /** Moves EUR to another balance and returns the transfer's id. */
  async function transfer(toBalanceId: string, amount: bigint): Promise<string> {
    clock.advance(1)
    const balance = await balanceState(sandbox.customer.balances.EUR)
    const transferId = ids.next()
    numbers += 1n
    const decision = createTransfer(
      balance,
      {
        kind: 'create_transfer',
        byPartner: false,
        holdId: ids.next(),
        customerId: sandbox.customer.id,
        transferId,
        entryId: ids.next(),
        eventId: ids.next(),
        number: orderNumber('TRF', numbers),
        toBalanceId,
        amount,
        currency: 'EUR',
        reference: 'Savings',
        createdBy: sandbox.customer.id,
        createdVia: 'api_key',
        externalId: null,
        externalIdOwner: null,
        creditRefused: false,
        policyRefusal: null,
        toConnectionId: balance.connectionId,
        metadata: { costCentre: '4711' },
        valueDate: '2026-05-04',
        key: { id: ids.next(), fingerprint: ids.next() },
        problemRequest: NO_REQUEST,
      },
      clock.now(),
    )
    await write({ balanceId: balance.id, version: balance.version }, { effects: decision.effects! })
    return transferId
  }

  const tenant = { id: sandbox.customer.id, kind: 'customer' as const }
  return {
    url: testDatabase.url,
    database,
    client,
    clock,
    ids,
    sandbox: sandbox as SandboxContent,
    reads,
    tenant,
    pay,
    handOver,
    settle,
    reject,
    giveBack,
    recall,
    expireRecall,
    time,
    hold,
    openBalance,
    transfer,
  }
}

export type Books = Awaited<ReturnType<typeof openBooks>>
