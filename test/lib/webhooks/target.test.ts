import t from 'tap'
import { checkTarget, isPublicAddress } from '../../../lib/webhooks/target.ts'

const rule = (url: string, policy: 'public' | 'any' = 'public') => {
  const target = checkTarget(url, policy)
  return target.kind === 'unsafe' ? target.rule : target.kind
}

t.test('public https addresses are fine', async (t) => {
  for (const url of [
    'https://example.com',
    'https://hooks.example.com/a?b=c',
    'https://hooks.example.com:443/',
    'https://hooks.example.com:8443/',
    'https://hooks.example.com:65535/',
    'https://hooks.example.com./',
    'https://bücher.example/',
    'https://8.8.8.8/',
    'https://[2606:4700::1111]/',
    'https://localhost.example.com/',
  ])
    t.equal(rule(url), 'ok', url)
})

t.test('every other one is named after the rule it breaks', async (t) => {
  const broken: Readonly<Record<string, readonly string[]>> = {
    unreadable: [
      '',
      'nonsense',
      '/hooks',
      'https://',
      'https://example.com:99999/',
      'https://[::1',
      'https://exa mple.com/',
    ],
    scheme: [
      'http://example.com/',
      'ftp://example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:text/plain,x',
      'ws://example.com/',
    ],
    credentials: ['https://user@example.com/', 'https://user:password@example.com/', 'https://:password@example.com/'],
    fragment: ['https://example.com/#top', 'https://example.com/#'],
    port: ['https://example.com:22/', 'https://example.com:80/', 'https://example.com:1023/', 'https://example.com:0/'],
    host_name: [
      'https://localhost/',
      'https://LOCALHOST./',
      'https://a.localhost/',
      'https://printer.local/',
      'https://metadata.google.internal/',
      'https://intranet/',
      'https://router.lan/',
      'https://x.home.arpa/',
      'https://1.0.0.127.in-addr.arpa/',
    ],
  }
  for (const [wanted, urls] of Object.entries(broken)) for (const url of urls) t.equal(rule(url), wanted, url)
})

/** Spellings of addresses that are not public, all of them understood by some client. */
const INSIDE = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '%31%32%37.0.0.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '10.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.1.1.',
  '169.254.169.254',
  '169.254.1',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:8.8.8.8]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::8.8.8.8]',
  '[64:ff9b:1::10.0.0.1]',
  '[2002:7f00:1::]',
  '[2002:808:808::]',
  '[2001:0:7f00:1::]',
  '[2001:20::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[febf::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[100::1]',
  '[5f00::1]',
  '[2620:0:1:1:0:5efe:a00:1]',
  '[2620:0:1:1:200:5efe:a00:1]',
]

t.test('no spelling of an address inside gets through', async (t) => {
  for (const host of INSIDE) t.equal(rule(`https://${host}/`), 'address', host)
})

t.test('what a name leads to is judged by the same rules', async (t) => {
  for (const address of ['93.184.215.14', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])
    t.ok(isPublicAddress(address), address)
  for (const address of [
    '127.0.0.1',
    '::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    'fe80::1%eth0',
    '2002:a00:1::',
    '169.254.169.254',
    '100.64.0.1',
    'nonsense',
    '',
  ]) {
    t.notOk(isPublicAddress(address), address)
  }
})

t.test('a developer may use their own machine, and still no credentials', async (t) => {
  for (const url of [
    'http://127.0.0.1:8080/',
    'http://localhost:3001/x',
    'https://10.0.0.1/',
    'http://[::1]:80/',
    'https://intranet/',
  ])
    t.equal(rule(url, 'any'), 'ok', url)
  t.equal(rule('http://user@localhost/', 'any'), 'credentials')
  t.equal(rule('ftp://localhost/', 'any'), 'scheme')
})
