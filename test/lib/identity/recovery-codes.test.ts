import { randomBytes } from 'node:crypto'
import t from 'tap'
import {
  readRecoveryCode,
  RECOVERY_CODES,
  recoveryCodeHash,
  recoveryCodes,
} from '../../../lib/identity/recovery-codes.ts'
import { methodsFor, STEP_UP_ACTIONS } from '../../../lib/identity/step-up.ts'
import { createSecretBox } from '../../../lib/security/secret-box.ts'

t.test('codes are read as people type them', async (t) => {
  const codes = recoveryCodes(randomBytes)
  t.equal(new Set(codes).size, RECOVERY_CODES)
  for (const code of codes) {
    t.match(code, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
    const read = readRecoveryCode(code)
    t.equal(read, code.replaceAll('-', ''))
    t.equal(readRecoveryCode(` ${code.toLowerCase().replaceAll('-', ' ')} `), read)
  }
  t.equal(readRecoveryCode('oOiI-lL00-0000-0000'), '0011110000000000')
  for (const text of [
    '',
    '123456',
    'U'.repeat(16),
    '0'.repeat(15),
    '0'.repeat(17),
    '٣'.repeat(16),
    '0000_0000_0000_0000',
  ])
    t.equal(readRecoveryCode(text), null, text)
  t.strictSame(recoveryCodes(() => Buffer.alloc(10, 0xff))[0], 'ZZZZ-ZZZZ-ZZZZ-ZZZZ', 'all 80 bits are used')
})

t.test('what is stored depends on the code, the person and the key of the service', async (t) => {
  const secrets = createSecretBox('s'.repeat(32))
  const hash = recoveryCodeHash(secrets, 'ann', '0011110000000000')
  t.match(hash, /^[0-9a-f]{64}$/)
  t.equal(recoveryCodeHash(createSecretBox('s'.repeat(32)), 'ann', '0011110000000000'), hash)
  t.not(recoveryCodeHash(secrets, 'ben', '0011110000000000'), hash)
  t.not(recoveryCodeHash(secrets, 'ann', '0011110000000001'), hash)
  t.not(recoveryCodeHash(createSecretBox('t'.repeat(32)), 'ann', '0011110000000000'), hash)
})

t.test('a challenge takes what the person has; a recovery code leads to new factors and takes keys away', async (t) => {
  const all = { totp: true, credentials: [{ id: 'AQID', transports: [] }], recoveryCodes: 1 }
  t.strictSame(methodsFor('sign_in', all), ['webauthn', 'totp', 'recovery_code'])
  t.strictSame(methodsFor('sign_in', { totp: true, credentials: [], recoveryCodes: 0 }), ['totp'])
  t.strictSame(
    STEP_UP_ACTIONS.filter((action) => methodsFor(action, all).includes('recovery_code')),
    ['api_key.revoke', 'settings.change'],
  )
})
