/** The sandbox tables of the contract through the pure plans that decide them. */
import t from 'tap'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { bidAndAsk, forwardOf } from '../../lib/exchange/pricing.ts'
import { depositFor, SANDBOX_MARGIN_CALL } from '../../lib/exchange/forward-terms.ts'
import { MARKET_CURRENCIES, marketRate } from '../../lib/exchange/market.ts'
import { formatRate, RATE_ONE } from '../../lib/exchange/rate.ts'
import { failureFor } from '../../lib/rails/failure-codes.ts'
import { verificationOfAnswer, type PayeeQuestion } from '../../lib/recipients/verification.ts'
import { sandboxDecisionIn } from '../../lib/sandbox/approvals.ts'
import { sandboxRules } from '../../lib/sandbox/catalogue.ts'
import { EXPIRED_QUOTE_AMOUNT, planExchange } from '../../lib/sandbox/exchanges.ts'
import { sandboxKnowsOwner } from '../../lib/sandbox/incoming.ts'
import { sandboxPayee } from '../../lib/sandbox/payees.ts'
import { sandboxScreener } from '../../lib/sandbox/sandbox-screener.ts'
import { sandboxScanner } from '../../lib/sandbox/scanner.ts'
import { planOutcome, planRecall, planTransfer, type PaymentPlan } from '../../lib/sandbox/triggers.ts'
import { MONDAY } from '../support/commands.ts'
import * as data from './data/sandbox.ts'
import { onlyKnown, onlyKnownBeyond } from './known.ts'

const SECOND_MS = 1_000
const ordinary = { reference: 'Invoice 1', recipientName: 'Amsterdam Trading BV', instant: true }
const seconds = (ms: number): string => `${ms / SECOND_MS}`

/** What a plan does, in the words of the table. `code` and `seconds` are empty where the table leaves them out. */
interface Told {
  readonly outcome: string
  readonly code: string
  readonly failure: string
  readonly seconds: string
}
const none = { code: '', failure: '', seconds: '' }

function toldOf(plan: PaymentPlan, amount: bigint, settledMs: number): Told {
  const { hold, queueMs, submit, refusalCode, steps, reconcile } = plan
  if (hold !== null) {
    const { decision } = hold
    return decision === null
      ? { ...none, outcome: 'on hold' }
      : { ...none, outcome: `on hold, then ${decision.outcome}`, seconds: seconds(decision.afterMs) }
  }
  if (queueMs > 0) return { ...none, outcome: 'queued, then completed', seconds: seconds(queueMs) }
  if (submit === 'refused') return { ...none, outcome: 'refused at submission', failure: failureFor(refusalCode!).code }
  if (submit === 'timeout') {
    if (reconcile === null) return { ...none, outcome: 'exception' }
    const failed = reconcile.outcome === 'rejected'
    return {
      ...none,
      outcome: `exception, then ${failed ? 'failed' : 'completed'}`,
      failure: failed ? failureFor(reconcile.schemeCode!).code : '',
      seconds: seconds(reconcile.afterMs),
    }
  }
  const [first, second] = steps
  if (first === undefined) return { ...none, outcome: 'stays submitted' }
  if (first.event === 'rejected')
    return { ...none, outcome: 'failed', code: first.schemeCode!, failure: failureFor(first.schemeCode!).code }
  if (first.event === 'returned') return { ...none, outcome: 'returned before confirmation', code: first.schemeCode! }
  if (second?.event === 'returned') {
    const outcome = second.amountMinor === amount ? 'returned in full' : 'returned less a fee'
    return { ...none, outcome, code: second.schemeCode!, seconds: seconds(second.afterMs - first.afterMs) }
  }
  return { ...none, outcome: 'completed', seconds: first.afterMs === settledMs ? '' : seconds(first.afterMs) }
}

t.test('payments: each amount, each token, on instant rails and others', (t) => {
  let cells = 0
  for (const { amount, token, ...wanted } of data.SANDBOX_PAYMENTS) {
    for (const [instant, settled] of [
      [true, data.SANDBOX_SECONDS.instant],
      [false, data.SANDBOX_SECONDS.others],
    ] as const) {
      for (const [label, facts] of [
        [amount, { ...ordinary, amountMinor: BigInt(amount) }],
        [`SBX:${token}`, { ...ordinary, amountMinor: 5_000n, reference: `Bill sbx:${token.toLowerCase()}` }],
        [`SBX/${token}`, { ...ordinary, amountMinor: 5_000n, reference: `SBX/${token}` }],
      ] as const) {
        const plan = planOutcome({ ...facts, instant })
        t.strictSame(toldOf(plan, facts.amountMinor, settled * SECOND_MS), wanted, `${label} ${instant}`)
        cells += 1
      }
    }
  }
  const fee = planOutcome({ ...ordinary, amountMinor: 1403n }).steps[1]?.amountMinor
  t.equal(fee, 1403n - data.SANDBOX_RETURN_FEE, 'less a fee')
  t.equal(planOutcome({ ...ordinary, amountMinor: 800n, reference: 'SBX:RET-FEE' }).steps[1]?.amountMinor, 400n, 'half')
  t.comment(`${cells} plans`)
  t.end()
})

