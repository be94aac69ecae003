/** The sums of a card transaction: each phase as a table, and the invariants over random phases in any order. */
import fc from 'fast-check'
import t from 'tap'

import {
  CARD_PHASES,
  isMisfit,
  moved,
  NO_SUMS,
  opened,
  paidAmount,
  type CardMovement,
  type CardSums,
  type CardTransactionStatus,
  type FollowingPhase,
} from '../../../lib/cards/card-transaction.ts'

const FOLLOWING = CARD_PHASES.filter(
  (phase): phase is FollowingPhase => !['authorisation', 'force_post', 'atm', 'decline'].includes(phase),
)

/** Plays phases on an authorisation of 100; a settlement is not final where its name ends with `…`. */
function play(...steps: readonly (readonly [phase: FollowingPhase | 'settlement…', amount: bigint])[]) {
  let at: CardMovement = opened('authorisation', 100n)
  for (const [name, amount] of steps) {
    const phase = name === 'settlement…' ? 'settlement' : name
    const next = moved({ ...at.sums, status: at.status }, phase, amount, name !== 'settlement…')
    if (isMisfit(next)) return next
    at = next
  }
  const { sums, status, money } = at
  return { status, held: sums.held, paid: paidAmount(sums), money: money.kind }
}

t.test('each phase', (t) => {
  for (const [claim, steps, expected] of [
    ['an increment reserves more', [['increment', 20n]], { status: 'authorised', held: 120n, paid: 0n, money: 'none' }],
    [
      'a partial reversal releases its part',
      [['partial_reversal', 30n]],
      { status: 'authorised', held: 70n, paid: 0n, money: 'none' },
    ],
    ['no more is reversed than was authorised', [['partial_reversal', 101n]], 'above_authorised'],
    ['a reversal releases everything', [['reversal', 100n]], { status: 'reversed', held: 0n, paid: 0n, money: 'none' }],
    [
      'a reversed authorisation is reversed once',
      [
        ['reversal', 100n],
        ['reversal', 100n],
      ],
      'nothing_held',
    ],
    ['an expiry releases everything', [['expiry', 0n]], { status: 'expired', held: 0n, paid: 0n, money: 'none' }],
    ['a clearing ends the hold', [['settlement', 100n]], { status: 'cleared', held: 0n, paid: 100n, money: 'pay' }],
    [
      'a clearing below the authorisation releases the rest',
      [['settlement', 60n]],
      { status: 'cleared', held: 0n, paid: 60n, money: 'pay' },
    ],
    [
      'a clearing above the authorisation is paid',
      [['settlement', 130n]],
      { status: 'cleared', held: 0n, paid: 130n, money: 'pay' },
    ],
    [
      'a clearing that is not final keeps the rest',
      [['settlement…', 60n]],
      { status: 'cleared', held: 40n, paid: 60n, money: 'pay' },
    ],
    [
      'several clearings',
      [
        ['settlement…', 60n],
        ['settlement…', 30n],
        ['settlement', 20n],
      ],
      { status: 'cleared', held: 0n, paid: 110n, money: 'pay' },
    ],
    [
      'the rest of several clearings expires',
      [
        ['settlement…', 60n],
        ['expiry', 0n],
      ],
      { status: 'cleared', held: 0n, paid: 60n, money: 'none' },
    ],
    [
      'a clearing after the expiry is paid',
      [
        ['expiry', 0n],
        ['settlement', 100n],
      ],
      { status: 'cleared', held: 0n, paid: 100n, money: 'pay' },
    ],
    [
      'a clearing after a reversal is paid',
      [
        ['reversal', 100n],
        ['settlement', 100n],
      ],
      { status: 'cleared', held: 0n, paid: 100n, money: 'pay' },
    ],
    [
      'a reversal after a clearing gives the money back',
      [
        ['settlement', 80n],
        ['reversal', 80n],
      ],
      { status: 'refunded', held: 0n, paid: 0n, money: 'credit' },
    ],
    [
      'a refund',
      [
        ['settlement', 80n],
        ['refund', 30n],
      ],
      { status: 'cleared', held: 0n, paid: 50n, money: 'credit' },
    ],
    [
      'no more is refunded than was cleared',
      [
        ['settlement', 80n],
        ['refund', 50n],
        ['refund', 31n],
      ],
      'above_cleared',
    ],
    [
      'a refund is taken back',
      [
        ['settlement', 80n],
        ['refund', 80n],
        ['refund_reversal', 80n],
      ],
      { status: 'cleared', held: 0n, paid: 80n, money: 'take_back' },
    ],
    [
      'no more than the refund is taken back',
      [
        ['settlement', 80n],
        ['refund', 30n],
        ['refund_reversal', 31n],
      ],
      'above_refunded',
    ],
    [
      'a chargeback credits',
      [
        ['settlement', 80n],
        ['chargeback', 80n],
      ],
      { status: 'charged_back', held: 0n, paid: 0n, money: 'credit' },
    ],
    [
      'a lost chargeback takes the money back',
      [
        ['settlement', 80n],
        ['chargeback', 80n],
        ['chargeback_lost', 80n],
      ],
      { status: 'cleared', held: 0n, paid: 80n, money: 'take_back' },
    ],
    [
      'a won chargeback is final',
      [
        ['settlement', 80n],
        ['chargeback', 80n],
        ['chargeback_won', 80n],
        ['chargeback_lost', 80n],
      ],
      'above_disputed',
    ],
    [
      'a won chargeback moves no money',
      [
        ['settlement', 80n],
        ['chargeback', 80n],
        ['chargeback_won', 80n],
      ],
      { status: 'charged_back', held: 0n, paid: 0n, money: 'none' },
    ],
    [
      'what is disputed is not refunded too',
      [
        ['settlement', 80n],
        ['chargeback', 80n],
        ['refund', 1n],
      ],
      'above_cleared',
    ],
    [
      'an increment after the expiry does not fit',
      [
        ['expiry', 0n],
        ['increment', 5n],
      ],
      'nothing_held',
    ],
  ] as const)
    t.strictSame(play(...steps), expected, claim)
  t.end()
})

