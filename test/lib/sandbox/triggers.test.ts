import t from 'tap'
import { failureFor } from '../../../lib/rails/failure-codes.ts'
import { catalogueRules, planOutcome, planTransfer, sandboxTokens } from '../../../lib/sandbox/triggers.ts'
import { decodeSteps, encodeSteps } from '../../../lib/sandbox/plan-steps.ts'

/**
 * A plan in words: hold, queue, the answer to the submission, the steps, and what reconciliation and a recall would
 * find.
 */
function plan(
  amountMinor: bigint,
  reference: string | null = null,
  recipientName = 'Jane Doe',
  instant = true,
): string {
  const { hold, queueMs, submit, refusalCode, steps, reconcile, recall } = planOutcome({
    amountMinor,
    reference,
    recipientName,
    instant,
  })
  const text = encodeSteps(steps)
  if (steps.length > 0) t.strictSame(decodeSteps(text), steps, `${text} reads back`)
  const coded = (word: string, code: string | null) => (code === null ? word : `${word}:${code}`)
  return [
    hold === null ? '' : hold.decision === null ? 'hold' : `hold:${hold.decision.outcome}@${hold.decision.afterMs}`,
    queueMs === 0 ? '' : `queue@${queueMs}`,
    coded(submit, refusalCode),
    text,
    reconcile === null ? '' : coded(`reconcile:${reconcile.outcome}@${reconcile.afterMs}`, reconcile.schemeCode),
    coded(`recall:${recall.outcome}@${recall.afterMs}`, recall.schemeCode),
  ]
    .filter((word) => word !== '')
    .join(' ')
}

const ACCEPTED = 'recall:accepted@10000'

/** Amount, token that does the same, and the plan for an instant payment of that amount. */
const TABLE: readonly (readonly [bigint, string | null, string])[] = [
  [1000n, null, 'accepted settled@2000'],
  [1301n, 'AC01', 'accepted rejected@2000:AC01'],
  [1302n, 'AC04', 'accepted rejected@2000:AC04'],
  [1303n, 'AC06', 'accepted rejected@2000:AC06'],
  [1304n, 'AM04', 'accepted rejected@2000:AM04'],
  [1305n, 'BE01', 'accepted rejected@2000:BE01'],
  [1306n, 'AG01', 'accepted rejected@2000:AG01'],
  [1307n, 'RC01', 'accepted rejected@2000:RC01'],
  [1308n, 'RR04', 'accepted rejected@2000:RR04'],
  [1309n, 'MS03', 'accepted rejected@2000:MS03'],
  [1310n, 'AM05', 'accepted rejected@2000:AM05'],
  [1311n, 'AM02', 'accepted rejected@2000:AM02'],
  [1312n, 'TM01', 'accepted rejected@2000:TM01'],
  [1401n, 'RET-AC04', 'accepted settled@2000 returned@12000:AC04:1401'],
  [1402n, 'RET-MS03', 'accepted settled@2000 returned@12000:MS03:1402'],
  [1403n, 'RET-FEE', 'accepted settled@2000 returned@12000:AC04:403'],
  [1404n, 'RET-EARLY', 'accepted returned@2000:AC04:1404'],
  [1501n, 'TIMEOUT-OK', 'timeout reconcile:settled@60000'],
  [1502n, 'TIMEOUT-FAIL', 'timeout reconcile:rejected@60000:TECH'],
  [1503n, 'TIMEOUT', 'timeout'],
  [1504n, 'PROVIDER-502', 'refused:TECH'],
  [1601n, 'HOLD-RELEASE', 'hold:released@30000 accepted settled@2000'],
  [1602n, 'HOLD', 'hold accepted settled@2000'],
  [1603n, 'HOLD-BLOCK', 'hold:blocked@30000 accepted settled@2000'],
  [1701n, 'STUCK', 'accepted'],
  [1702n, 'SLOW', 'accepted settled@60000'],
  [1703n, 'QUEUE', 'queue@60000 accepted settled@2000'],
]

t.test('every trigger amount has its outcome', (t) => {
  for (const [amount, , expected] of TABLE) t.equal(plan(amount), `${expected} ${ACCEPTED}`, String(amount))
  t.end()
})

t.test(
  'every token does what its amount does, in any case, with a colon or a slash, in the reference or the name',
  (t) => {
    for (const [amount, token, expected] of TABLE) {
      if (token === null) continue
      const scaled = expected.replace(
        /(:[A-Z0-9]{4}):[0-9]+$/,
        (_, code) => `${code}:${token === 'RET-FEE' ? 4000 : 5000}`,
      )
      t.equal(plan(5000n, `Invoice 7 SBX:${token}`), `${scaled} ${ACCEPTED}`, token)
      t.equal(plan(5000n, `sbx/${token.toLowerCase()}`), `${scaled} ${ACCEPTED}`, token)
      if (token !== 'AC01')
        t.equal(plan(5000n, null, `Jane SBX:${token}`), `${scaled} ${ACCEPTED}`, `${amount} ${token} in the name`)
    }
    t.end()
  },
)

t.test('the failures have the codes customers are promised', (t) => {
  const codes = [
    'AC01',
    'AC04',
    'AC06',
    'AM04',
    'BE01',
    'AG01',
    'RC01',
    'RR04',
    'MS03',
    'AM05',
    'AM02',
    'TM01',
    'TECH',
  ].map((code) => failureFor(code).code)
  t.strictSame(codes, [
    'invalid_account_details',
    'account_closed',
    'account_blocked',
    'insufficient_funds',
    'name_mismatch',
    'account_not_eligible',
    'invalid_account_details',
    'declined',
    'refused_by_recipient_bank',
    'duplicate',
    'amount_limit_exceeded',
    'cutoff_missed',
    'technical_error',
  ])
  t.end()
})

