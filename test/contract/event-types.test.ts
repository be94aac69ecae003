/** The event types of the contract against those of the product, in both directions, and each against its source. */
import t from 'tap'
import {
  CUSTOMER_EVENT_TYPES,
  EVENT_TYPES,
  type EventType,
  maySubscribe,
  objectOf,
  TEST_EVENT_TYPE,
} from '../../lib/base/event-types.ts'
import { CONTRACT_EVENTS } from './data/event-types.ts'
import { onlyKnown, onlyKnownBeyond } from './known.ts'
import { sourcesOf } from './sources.ts'

const has = new Set<string>(EVENT_TYPES)

t.test('each type is there, for the endpoints and about the things of the contract', (t) => {
  for (const { type, level, object } of CONTRACT_EVENTS) {
    // What does not exist is counted below.
    if (!has.has(type)) continue
    t.equal(maySubscribe('customer', type), level === 'customer', `${type}: endpoints of customers`)
    t.equal(maySubscribe('operator', type), true, `${type}: endpoints of operators`)
    t.equal((CUSTOMER_EVENT_TYPES as readonly string[]).includes(type), level === 'customer', type)
    t.equal(objectOf(type as EventType), object, `${type}: its object`)
  }
  const known = new Set(CONTRACT_EVENTS.map(({ type }) => type))
  onlyKnownBeyond(
    t,
    'event-types',
    EVENT_TYPES.filter((type) => !known.has(type)),
  )
  t.end()
})

/** Whether a source writes a type by its parts, `<object>.${status}`, from statuses of which it names this one. */
function composes(text: string, type: string): boolean {
  const [object, status] = type.split('.')
  return new RegExp(`(?:type: |event\\()\`${object}\\.\\$\\{`).test(text) && text.includes(`'${status}'`)
}

t.test('each type is sent by something, and by simulations alone where the contract says so', async (t) => {
  // What audits, follows or mails events is no sender.
  const readers = /^(?:storage\/(?:audit|replay|customers|sections|migrations|webhooks)\/|lib\/base\/|lib\/notices\/)/
  const sources = (await sourcesOf(['lib', 'storage', 'actors'])).filter(({ path }) => !readers.test(path))
  const found: string[] = []
  for (const { type, sentBy } of CONTRACT_EVENTS) {
    const senders = sources.filter(
      ({ text }) =>
        text.includes(`'${type}'`) ||
        composes(text, type) ||
        (type === TEST_EVENT_TYPE && text.includes('type: TEST_EVENT_TYPE')),
    )
    if (!has.has(type)) found.push(`${type} does not exist`)
    else if (sentBy === 'simulations')
      t.strictSame(
        senders.filter(({ path }) => !/simulat|sandbox/.test(path)).map(({ path }) => path),
        [],
        `${type} is only simulated`,
      )
    else if (senders.length === 0) found.push(`${type} is never sent`)
  }
  onlyKnown(t, 'event-types', found)
  t.end()
})