t.test('payments: every other amount is completed', (t) => {
  const known = new Set(data.SANDBOX_PAYMENTS.map(({ amount }) => BigInt(amount)))
  const odd: bigint[] = []
  for (let amount = 1n; amount <= 2_500n; amount += 1n) {
    const plan = planOutcome({ ...ordinary, amountMinor: amount })
    const told = toldOf(plan, amount, data.SANDBOX_SECONDS.instant * SECOND_MS)
    if (!known.has(amount) && (told.outcome !== 'completed' || told.seconds !== '')) odd.push(amount)
  }
  t.strictSame(odd, [])
  t.end()
})

t.test('recalls and transfers', async (t) => {
  for (const { amount, outcome, code } of data.SANDBOX_RECALLS)
    t.match(planRecall(BigInt(amount)), { outcome, schemeCode: code === '' ? null : code, afterMs: 10_000 }, amount)
  t.match(planRecall(100n), { outcome: 'accepted' })
  for (const { amount, outcome, seconds: after } of data.SANDBOX_TRANSFERS) {
    const plan = planTransfer(BigInt(amount))
    t.equal(plan.viaPartner, true, `${amount} goes through processing`)
    if (outcome === 'failed') t.match(plan.steps, [{ event: 'rejected' }], amount)
    else
      t.match(
        plan,
        { submit: 'timeout', reconcile: { outcome: 'settled', afterMs: Number(after) * SECOND_MS } },
        amount,
      )
  }
  t.match(planTransfer(100n), { viaPartner: false, submit: 'accepted', steps: [{ event: 'settled' }] })
})

t.test('the names and accounts of recipients', (t) => {
  for (const { name, accountEnds, outcome, ...codes } of data.SANDBOX_PAYEES) {
    for (const scheme of ['cop', 'vop'] as const) {
      const question: PayeeQuestion = {
        scheme,
        name: `Amsterdam ${name} Trading`,
        type: 'business',
        iban: scheme === 'vop' ? `NL77SBOX010000${accountEnds === '' ? '0001' : accountEnds}` : null,
        sortCode: null,
        accountNumber: scheme === 'cop' ? `2000${accountEnds === '' ? '0001' : accountEnds}` : null,
        secondaryReference: null,
      }
      const verification = verificationOfAnswer(question, sandboxPayee(question), MONDAY)
      const label = `${scheme} ${name}${accountEnds}`
      t.equal(verification.outcome, outcome, label)
      t.equal(verification.reasonCode ?? '', codes[scheme], `${label}: its code`)
      const tells = data.CODES_THAT_TELL_THE_NAME.includes(codes[scheme])
      t.equal(verification.matchedName, tells ? data.SANDBOX_MATCHED_NAME : null, `${label}: the name`)
    }
  }
  t.end()
})

t.test('approvals', (t) => {
  for (const { text, decision } of data.SANDBOX_APPROVALS) t.equal(sandboxDecisionIn([text]) ?? 'none', decision, text)
  t.end()
})