t.test('any listed code can be asked for, to fail or to return', (t) => {
  t.equal(plan(5000n, 'SBX:R02'), `accepted rejected@2000:R02 ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:MD07'), `accepted rejected@2000:MD07 ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:RET-R03'), `accepted settled@2000 returned@12000:R03:5000 ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:ZZ99'), `accepted settled@2000 ${ACCEPTED}`)
  t.end()
})

t.test('slow rails take 10 s where instant ones take 2', (t) => {
  t.equal(plan(1000n, null, 'Jane', false), `accepted settled@10000 ${ACCEPTED}`)
  t.equal(plan(1301n, null, 'Jane', false), `accepted rejected@10000:AC01 ${ACCEPTED}`)
  t.equal(plan(1401n, null, 'Jane', false), `accepted settled@10000 returned@20000:AC04:1401 ${ACCEPTED}`)
  t.equal(plan(1702n, null, 'Jane', false), `accepted settled@60000 ${ACCEPTED}`)
  t.end()
})

t.test('a token outranks the amount, and tokens combine', (t) => {
  t.equal(plan(1301n, 'SBX:SLOW'), `accepted settled@60000 ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:HOLD-RELEASE SBX:AC04'), `hold:released@30000 accepted rejected@2000:AC04 ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:QUEUE', 'Jane SBX:TIMEOUT-OK'), `queue@60000 timeout reconcile:settled@60000 ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:AC04 SBX:TIMEOUT-OK'), `accepted rejected@2000:AC04 ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:TIMEOUT SBX:PROVIDER-502'), `timeout ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:PROVIDER-502 SBX:AC04'), `refused:TECH ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:SLOW', 'Jane SBX:STUCK'), `accepted settled@60000 ${ACCEPTED}`)
  t.end()
})

t.test('tokens that speak of the payee or of approval leave the payment alone', (t) => {
  t.equal(plan(5000n, null, 'Jane SBX:AC01'), `accepted settled@2000 ${ACCEPTED}`)
  t.equal(plan(5000n, null, 'Jane SBX:ANNM'), `accepted settled@2000 ${ACCEPTED}`)
  t.equal(plan(1301n, 'SBX:APPROVE'), `accepted rejected@2000:AC01 ${ACCEPTED}`)
  t.equal(plan(5000n, 'SBX:AC01'), `accepted rejected@2000:AC01 ${ACCEPTED}`)
  t.end()
})

t.test('a small payment returned with a fee loses half', (t) => {
  t.equal(plan(1001n, 'SBX:RET-FEE'), `accepted settled@2000 returned@12000:AC04:1 ${ACCEPTED}`)
  t.equal(plan(1000n, 'SBX:RET-FEE'), `accepted settled@2000 returned@12000:AC04:500 ${ACCEPTED}`)
  t.equal(plan(1n, 'SBX:RET-FEE'), `accepted settled@2000 returned@12000:AC04:1 ${ACCEPTED}`)
  t.end()
})

t.test('a recall is answered by the amount alone', (t) => {
  t.equal(plan(1801n), `accepted settled@2000 ${ACCEPTED}`)
  t.equal(plan(1802n), 'accepted settled@2000 recall:rejected@10000:CUST')
  t.equal(plan(1802n, 'SBX:SLOW'), 'accepted settled@60000 recall:rejected@10000:CUST')
  t.end()
})

t.test('transfers fail at 1301 and time out at 1501', (t) => {
  t.match(planTransfer(1301n), {
    viaPartner: true,
    submit: 'accepted',
    steps: [{ event: 'rejected' }],
    reconcile: null,
  })
  t.match(planTransfer(1501n), {
    viaPartner: true,
    submit: 'timeout',
    steps: [],
    reconcile: { afterMs: 60_000, outcome: 'settled' },
  })
  t.match(planTransfer(1302n), {
    viaPartner: false,
    submit: 'accepted',
    steps: [{ event: 'settled' }],
    reconcile: null,
  })
  t.end()
})

t.test('tokens are found anywhere and in any case', (t) => {
  t.strictSame(sandboxTokens('a sbx:ret-ac04,SBX/HOLD sBx:R01'), ['RET-AC04', 'HOLD', 'R01'])
  t.strictSame(sandboxTokens('SBX SBX: SBX- Boxer'), [])
  t.end()
})

t.test('what the bank says after a simulation reads back too', (t) => {
  for (const text of [
    'pending@0',
    'unclear@300000',
    'recall_rejected@12000:CUST',
    'settled@5 recall_rejected@12000:CUST returned@20000:FOCR:1',
  ]) {
    t.equal(encodeSteps(decodeSteps(text)), text)
  }
  t.end()
})

t.test('a text that is no steps is refused', (t) => {
  for (const text of [
    '',
    'settled',
    'Settled@1',
    'dance@1',
    'settled@1  settled@2',
    'settled@-1',
    'returned@1:AC04:x',
  ]) {
    t.throws(() => decodeSteps(text), SyntaxError, JSON.stringify(text))
  }
  t.end()
})

t.test('the catalogue names every trigger', (t) => {
  const rules = catalogueRules()
  for (const [amount, token] of TABLE.slice(1)) {
    t.ok(
      rules.some((row) => row.topic === 'payments' && row.rule.startsWith(`amountMinor ${amount} or SBX:${token}: `)),
      String(amount),
    )
  }
  t.equal(rules.filter((row) => row.topic === 'transfers').length, 3)
  t.end()
})
