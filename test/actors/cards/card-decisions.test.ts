/** Questions of issuers: answered in time, or declined and booked afterwards. Time passes by hand. */
import t from 'tap'

import { CardDecisions } from '../../../actors/cards/card-decisions.ts'
import type { CardMessage } from '../../../lib/cards/card-message.ts'
import type { CardInstruction } from '../../../actors/providers/issuer-messages.ts'
import type { CardMessageReply } from '../../../lib/cards/decide-card-message.ts'
import { ManualClock } from '../../../lib/base/clock.ts'
import { Overloaded } from '../../../actors/runtime/lane.ts'

const NETWORK = { decisionMs: 1_500 }
const ORIGIN = { connectionId: 'c', currency: 'EUR' }

const question = (phase: CardMessage['phase'] = 'authorisation'): CardInstruction => ({
  kind: 'question',
  cardId: 'card',
  currency: 'EUR',
  message: {
    id: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
    phase,
    ref: 'R1',
    relatedRef: null,
    amount: 100n,
    isFinal: true,
    network: 'visa',
    channel: 'ecommerce',
    mcc: '5411',
    merchantName: 'Grocer',
    merchantCountry: null,
    merchantAmount: 100n,
    merchantCurrency: 'EUR',
    rate: null,
    declined: null,
  },
})

const decided = (approved: boolean, isRepeated = false): CardMessageReply => ({
  kind: 'card_decided',
  answer: { transactionId: 't', approved, declineReason: approved ? null : 'insufficient_funds' },
  isRepeated,
})

/** Decisions whose messages are answered by the test, with a timer that the test moves. */
function setUp() {
  const clock = new ManualClock(1_000_000)
  const waits: { readonly at: number; readonly resolve: () => void }[] = []
  const asked: {
    readonly message: CardMessage
    readonly answer: (reply: CardMessageReply) => void
    readonly fail: (error: Error) => void
  }[] = []
  const errors: unknown[] = []
  let reversed = false
  const decisions = new CardDecisions({
    clock,
    onError: (error) => errors.push(error),
    timer: {
      wait(at) {
        const { promise: passed, resolve } = Promise.withResolvers<void>()
        waits.push({ at, resolve })
        return { passed, cancel: () => undefined }
      },
    },
    messages: {
      async take(_, message) {
        const { promise, resolve, reject } = Promise.withResolvers<CardMessageReply>()
        asked.push({ message, answer: resolve, fail: reject })
        return await promise
      },
      isDecided: async () => reversed,
    },
  })
  return {
    decisions,
    clock,
    asked,
    errors,
    decide: (instruction = question()) => decisions.decide(NETWORK, instruction, ORIGIN, clock.now()),
    /** Moves the clock, and ends the waits that are due. */
    async pass(ms: number) {
      clock.advance(ms)
      for (const { at, resolve } of waits) if (at <= clock.now()) resolve()
      await new Promise(setImmediate)
    },
    async turn() {
      await new Promise(setImmediate)
    },
    isReversed() {
      reversed = true
    },
  }
}

t.test('a decision in time is the answer', async (t) => {
  const { decide, asked, pass } = setUp()
  const answer = decide()
  asked[0]!.answer(decided(true))
  t.match(await answer, { approved: true, cardTransactionId: 't', misfit: null })
  await pass(5_000)
  t.equal(asked.length, 1, 'nothing follows')
})

t.test('a decision in time that is read too late is too late', async (t) => {
  const { decide, asked, clock, turn } = setUp()
  const answer = decide()
  clock.advance(1_501)
  asked[0]!.answer(decided(true))
  t.match(await answer, { approved: false, declineReason: 'system_error' })
  await turn()
  t.match(asked[1]!.message, { phase: 'reversal', ref: 'R1' })
})

t.test('without a decision the answer is a decline at the deadline, and a late approval is reversed', async (t) => {
  for (const [phase, back] of [
    ['authorisation', 'reversal'],
    ['increment', 'partial_reversal'],
    ['atm', 'reversal'],
  ] as const) {
    const { decide, decisions, asked, pass, turn, errors } = setUp()
    let told: unknown = null
    const answer = decide(question(phase)).then((decision) => (told = decision))
    await pass(1_499)
    t.equal(told, null, 'not before')
    await pass(1)
    t.match(await answer, { approved: false, declineReason: 'system_error', cardTransactionId: null })
    asked[0]!.answer(decided(true))
    await turn()
    t.match(asked[1]!.message, { phase: back, amount: 100n, declined: null })
    t.not(asked[1]!.message.id, asked[0]!.message.id)
    asked[1]!.answer(decided(true))
    await decisions.settled()
    t.strictSame(errors, [])
  }
})

t.test('a late decline stands', async (t) => {
  const { decide, decisions, asked, pass } = setUp()
  const answer = decide()
  await pass(1_500)
  await answer
  asked[0]!.answer(decided(false))
  await decisions.settled()
  t.equal(asked.length, 1)
})

t.test('what was not decided is booked as declined under its own id, again and again until it is', async (t) => {
  const { decide, decisions, asked, pass, turn } = setUp()
  const answer = decide()
  asked[0]!.fail(new Overloaded('full'))
  t.match(await answer, { approved: false, declineReason: 'system_error' })
  await turn()
  asked[1]!.fail(new Overloaded('still full'))
  await turn()
  t.equal(asked.length, 2, 'after a pause')
  await pass(500)
  t.match(asked[2]!.message, { id: asked[0]!.message.id, phase: 'authorisation', declined: 'system_error' })
  asked[2]!.answer(decided(false))
  await decisions.settled()
})

t.test('a commit of unknown outcome that was an approval is found under the id, and reversed', async (t) => {
  const { decide, decisions, asked, turn } = setUp()
  const answer = decide()
  asked[0]!.fail(new Error('the connection was lost'))
  t.match(await answer, { approved: false })
  await turn()
  asked[1]!.answer(decided(true, true))
  await turn()
  t.match(asked[2]!.message, { phase: 'reversal' })
  asked[2]!.answer(decided(true))
  await decisions.settled()
})

t.test('what cannot be booked is reported, and the end of the node waits for no pause', async (t) => {
  const { decide, decisions, asked, errors, turn } = setUp()
  const answer = decide()
  asked[0]!.fail(new Overloaded('full'))
  await answer
  await turn()
  asked[1]!.fail(new Overloaded('full'))
  await turn()
  const stopped = decisions.stop()
  await turn()
  asked[2]!.fail(new Overloaded('full'))
  await stopped
  t.equal(errors.length, 1)
})

t.test('a question that is repeated after its approval was reversed is declined', async (t) => {
  const { decide, asked, isReversed } = setUp()
  const first = decide()
  asked[0]!.answer(decided(true, true))
  t.match(await first, { approved: true }, 'an approval that stands')
  isReversed()
  const again = decide()
  asked[1]!.answer(decided(true, true))
  t.match(await again, { approved: false, declineReason: 'system_error' })
})

t.test('the issuer has declined by itself', async (t) => {
  const { decide, asked, turn } = setUp()
  const known = decide({ ...question('decline'), kind: 'stand_in' })
  t.match(asked[0]!.message, { phase: 'reversal' })
  asked[0]!.answer(decided(true))
  t.match(await known, { misfit: null })
  const unknown = decide({ ...question('decline'), kind: 'stand_in' })
  asked[1]!.answer({ kind: 'card_misfit', misfit: 'needs_transaction' })
  await turn()
  t.match(asked[2]!.message, { phase: 'decline', declined: 'system_error' })
  asked[2]!.answer(decided(false))
  t.match(await unknown, { approved: false, misfit: null })
})
