import t from 'tap'
import { NodeProof } from '../../../lib/security/node-proof.ts'

const SECRET = 'a secret that both nodes know, 32 characters'
const proof = new NodeProof(SECRET)
const signature = proof.sign('request', ['a', 'b'], 'body')

t.test('a node with the same secret recognises what was signed, and nothing else', (t) => {
  t.match(signature, /^[A-Za-z0-9_-]{43}$/)
  t.ok(new NodeProof(SECRET).isSigned('request', ['a', 'b'], signature, 'body'))
  t.ok(proof.isSigned('request', ['a', 'b'], signature, Buffer.from('body')), 'text and bytes are the same')
  const others: readonly (readonly [what: string, isSigned: boolean])[] = [
    ['another secret', new NodeProof(`${SECRET}.`).isSigned('request', ['a', 'b'], signature, 'body')],
    ['another purpose', proof.isSigned('answer', ['a', 'b'], signature, 'body')],
    ['another order', proof.isSigned('request', ['b', 'a'], signature, 'body')],
    ['texts that run into each other', proof.isSigned('request', ['ab'], signature, 'body')],
    ['a text that holds a separator', proof.isSigned('request', ['a","b'], signature, 'body')],
    ['a body that took a part in', proof.isSigned('request', ['a'], signature, '"b"]body')],
    ['another body', proof.isSigned('request', ['a', 'b'], signature, 'bodies')],
    ['no signature', proof.isSigned('request', ['a', 'b'], '', 'body')],
    ['half a signature', proof.isSigned('request', ['a', 'b'], signature.slice(0, 20), 'body')],
    ['text that is none', proof.isSigned('request', ['a', 'b'], 'é\n'.repeat(30), 'body')],
  ]
  for (const [what, isSigned] of others) t.notOk(isSigned, what)
  t.end()
})
