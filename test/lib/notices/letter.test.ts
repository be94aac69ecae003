/** The form of a mail: what customers write into it stays text, and a header stays one line. */
import t from 'tap'
import { brandOf } from '../../../lib/branding/brand.ts'
import { headerLine, letterOf } from '../../../lib/notices/letter.ts'

const MAIL = {
  id: '01990000-0000-7000-8000-000000000001',
  to: 'payer@example.com',
  subject: 'A subject',
  text: 'Hello,\r\n\r\none line\r\nand another',
  brand: brandOf('Bank & Söhne', null),
  writtenAt: Date.UTC(2026, 2, 2),
}

t.test('the text is kept, and the HTML part is made of it under the name of the operator', async (t) => {
  const letter = letterOf(MAIL)
  t.match(letter, { id: MAIL.id, to: MAIL.to, subject: 'A subject', text: MAIL.text, senderName: 'Bank & Söhne' })
  t.match(letter.html, /<title>A subject<\/title>/)
  t.match(letter.html, />Bank &amp; Söhne<\/p>\n<p>Hello,<\/p>\n<p>one line<br>\nand another<\/p>/)
  const without = letterOf({ ...MAIL, brand: null })
  t.equal(without.senderName, null)
  t.match(without.html, /<body[^>]*>\n<p>Hello,<\/p>/)
})

t.test('markup in a text is shown as it was written', async (t) => {
  const { html } = letterOf({
    ...MAIL,
    subject: '</title><script>alert(1)</script>',
    text: `<img src=x onerror="alert(1)"> & 'quoted'`,
    brand: brandOf('<b>Bank</b>', null),
  })
  t.notMatch(html, /<script|<img|<b>/)
  t.match(html, '<p>&lt;img src=x onerror=&quot;alert(1)&quot;&gt; &amp; &#39;quoted&#39;</p>')
})

t.test('addresses of pages are links, without the full stop that ends the sentence', async (t) => {
  const { html } = letterOf({
    ...MAIL,
    text: 'See https://bank.example/pay/abc?x=1&y=2. Not javascript:alert(1) nor "https://a.example/"x"',
  })
  const link = 'https://bank.example/pay/abc?x=1&amp;y=2'
  t.match(html, `See <a href="${link}">${link}</a>. Not javascript:alert(1) nor`)
  t.match(html, '&quot;<a href="https://a.example/">https://a.example/</a>&quot;x&quot;')
})

t.test('a header is one line of limited length', async (t) => {
  const injected = 'Invoice\r\nBcc: thief@example.com\u2028X: y\u0000\u007f'
  t.equal(headerLine(injected), 'Invoice Bcc: thief@example.com X: y')
  t.equal(letterOf({ ...MAIL, subject: injected }).subject, headerLine(injected))
  t.equal(letterOf({ ...MAIL, brand: brandOf(injected, null) }).senderName, headerLine(injected))
  t.equal(headerLine('💶'.repeat(300)), '💶'.repeat(250), 'no character is cut in two')
})
