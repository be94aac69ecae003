/** The fences of exchanges: a quote is used once, a change rests on its version, and one commit changes a row once. */
import t from 'tap'

import type { ExchangeRow } from '../../../lib/exchange/effects.ts'
import { commit } from '../../../storage/sections/commit.ts'
import type { CommitTurn } from '../../../storage/commit/turn.ts'
import { Connection } from '../../../storage/db/connection.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { exchangeBranch, listExchanges } from '../../../storage/exchange/exchange-queries.ts'
import { findExchange } from '../../../storage/exchange/exchanges.ts'
import { findQuote, isQuoteUsed } from '../../../storage/exchange/quotes.ts'
import { ids, MONDAY } from '../../support/commands.ts'
import { openLedger } from '../../support/ledger.ts'

t.test('quotes and exchanges in one commit', async (t) => {
  const ledger = await openLedger(t, [100n])
  const connection = await Connection.open(ledger.url, 'commit test')
  t.teardown(() => connection.close())
  const { customerId, operatorId, connectionId, shard } = ledger
  const write = (...effects: CommitTurn['commands'][number]['effects'][]) =>
    commit(connection, [{ fence: null, commands: effects.map((each) => ({ effects: each })) }], MONDAY)
  const quoteId = ids.next()
  const pair = {
    kind: 'spot' as const,
    sellCurrency: 'EUR',
    buyCurrency: 'USD',
    sellAmount: 10n,
    buyAmount: 11n,
    rate: '1.0746',
    partnerRate: '1.08',
    fixedSide: 'sell' as const,
    fee: 0n,
  } as const
  const made = await write({
    quotes: [
      {
        ...pair,
        id: quoteId,
        customerId,
        connectionId,
        settlementDate: '2026-05-04',
        depositRequired: null,
        holdMinutes: null,
        sellBalanceId: null,
        buyBalanceId: null,
        expiresAt: MONDAY,
        createdAt: MONDAY,
      },
    ],
  })
  t.match(made, { ok: true })
  t.match(await findQuote(ledger.database, quoteId), {
    id: quoteId,
    rate: 10_746_000_000n,
    sellAmount: 10n,
    expiresAt: MONDAY,
  })
  t.equal(await findQuote(ledger.database, '6ba7b810-9dad-41d1-80b4-00c04fd430c8'), null, 'an id that is none of ours')

  let numbers = 0
  const row = (change: Partial<ExchangeRow> = {}): ExchangeRow => ({
    ...pair,
    id: ids.next(),
    customerId,
    operatorId,
    connectionId,
    shard,
    number: `EXC${numbers++}`,
    externalId: null,
    status: 'processing',
    quoteId,
    parentExchangeId: null,
    paymentId: null,
    sellBalanceId: ledger.balances[0]!,
    buyBalanceId: ledger.balances[0]!,
    holdId: null,
    approvalId: null,
    tradeDate: '2026-05-04',
    settlementDate: '2026-05-04',
    reference: null,
    drawdownCount: 0,
    remainingSell: null,
    remainingBuy: null,
    forwardType: null,
    drawdownFrom: null,
    heldUntil: null,
    depositStatus: null,
    depositCurrency: null,
    depositRequired: null,
    depositReceived: 0n,
    depositPlaced: 0n,
    depositDueAt: null,
    dueAt: null,
    depositUsed: 0n,
    depositPlacedUsed: 0n,
    createdBy: ledger.apiKeyId,
    createdVia: 'api_key',
    metadata: null,
    createdAt: MONDAY,
    ...change,
  })
  const first = row({ externalId: 'A' })
  t.match(await write({ exchanges: [first] }), { ok: true })
  t.ok(await isQuoteUsed(ledger.database, quoteId))
  t.match(await write({ exchanges: [row()] }), { ok: false, conflicts: [{ kind: 'quote_used', existingId: first.id }] })
  t.match(await write({ exchanges: [row({ quoteId: null, externalId: 'A' })] }), {
    ok: false,
    conflicts: [{ kind: 'external_id_used', existingId: first.id }],
  })
  const contract = row({
    kind: 'held_rate',
    status: 'active',
    quoteId: null,
    remainingSell: 10n,
    remainingBuy: 11n,
    heldUntil: MONDAY,
  })
  t.match(await write({ exchanges: [contract] }), { ok: true })

  const change = { id: contract.id, version: 1, status: 'partially_drawn', updatedAt: MONDAY, payment: 'none' } as const
  const twice = await write(
    { exchangeChanges: [{ ...change, remainingSell: 4n }] },
    { exchangeChanges: [{ ...change, remainingSell: 3n }] },
  )
  t.match(twice, { ok: false, conflicts: [{ kind: 'exchange_stale' }] }, 'the second one would have been lost')
  t.equal((await findExchange(ledger.database, contract.id))?.version, 1, 'and nothing was written')
  t.match(
    await write({
      exchangeChanges: [{ ...change, remainingSell: 4n, heldUntil: null, failure: '{"code":"unknown"}' }],
    }),
    { ok: true },
  )
  t.match(await findExchange(ledger.database, contract.id), {
    version: 2,
    status: 'partially_drawn',
    remainingSell: 4n,
    remainingBuy: 11n,
    heldUntil: null,
    failure: { code: 'unknown' },
  })
  t.match(await write({ exchangeChanges: [{ ...change, remainingSell: 2n }] }), {
    ok: false,
    conflicts: [{ kind: 'exchange_stale' }],
  })

  const question = {
    tenant: { id: customerId, kind: 'customer' as const },
    filters: {},
    metadata: [],
    sort: '-createdAt' as const,
    limit: 10,
    position: null,
    withTotal: false,
    q: null,
  }
  t.strictSame(
    (await listExchanges(readDatabase(ledger.database), question)).rows.map(({ id }) => id),
    [contract.id, first.id],
  )
  t.strictSame(
    (await listExchanges(readDatabase(ledger.database), question, { kind: 'held_rate' })).rows.map(({ id }) => id),
    [contract.id],
  )
  t.ok(exchangeBranch(question))
})