t.test('a decline reserves nothing, and its advice is paid', (t) => {
  const declined = { ...NO_SUMS, status: 'declined' as const }
  t.equal(moved(declined, 'increment', 10n, true), 'declined')
  t.equal(moved(declined, 'reversal', 10n, true), 'declined')
  const advised = moved(declined, 'advice', 10n, true)
  t.ok(!isMisfit(advised) && advised.sums.cleared === 10n && advised.money.kind === 'pay')
  t.end()
})

t.test('the invariants hold over random phases in any order', (t) => {
  const step = fc.record({
    phase: fc.constantFrom(...FOLLOWING),
    amount: fc.bigInt(1n, 150n),
    isFinal: fc.boolean(),
  })
  fc.assert(
    fc.property(
      fc.constantFrom('authorisation' as const, 'force_post' as const, 'atm' as const, 'refund' as const),
      fc.bigInt(1n, 100n),
      fc.array(step, { maxLength: 30 }),
      (opening, amount, steps) => {
        let { sums, status, money } = opened(opening, amount)
        let ledger = moneyOf(money)
        const check = (at: CardSums) => {
          const bound = at.authorised - at.reversed - at.cleared
          if (at.held < 0n || at.held > (bound < 0n ? 0n : bound)) throw new Error(`held ${at.held} above ${bound}`)
          if (ledger !== paidAmount(at)) throw new Error(`the ledger has ${ledger}, the sums ${paidAmount(at)}`)
          for (const sum of Object.values(at)) if (sum < 0n) throw new Error('A sum is below zero.')
        }
        check(sums)
        for (const { phase, amount: part, isFinal } of steps) {
          const next: ReturnType<typeof moved> = moved({ ...sums, status }, phase, part, isFinal)
          if (isMisfit(next)) continue
          ;({ sums, money } = next)
          status = next.status satisfies CardTransactionStatus
          ledger += moneyOf(money)
          check(sums)
        }
      },
    ),
    { numRuns: 2_000 },
  )
  t.end()
})

/** The amount that the customer pays by a movement; below zero for one that credits. */
function moneyOf(money: CardMovement['money']): bigint {
  switch (money.kind) {
    case 'none':
      return 0n
    case 'credit':
      return -money.amount
    default:
      return money.amount
  }
}
