import t from 'tap'
import { redactor, textsIn } from '../../../lib/providers/redaction.ts'

t.test('secrets are taken out in every form in which they travel', (t) => {
  const key = '-----BEGIN KEY-----\nabcdefghij\nklmnopqrst\n-----END KEY-----'
  const redact = redactor(['hunter2+more', key, 'hunter2+more&longer', 'tiny'])
  t.equal(redact('Bearer hunter2+more'), 'Bearer [redacted]')
  t.equal(redact('hunter2+more&longer'), '[redacted]', 'the longest first')
  t.equal(redact(Buffer.from('hunter2+more').toString('base64')), '[redacted]')
  t.equal(redact('?key=hunter2%2Bmore'), '?key=[redacted]')
  t.equal(redact(JSON.stringify({ key })), '{"key":"[redacted]"}')
  t.equal(redact('… abcdefghij …'), '… [redacted] …', 'a line of a key')
  t.equal(redact('a tiny thing'), 'a tiny thing', 'a text too short to be a secret')
  t.equal(redactor([])('as it was'), 'as it was')
  t.end()
})

t.test('texts are found at any depth', (t) => {
  t.strictSame(textsIn({ a: 'one', b: ['two', { c: 'three', d: 4, e: null }] }), ['one', 'two', 'three'])
  t.strictSame(textsIn(null), [])
  t.end()
})
