/**
 * P15: authorisations of a thousand cards that pay from one hot balance, against `POST /payments` from the same balance
 * in turn; and the time that a decision takes at half of the peak, while as many payments leave the balance.
 *
 * They come as simulated messages of the network without an Idempotency-Key: one decision and one commit each, as for
 * an issuer.
 */
import type { BenchDatabase, Payer } from '../database.ts'
import type { Operation } from '../load-plan.ts'
import { alternate, type Sample } from '../measurement.ts'
import { judge, type Bench, type Scenario } from '../scenario.ts'
import { measureFresh, paymentOperation, startService, type Measurement, type Subject } from '../subject.ts'

const CARDS = 1_000
/** Of each card, before. */
const USES = 20
const CONNECTIONS = 64
/** Enough that a request never waits for a connection while the server keeps up. */
const OPEN_CONNECTIONS = 128
const P99_MAX_MS = 20

export const p15: Scenario = {
  id: 'P15',
  title: 'card authorisations, one hot balance, 64 connections',
  async run(bench) {
    const payer = bench.databases.payers[0]!
    const { decisions, payments, beside } = await alternate(bench.seconds, {
      payments: measured(bench, (subject, seconds) =>
        subject.measure({ operations: [paymentOperation(payer)], connections: CONNECTIONS, seconds }),
      ),
      decisions: measured(bench, (subject, seconds, cards) =>
        subject.measure({ operations: cards, connections: CONNECTIONS, seconds }),
      ),
      beside: measured(bench, (subject, seconds, cards) => atHalf(subject, seconds, cards, paymentOperation(payer))),
    })
    const failures = decisions.failures + payments.failures
    return [
      judge({
        id: 'P15',
        scenario: p15.title,
        value: decisions.rate,
        unit: 'decisions/s',
        p50Ms: decisions.p50Ms,
        p99Ms: decisions.p99Ms,
        baselines: { payments: payments.rate },
        figures: { own: decisions.rates, payments: payments.rates },
        targets: [{ baseline: 'payments', times: 0.9, direction: 'atLeast' }],
        conditions: [
          { name: 'no failed request', holds: failures === 0, found: `${failures}` },
          ...decisions.conditions,
          ...payments.conditions,
        ],
      }),
      judge({
        id: 'P15',
        scenario: `an open loop of authorisations and as many payments from the same balance, ${beside.rate.toFixed(0)}/s: p99`,
        value: beside.p99Ms,
        unit: 'ms',
        p50Ms: beside.p50Ms,
        p99Ms: beside.p99Ms,
        baselines: {},
        figures: { own: beside.p99s },
        targets: [],
        conditions: [
          {
            name: `p99 within ${P99_MAX_MS} ms`,
            holds: beside.p99Ms <= P99_MAX_MS,
            found: `${beside.p99Ms.toFixed(1)} ms`,
          },
          { name: 'no failed request', holds: beside.failures === 0, found: `${beside.failures}` },
          ...beside.conditions,
        ],
      }),
    ]
  },
}

type Measure = (subject: Subject, seconds: number, cards: readonly Operation[]) => Promise<Measurement>

/** Measures a fresh service whose first payer has a thousand cards. */
const measured =
  (bench: Bench, measure: Measure) =>
  async (seconds: number): Promise<Sample> => {
    const payer = bench.databases.payers[0]!
    let cards: readonly Operation[] = []
    return await measureFresh(
      async () => {
        const subject = await startService(bench, { dispatch: false })
        cards = (await issueCards(subject.database!, payer)).map((id) => authorisationOperation(payer, id))
        return subject
      },
      (subject) => measure(subject, seconds, cards),
    )
  }

/** Half of the rate that the very process has just reached with both. */
async function atHalf(
  subject: Subject,
  seconds: number,
  cards: readonly Operation[],
  payment: Operation,
): Promise<Measurement> {
  const operations = [...cards, ...cards.map(() => payment)]
  const { rate } = await subject.measure({ operations, connections: CONNECTIONS, seconds })
  await subject.rest()
  return await subject.measure({ operations, connections: OPEN_CONNECTIONS, seconds, arrivalsPerSecond: rate / 2 })
}

/** Issues the cards of a balance. @returns their ids */
async function issueCards(database: BenchDatabase, { balanceId }: Payer): Promise<readonly string[]> {
  const rows = await database.query<{ id: string }>(
    `insert into card (id, customer_id, operator_id, connection_id, shard, balance_id, currency, holder_user_id, type, status, last4, expiry,
       limits, controls, created_by, created_at, updated_at)
     select gen_random_uuid(), b.customer_id, b.operator_id, b.connection_id, b.shard, b.id, b.currency, b.customer_id, 'virtual', 'active', '0000', '2099-12',
       '{"perAuthorisation": null, "day": null, "week": null, "month": null, "year": null, "lifetime": null, "byCategory": []}',
       '{"channels": ["ecommerce", "pos_chip", "contactless"], "allowedCategories": null, "blockedCategories": [], "blockedMccs": [], "allowedCountries": null, "blockedCountries": []}',
       b.customer_id, now(), now()
     from balance b cross join generate_series(1, ${CARDS}) where b.id = '${balanceId}' returning id`,
  )
  await database.query(HISTORY)
  await database.query(
    `insert into card_event (id, transaction_id, phase, amount, fee, at)
     select gen_random_uuid(), id, 'authorisation', authorised, 0, created_at from card_transaction`,
  )
  await database.query('update event_retention set kept_from = now()')
  await database.query('analyze card, card_transaction, card_event')
  return rows.map(({ id }) => id)
}

/** The purchases of a year ago, so that Postgres knows the tables as they are in life. */
const HISTORY = `insert into card_transaction (id, version, card_id, customer_id, operator_id, connection_id, shard, balance_id, currency, ref, status,
    network, channel, mcc, merchant_name, merchant_amount, merchant_currency, markup, authorised, reversed, cleared, refunded, disputed, recovered, held,
    authorised_at, created_at, updated_at)
  select gen_random_uuid(), 2, c.id, c.customer_id, c.operator_id, c.connection_id, c.shard, c.balance_id, c.currency, 'OLD' || gen_random_uuid(), 'expired',
    'visa', 'pos_chip', '5411', 'Grocer', 100, c.currency, 0, 100, 0, 0, 0, 0, 0, 0,
    now() - interval '1 year', now() - interval '1 year', now() - interval '1 year'
  from card c cross join generate_series(1, ${USES})`

/** `POST /simulations/cards/{cardId}/transactions` of an authorisation. */
const authorisationOperation = ({ customerId, apiKey }: Payer, cardId: string): Operation => [
  {
    method: 'POST',
    path: `/v1/simulations/cards/${cardId}/transactions`,
    headers: { Authorization: `Bearer ${apiKey}`, 'X-Tenant-Id': customerId },
    expect: 202,
    body: JSON.stringify({
      phase: 'authorisation',
      amount: { amountMinor: '1', currency: 'EUR' },
      merchantName: 'Grocer',
      mcc: '5411',
      merchantCountry: 'NL',
    }),
  },
]