t.test('exchanges, quotes and rates', (t) => {
  for (const { amount, outcome, seconds: after } of data.SANDBOX_EXCHANGES) {
    const { submit, outcome: report } = planExchange(BigInt(amount))
    const told =
      report === null
        ? 'stays processing'
        : submit === 'timeout'
          ? 'exception, then completed'
          : report.event === 'refused'
            ? 'failed'
            : 'completed'
    t.equal(told, outcome, amount)
    t.equal(report === null ? '' : seconds(report.afterMs), after, `${amount}: its time`)
  }
  t.match(planExchange(100n), {
    submit: 'accepted',
    outcome: { event: 'settled', afterMs: data.SANDBOX_SECONDS.exchange * SECOND_MS },
  })
  t.equal(EXPIRED_QUOTE_AMOUNT, data.SANDBOX_EXPIRED_QUOTE)
  const { largeDeposit, largeDepositBps, marginCall, marginCallSeconds } = data.SANDBOX_FORWARDS
  t.equal(
    depositFor(largeDeposit, { depositBps: 500, sandbox: true }),
    (largeDeposit * BigInt(largeDepositBps)) / 10_000n,
  )
  t.strictSame(SANDBOX_MARGIN_CALL, { amount: marginCall, afterMs: marginCallSeconds * SECOND_MS })
  t.strictSame(
    [...MARKET_CURRENCIES].sort(),
    ['EUR', ...data.SANDBOX_RATES.map(({ currency }) => currency)].sort() as CurrencyCode[],
  )
  for (const { currency, rate } of data.SANDBOX_RATES) {
    const mid = marketRate('EUR', currency as CurrencyCode, [], MONDAY)!
    const exact = (mid.numerator * RATE_ONE) / mid.denominator
    t.equal(Number(formatRate(exact)), Number(rate), currency)
    const { ask, bid } = bidAndAsk(mid, data.SANDBOX_SPREAD_BPS)
    t.ok(bid < exact && ask > exact, `${currency}: against the customer`)
    const forward = forwardOf(mid, 10)
    const moved = (forward.numerator * RATE_ONE) / forward.denominator
    // Against the side that fixes its rate early.
    const bps = BigInt(10 * data.SANDBOX_FORWARD_BPS_A_DAY)
    t.equal(moved, (exact * (10_000n - bps)) / 10_000n, `${currency}: ten days forward`)
  }
  t.end()
})

t.test('incoming payments and files', async (t) => {
  for (const { payerName, outcome } of data.SANDBOX_INCOMING) {
    const subject = { id: 'one', amount: 500n, reference: 'Invoice', recipientName: payerName }
    const hits = await sandboxScreener.screen([subject as Parameters<typeof sandboxScreener.screen>[0][number]])
    const told = !sandboxKnowsOwner(payerName) ? 'suspense' : hits.size > 0 ? 'under review' : 'credited'
    t.equal(told, outcome, payerName)
  }
  for (const { fileName, verdict } of data.SANDBOX_FILES) {
    const file = { fileName, createdAt: MONDAY } as Parameters<typeof sandboxScanner.scan>[0]
    const doneAt = MONDAY + data.SANDBOX_SCAN_SECONDS * SECOND_MS
    t.strictSame(await sandboxScanner.scan(file, doneAt - 1), { askAgainAt: doneAt }, `${fileName}: not yet`)
    t.strictSame(await sandboxScanner.scan(file, doneAt), { verdict }, fileName)
  }
})

t.test('the catalogue tells of each amount, word and rate', (t) => {
  const rules = sandboxRules()
  const found: string[] = []
  const tells = (topic: string, word: string): void => {
    const exact = new RegExp(`(?<![0-9A-Z-])${word}(?![0-9A-Z-])`)
    if (!rules.some((rule) => rule.topic === topic && exact.test(rule.rule)))
      found.push(`${topic} does not tell of ${word}`)
  }
  for (const { amount, token } of data.SANDBOX_PAYMENTS) {
    tells('payments', amount)
    tells('payments', `SBX:${token}`)
  }
  for (const { amount } of data.SANDBOX_RECALLS) tells('payments', amount)
  for (const { amount } of data.SANDBOX_TRANSFERS) tells('transfers', amount)
  for (const { amount } of data.SANDBOX_EXCHANGES) tells('exchanges', amount)
  const { largeDeposit, marginCall } = data.SANDBOX_FORWARDS
  for (const amount of [data.SANDBOX_EXPIRED_QUOTE, largeDeposit, marginCall]) tells('exchanges', `${amount}`)
  for (const { currency, rate } of data.SANDBOX_RATES) tells('exchanges', `${currency} ${rate}`)
  for (const { name, accountEnds } of data.SANDBOX_PAYEES)
    for (const word of [name, accountEnds]) if (word !== '') tells('recipients', word)
  for (const { topic, word } of data.SANDBOX_OTHERS) tells(topic, word)
  t.strictSame(found, [])
  t.end()
})

t.test('the catalogue has the topics of the contract', (t) => {
  const topics = new Set(sandboxRules().map(({ topic }) => topic))
  onlyKnown(
    t,
    'sandbox',
    data.SANDBOX_TOPICS.filter((topic) => !topics.has(topic)),
  )
  onlyKnownBeyond(
    t,
    'sandbox',
    [...topics].filter((topic) => !data.SANDBOX_TOPICS.includes(topic)),
  )
  t.end()
})
