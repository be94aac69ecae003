/** Which changes make a person or a company another. */
import t from 'tap'
import { identityDiffers } from '../../../lib/onboarding/identity-facts.ts'

const ADDRESS = { line1: 'Damrak 1', line2: null, city: 'Amsterdam' }
const NOOR = { firstName: 'Noor', dateOfBirth: '1980-02-01', email: 'noor@molen.example', address: ADDRESS }

t.test('a person who is told otherwise is another, but for the ways to reach them', (t) => {
  for (const same of [
    { ...NOOR, email: null },
    { ...NOOR, phone: '+31201234567', lastName: null },
    { ...NOOR, address: { city: 'Amsterdam', line1: 'Damrak 1' } },
  ])
    t.notOk(identityDiffers(NOOR, same), JSON.stringify(same))
  for (const other of [
    { ...NOOR, firstName: 'Viktor' },
    { ...NOOR, dateOfBirth: null },
    { ...NOOR, lastName: 'de Wit' },
    { ...NOOR, address: { ...ADDRESS, city: 'Utrecht' } },
    { ...NOOR, address: null },
  ])
    t.ok(identityDiffers(NOOR, other) && identityDiffers(other, NOOR), JSON.stringify(other))
  t.notOk(identityDiffers(null, { firstName: null, email: 'x' }), 'nothing is told yet')
  t.ok(identityDiffers(null, NOOR))
  t.end()
})
