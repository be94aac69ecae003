/** Shares of owners: exact along chains, and never more than the whole. */
import fc from 'fast-check'
import t from 'tap'
import {
  hiddenShares,
  isAtLeast,
  ownershipFaults,
  percentOf,
  SHARE_PATTERN,
  sharesOf,
} from '../../../lib/onboarding/ownership.ts'

interface Spec {
  readonly direct?: string
  readonly owners?: Readonly<Record<string, string>>
}

const graph = (specs: Readonly<Record<string, Spec>>) =>
  Object.entries(specs).map(([id, { direct = null, owners }]) => ({
    id,
    kind: owners === undefined ? ('person' as const) : ('company' as const),
    ownershipPercent: direct,
    ownedBy:
      owners === undefined
        ? null
        : Object.entries(owners).map(([ownerId, sharePercent]) => ({ ownerId, sharePercent })),
  }))

const percents = (specs: Readonly<Record<string, Spec>>) =>
  Object.fromEntries([...sharesOf(graph(specs))].map(([id, share]) => [id, percentOf(share)]))

t.test('a share is the sum of the products along all chains', (t) => {
  t.strictSame(percents({ a: { direct: '60' }, b: { direct: '40' } }), { a: '60', b: '40' })
  t.strictSame(
    percents({
      holding: { direct: '50', owners: { noor: '50', trust: '50' } },
      trust: { direct: '10.5', owners: { noor: '33.3333' } },
      noor: { direct: '0.0001' },
    }),
    // 0.0001 + 50 % × 50 % + 33.3333 % × (10.5 % + 50 % × 50 %)
    { holding: '50', trust: '35.5', noor: '36.8334' },
  )
  t.end()
})

t.test('a quarter is compared exactly, also where the shown share is rounded', (t) => {
  const just = sharesOf(graph({ h: { direct: '50', owners: { a: '50', b: '49.9999' } }, a: {}, b: {} }))
  t.equal(percentOf(just.get('a')!), '25')
  t.equal(isAtLeast(just.get('a')!, 25n), true)
  t.equal(percentOf(just.get('b')!), '24.9999')
  t.equal(isAtLeast(just.get('b')!, 25n), false)
  const long = Object.fromEntries([
    ...Array.from({ length: 199 }, (_, n) => [
      `c${n}`,
      { ...(n === 0 ? { direct: '99.9999' } : {}), owners: { [n === 198 ? 'p' : `c${n + 1}`]: '99.9999' } },
    ]),
    ['p', {}],
  ]) as Record<string, Spec>
  t.equal(percents(long)['p'], '99.98', '0.999999 to the power of 200, rounded down')
  t.end()
})

t.test('the shares of all people and of what is not told are the whole', (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 3, maxLength: 3 }), {
        minLength: 1,
        maxLength: 8,
      }),
      (rows) => {
        // Company n is owned by companies after it and by people; what is above the whole is cut.
        const text = (units: number) => `${Math.floor(units / 10_000)}.${String(units % 10_000).padStart(4, '0')}`
        const specs: Record<string, Spec> = { p: {}, q: {} }
        rows.forEach(([a, b, c], n) => {
          const left = { value: 1_000_000 }
          const take = (units: number) => {
            const taken = Math.min(units, left.value)
            left.value -= taken
            return text(taken)
          }
          const next = n + 1 < rows.length ? { [`c${n + 1}`]: take(c!) } : {}
          specs[`c${n}`] = { ...(n === 0 ? { direct: '100' } : {}), owners: { p: take(a!), q: take(b!), ...next } }
        })
        const all = graph(specs)
        const shares = sharesOf(all)
        const parts = [shares.get('p')!, shares.get('q')!, ...hiddenShares(all).values()]
        const steps = Math.max(...parts.map((part) => part.steps))
        const whole = 1_000_000n ** BigInt(steps)
        const total = parts.reduce((sum, part) => sum + part.part * 1_000_000n ** BigInt(steps - part.steps), 0n)
        return total === whole
      },
    ),
  )
  t.end()
})

t.test('circles, unknown owners and more than the whole are faults of their fields', (t) => {
  const faults = (specs: Readonly<Record<string, Spec>>, id: string) =>
    ownershipFaults(graph(specs), id).map(({ field, code }) => `${field} ${code}`)
  t.strictSame(faults({ a: { owners: { a: '10' } } }, 'a'), ['/ownedBy/0/ownerId invalid_value'], 'itself')
  t.strictSame(
    faults({ a: { owners: { b: '10' } }, b: { owners: { c: '10' } }, c: { owners: { x: '5', a: '10' } }, x: {} }, 'c'),
    ['/ownedBy/1/ownerId invalid_value'],
    'through another',
  )
  t.strictSame(faults({ a: { owners: { z: '10' } } }, 'a'), ['/ownedBy/0/ownerId not_found'])
  t.strictSame(faults({ a: { owners: { x: '60', y: '40.0001' } }, x: {}, y: {} }, 'a'), ['/ownedBy too_large'])
  t.strictSame(faults({ a: { owners: { x: '60', y: '40' } }, x: {}, y: {} }, 'a'), [])
  t.strictSame(faults({ a: { direct: '60' }, b: { direct: '40.0001' } }, 'b'), ['/ownershipPercent too_large'])
  t.strictSame(faults({ a: { direct: '0' } }, 'a'), ['/ownershipPercent too_small'])
  t.strictSame(faults({ a: { direct: '100.0001' } }, 'a'), ['/ownershipPercent too_large'])
  t.strictSame(faults({ a: { owners: { x: '0.0000' } }, x: {} }, 'a'), ['/ownedBy/0/sharePercent too_small'])
  const share = new RegExp(SHARE_PATTERN)
  t.strictSame(
    ['1', '0.0001', '33.3333', '1.00000', '01', '-1', '1e1', '.5', '1000'].map((text) => share.test(text)),
    [true, true, true, false, false, false, false, false, false],
  )
  t.end()
})

t.test('owners that own each other in many ways are computed in time', (t) => {
  const layers = 40
  const specs: Record<string, Spec> = { p: {} }
  for (let n = 0; n < layers; n++)
    for (const side of ['l', 'r']) {
      const owners = n + 1 < layers ? { [`l${n + 1}`]: '50', [`r${n + 1}`]: '50' } : { p: '100' }
      specs[`${side}${n}`] = { ...(n === 0 ? { direct: '50' } : {}), owners }
    }
  t.equal(percents(specs)['p'], '100', 'along 2^40 chains')
  t.strictSame(ownershipFaults(graph(specs), 'l0'), [])
  t.end()
})
