import t from 'tap'
import { NodeProof } from '../../../lib/security/node-proof.ts'

const SECRET = 'a secret that both nodes know, 32 characters'
const proof = new NodeProof(SECRET)
const signature = proof.sign('handshake', ['a', 'b'], 'body')

t.test('a node with the same secret recognises what was signed, and nothing else', (t) => {
  t.match(signature, /^[A-Za-z0-9_-]{43}$/)
  t.ok(new NodeProof(SECRET).isSigned('handshake', ['a', 'b'], signature, 'body'))
  t.ok(proof.isSigned('handshake', ['a', 'b'], signature, Buffer.from('body')), 'text and bytes are the same')
  const others: readonly (readonly [what: string, isSigned: boolean])[] = [
    ['another secret', new NodeProof(`${SECRET}.`).isSigned('handshake', ['a', 'b'], signature, 'body')],
    ['another purpose', proof.isSigned('handshake answer', ['a', 'b'], signature, 'body')],
    ['another order', proof.isSigned('handshake', ['b', 'a'], signature, 'body')],
    ['texts that run into each other', proof.isSigned('handshake', ['ab'], signature, 'body')],
    ['a text that holds a separator', proof.isSigned('handshake', ['a","b'], signature, 'body')],
    ['a body that took a part in', proof.isSigned('handshake', ['a'], signature, '"b"]body')],
    ['another body', proof.isSigned('handshake', ['a', 'b'], signature, 'bodies')],
    ['no signature', proof.isSigned('handshake', ['a', 'b'], '', 'body')],
    ['half a signature', proof.isSigned('handshake', ['a', 'b'], signature.slice(0, 20), 'body')],
    ['text that is none', proof.isSigned('handshake', ['a', 'b'], 'é\n'.repeat(30), 'body')],
  ]
  for (const [what, isSigned] of others) t.notOk(isSigned, what)
  t.end()
})

t.test('a key is made of the secret, its direction and all texts', (t) => {
  const hex = (made: Uint8Array) => Buffer.from(made).toString('hex')
  const key = hex(proof.key('to home', ['a', 'b']))
  t.match(key, /^[0-9a-f]{64}$/)
  t.equal(hex(new NodeProof(SECRET).key('to home', ['a', 'b'])), key)
  const others = [
    new NodeProof(`${SECRET}.`).key('to home', ['a', 'b']),
    proof.key('from home', ['a', 'b']),
    proof.key('to home', ['a', 'c']),
    proof.key('to home', ['ab']),
  ].map(hex)
  t.equal(new Set([key, ...others]).size, 5)
  t.end()
})
