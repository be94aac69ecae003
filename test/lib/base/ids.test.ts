import fc from 'fast-check'
import t from 'tap'
import { ManualClock, systemClock } from '../../../lib/base/clock.ts'
import {
  createIdSource,
  isUuid,
  normaliseUuid,
  orderNumber,
  parseOrderNumber,
  uuidTime,
} from '../../../lib/base/ids.ts'

t.test('ids are version 7 UUIDs of the clock’s time', (t) => {
  const clock = new ManualClock(Date.UTC(2026, 2, 1, 9, 30, 0, 123))
  const id = createIdSource(clock).next()
  t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.equal(uuidTime(id), clock.now())
  t.end()
})

t.test('ids ascend within a millisecond, past the counter’s end and across a clock that steps back', (t) => {
  const clock = new ManualClock(1_700_000_000_000)
  const source = createIdSource(clock)
  const made: string[] = []
  for (let count = 0; count < 10_000; count += 1) made.push(source.next())
  clock.advance(-5_000)
  for (let count = 0; count < 1_000; count += 1) made.push(source.next())
  clock.advance(10_000)
  made.push(source.next())
  t.strictSame(made, made.toSorted())
  t.equal(new Set(made).size, made.length)
  t.equal(uuidTime(made.at(-1)!), clock.now())
  t.end()
})

t.test('two sources do not collide in the same millisecond', (t) => {
  const clock = new ManualClock(1_700_000_000_000)
  const sources = [createIdSource(clock), createIdSource(clock)]
  const made = new Set(sources.flatMap((source) => Array.from({ length: 5_000 }, () => source.next())))
  t.equal(made.size, 10_000)
  t.end()
})

t.test('a source with given randomness repeats itself', (t) => {
  const zeros = () => createIdSource(new ManualClock(0), (block) => block.fill(0)).next()
  t.equal(zeros(), '00000000-0000-7000-8000-000000000000')
  t.equal(zeros(), zeros())
  t.end()
})

t.test('any version of UUID is accepted and stored lower-case', (t) => {
  const upper = '9B2DF1C0-3C5A-4F7E-8A6B-0123456789AB'
  t.ok(isUuid(upper))
  t.equal(normaliseUuid(upper), upper.toLowerCase())
  t.equal(uuidTime(upper), null)
  for (const text of [
    '',
    'x',
    `${upper}0`,
    `{${upper}}`,
    upper.replaceAll('-', ''),
    `${upper.slice(0, 35)}g`,
    `${upper.slice(0, 35)}\n`,
  ]) {
    t.notOk(isUuid(text), JSON.stringify(text))
    t.equal(normaliseUuid(text), null)
    t.equal(uuidTime(text), null)
  }
  t.ok(Math.abs(uuidTime(createIdSource(systemClock).next())! - systemClock.now()) < 1_000)
  t.end()
})

t.test('order numbers are a prefix and ten Crockford characters', (t) => {
  t.equal(orderNumber('PAY', 0n), 'PAY0000000000')
  t.equal(orderNumber('TRF', 31n), 'TRF000000000Z')
  t.equal(orderNumber('BLK', 2n ** 50n - 1n), 'BLKZZZZZZZZZZ')
  t.throws(() => orderNumber('PAY', 2n ** 50n), RangeError)
  t.throws(() => orderNumber('PAY', -1n), RangeError)
  t.end()
})

t.test('order numbers read back as they were typed, letters that look like digits included', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 50n - 1n }),
      (value) => parseOrderNumber(orderNumber('EXC', value))?.value === value,
    ),
  )
  t.strictSame(parseOrderNumber('payooooooooi1'), { prefix: 'PAY', value: 33n })
  t.strictSame(parseOrderNumber('COL00000000L0'), { prefix: 'COL', value: 32n })
  for (const text of ['', 'PAY', 'PAY000000000', 'PAY00000000000', 'XXX0000000000', 'PAY000000000U', 'PAY-000000000']) {
    t.equal(parseOrderNumber(text), null, text)
  }
  t.end()
})
