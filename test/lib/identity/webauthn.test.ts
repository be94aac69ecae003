/**
 * Registrations and proofs of authenticators. The vectors are those of section 16 of Web Authentication Level 3 (W3C),
 * whose keys and signatures were made by the W3C's generator, for the relying party example.org.
 */
import t from 'tap'
import { readConfig } from '../../../lib/config/config.ts'
import {
  creationOptions,
  relyingPartyOf,
  requestOptions,
  verifyAssertion,
  verifyAttestation,
  webauthnChallenge,
  type Ceremony,
} from '../../../lib/identity/webauthn.ts'
import { createSecretBox } from '../../../lib/security/secret-box.ts'
import { Authenticator, cbor, type Deviation } from '../../support/authenticator.ts'

const USER = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
const PERSON = { userId: USER, email: 'ann@example.org', name: 'Ann' }
const ORG = { id: 'example.org', origins: ['https://example.org'] }
const text = (hex: string): string => Buffer.from(hex, 'hex').toString('base64url')
const challengeOf = (clientData: string): string =>
  (JSON.parse(Buffer.from(clientData, 'hex').toString()) as { challenge: string }).challenge

/** Section 16.3: ES256, self attestation, the person verified. */
const SELF = {
  id: '455ef34e2043a87db3d4afeb39bbcb6cc32df9347c789a865ecdca129cbef58c',
  clientData:
    '7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a2265476e4374334c55745936366b336a506a796e6962506b31716e666644616966715a774c33417032392d55222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267222c2263726f73734f726967696e223a66616c73652c22657874726144617461223a22636c69656e74446174614a534f4e206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c207375636820617320746869733a205539685458764b453255526b4d6e625f307859485667227d',
  attestation:
    'a363666d74667061636b65646761747453746d74a263616c672663736967584630440220067a20754ab925005dbf378097c92120031581c73228d1fb4f5b881bcd7da98302207fc7b147558c7c0eba3af18bd9d121fa3d3a26d17fe3f220272178f473b6006d68617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b55d00000000df850e09db6afbdfab51697791506cfc0020455ef34e2043a87db3d4afeb39bbcb6cc32df9347c789a865ecdca129cbef58ca5010203262001215820eb151c8176b225cc651559fecf07af450fd85802046656b34c18f6cf193843c5225820927b8aa427a2be1b8834d233a2d34f61f13bfd44119c325d5896e183fee484f2',
}
/** Section 16.2: ES256, no attestation, the person not verified. */
const NONE = {
  id: 'f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4',
  clientData:
    '7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a22414d4d507434557878475453746e63647134313759447742466938767049612d7077386f4f755657345441222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267222c2263726f73734f726967696e223a66616c73652c22657874726144617461223a22636c69656e74446174614a534f4e206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c207375636820617320746869733a20426b5165446a646354427258426941774a544c453551227d',
  attestation:
    'a363666d74646e6f6e656761747453746d74a068617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b559000000008446ccb9ab1db374750b2367ff6f3a1f0020f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4a5010203262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61225820930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220',
}
/** Section 16.7: ES256, an attestation with a certificate, and a proof in which the person is verified. */
const PACKED = {
  id: 'c9a6f5b3462d02873fea0c56862234f99f081728084e511bb7760201a89054a5',
  clientData:
    '7b2274797065223a22776562617574686e2e637265617465222c226368616c6c656e6765223a227752684b58393334424634543345663153324831706c61325a725751475046746877365356756d56494249222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267222c2263726f73734f726967696e223a66616c73652c22657874726144617461223a22636c69656e74446174614a534f4e206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c207375636820617320746869733a20396138624e596a4b436757724258552d66436c316167227d',
  attestation:
    'a363666d74667061636b65646761747453746d74a363616c6726637369675847304502203f19ec4b229f46ab8c45eff29b904ff10c0390dc40bf1216f04a78f4ceba3425022100fe7041a32759aff05a0f9f26c70a999c7a284451ba89234a1d3483c25e21925b637835638159022530820221308201c8a00302010202110088c220f83c8ef1feafe94deae45faad0300a06082a8648ce3d0403023062311e301c06035504030c15576562417574686e207465737420766563746f7273310c300a060355040a0c0357334331253023060355040b0c1c41757468656e74696361746f72204174746573746174696f6e204341310b30090603550406130241413020170d3234303130313030303030305a180f33303234303130313030303030305a305f311e301c06035504030c15576562417574686e207465737420766563746f7273310c300a060355040a0c0357334331223020060355040b0c1941757468656e74696361746f72204174746573746174696f6e310b30090603550406130241413059301306072a8648ce3d020106082a8648ce3d03010703420004a91ba4389409dd38a428141940ca8feb1ac0d7b4350558104a3777a49322f3798440f378b3398ab2d3bb7bf91322c92eb23556f59ad0a836fec4c7663b0e4dc3a360305e300c0603551d130101ff04023000300e0603551d0f0101ff040403020780301d0603551d0e04160414a589ba72d060842ab11f74fb246bdedab16f9b9b301f0603551d2304183016801445aff715b0dd786741fee996ebc16547a3931b1e300a06082a8648ce3d040302034700304402201726b9d85ecd8a5ed51163722ca3a20886fd9b242a0aa0453d442116075defd502207ef471e530ac87961a88a7f0d0c17b091ffc6b9238d30f79f635b417be5910e768617574684461746158a4bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b54d00000000876ca4f52071c3e9b25509ef2cdf7ed60020c9a6f5b3462d02873fea0c56862234f99f081728084e511bb7760201a89054a5a50102032620012158201cf27f25da591208a4239c2e324f104f585525479a29edeedd830f48e77aeae522582059e4b7da6c0106e206ce390c93ab98a15a5ec3887e57f0cc2bece803b920c423',
}
const PROOF = {
  id: PACKED.id,
  x: '1cf27f25da591208a4239c2e324f104f585525479a29edeedd830f48e77aeae5',
  y: '59e4b7da6c0106e206ce390c93ab98a15a5ec3887e57f0cc2bece803b920c423',
  clientData:
    '7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a2273524276704770587676463446524841565833496d4b4130453958773858306b526a44426c4d6668726255222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267222c2263726f73734f726967696e223a66616c73652c22657874726144617461223a22636c69656e74446174614a534f4e206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c207375636820617320746869733a20415a4d77794d78496244382d756775464e7036723851227d',
  data: 'bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b50d00000000',
  signature:
    '30450220694969d3ee928de6f02ef23a9c644d7d779916451734a94b432542f498a1ebe90221008b0819c824218a97152cd099c55bfb1477b29d900a49a64018314f9bfccda163',
}
/** Section 16.4: ES256 within a frame of another origin, the person verified. */
const FRAMED = {
  id: '6e1050c0d2ca2f07c755cb2c66a74c64fa43065c18f938354d9915db2bd5ce57',
  x: '22200a473f90b11078851550d03b4e44a2279f8c4eca27b3153dedfe03e4e97d',
  y: 'cbd0be95e746ad6f5a8191be11756e4c0420e72f65b466d39bc56b8b123a9c6e',
  clientData:
    '7b2274797065223a22776562617574686e2e676574222c226368616c6c656e6765223a226832716c463771445f65356c5f505f62796b7945377135645650674547685f49584a6b655737736e4d5463222c226f726967696e223a2268747470733a2f2f6578616d706c652e6f7267222c2263726f73734f726967696e223a747275652c22657874726144617461223a22636c69656e74446174614a534f4e206d617920626520657874656e6465642077697468206164646974696f6e616c206669656c647320696e20746865206675747572652c207375636820617320746869733a2039327063545644304162792d713464746d6a36656667227d',
  data: 'bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b50500000000',
  signature:
    '3046022100eb12fcf23b12764c0f122e22371fab92e283879fd798f38ee1841c951b6e40e7022100c76237ff9db77b3c56f30837cda6a09acfa2e915544e609c0733b1184036d1cf',
}

const registered = ({ id, clientData, attestation }: typeof SELF, ceremony: Partial<Ceremony> = {}) =>
  verifyAttestation(
    {
      id: text(id),
      rawId: text(id),
      type: 'public-key',
      response: { clientDataJSON: text(clientData), attestationObject: text(attestation) },
    },
    { relyingParty: ORG, challenge: challengeOf(clientData), ...ceremony },
  )

function proven(
  { id, x, y, clientData, data, signature }: typeof PROOF,
  ceremony: Partial<Ceremony> = {},
  signCount = 0,
) {
  const publicKey = cbor(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'hex')],
      [-3, Buffer.from(y, 'hex')],
    ]),
  )
  return verifyAssertion(
    {
      id: text(id),
      rawId: text(id),
      type: 'public-key',
      response: { clientDataJSON: text(clientData), authenticatorData: text(data), signature: text(signature) },
    },
    { relyingParty: ORG, challenge: challengeOf(clientData), ...ceremony },
    { id: text(id), publicKey, signCount, transports: [] },
    USER,
  )
}

t.test('the vectors of the W3C', async (t) => {
  t.match(await registered(SELF), { credential: { id: text(SELF.id), signCount: 0, transports: [] } })
  t.match(await registered(NONE), { fault: { message: 'The authenticator has not verified the person.' } })
  t.match(await registered(SELF, { challenge: challengeOf(NONE.clientData) }), {
    fault: { pointer: '/response/clientDataJSON', message: 'It answers another challenge.' },
  })
  t.match(await registered({ ...SELF, attestation: SELF.attestation.replace('067a20', '067a21') }), {
    fault: { pointer: '/response/signature' },
  })
  t.match(await registered(PACKED), { fault: { message: 'The attestation must be none.' } })
  t.match(await registered({ ...SELF, id: NONE.id }), { fault: { pointer: '/id' } })
  t.match(await registered({ ...SELF, attestation: SELF.attestation.slice(0, 90) }), {
    fault: { message: 'It cannot be read.' },
  })

  t.strictSame(await proven(PROOF), { signCount: 0, isRegress: false })
  t.strictSame(await proven(PROOF, {}, 4), { signCount: 0, isRegress: true }, 'one that counted does not stop to')
  t.match(await proven({ ...PROOF, signature: FRAMED.signature }, {}, 4), {
    fault: { pointer: '/response/signature', message: 'The signature does not match.' },
  })
  t.match(await proven({ ...PROOF, x: FRAMED.x, y: FRAMED.y }), { fault: { pointer: '/response/signature' } })
  t.match(await proven(FRAMED), { fault: { message: /in a frame/ } })
  for (const [relyingParty, message] of [
    [{ id: 'example.org', origins: ['https://www.example.org'] }, /page of another origin/],
    [{ id: 'example.com', origins: ['https://example.org'] }, /another relying party/],
  ] as const) {
    t.match(await proven(PROOF, { relyingParty }), { fault: { message } })
    t.match(await registered(SELF, { relyingParty }), { fault: { message } })
  }
})

t.test('what an authenticator answers wrongly is said, and never throws', async (t) => {
  const ceremony = { relyingParty: ORG, challenge: webauthnChallenge(createSecretBox('s'.repeat(32)), 'one') }
  const [origin] = ORG.origins as [string]
  const create = (wrong: Deviation) =>
    verifyAttestation(new Authenticator({ origin }).create(creationOptions(ceremony, PERSON, []), wrong), ceremony)
  t.match(await create({}), { credential: { signCount: 1, transports: ['usb'] } })
  const authenticator = new Authenticator({ origin })
  const made = await verifyAttestation(authenticator.create(creationOptions(ceremony, PERSON, [])), ceremony)
  if (!('credential' in made)) throw new Error(made.fault.message)
  const { credential } = made
  const get = (wrong: Deviation) =>
    verifyAssertion(authenticator.get(requestOptions(ceremony, [credential]), wrong), ceremony, credential, USER)
  t.match(await get({}), { signCount: 2, isRegress: false })
  t.match(await get({ count: 1 }), { signCount: 1, isRegress: true }, 'the same count again')
  for (const [wrong, message] of [
    [{ origin: 'https://example.org.evil.example' }, /page of another origin/],
    [{ origin: 'not an origin' }, /page of another origin/],
    [{ rpId: 'evil.example' }, /another relying party/],
    [{ challenge: 'AAAA' }, /another challenge/],
    [{ type: 'webauthn.other' }, /wrong type/],
    [{ crossOrigin: true }, /in a frame/],
    [{ verified: false }, /not verified the person/],
  ] as const) {
    t.match(await create(wrong), { fault: { message } }, JSON.stringify(wrong))
    t.match(await get(wrong), { fault: { message } }, JSON.stringify(wrong))
  }
  t.match(await get({ userHandle: 'AAAA' }), { fault: { pointer: '/response/userHandle' } })
  // A certificate could name lists of revoked ones anywhere in the network, so none is read.
  const certificates = new Map<string, number | Uint8Array | Uint8Array[]>([
    ['alg', -7],
    ['sig', Buffer.alloc(70)],
    ['x5c', [Buffer.alloc(100)]],
  ])
  t.match(await create({ format: 'packed', statement: certificates }), { fault: { message: /must be none/ } })
  for (const format of ['fido-u2f', 'android-key', 'apple', 'tpm', 'other'])
    t.match(await create({ format }), { fault: { pointer: '/response/attestationObject' } }, format)
})

t.test('the options name the relying party, what is known, and demand that the person is verified', async (t) => {
  const secrets = createSecretBox('s'.repeat(32))
  const challenge = webauthnChallenge(secrets, 'one')
  t.equal(webauthnChallenge(createSecretBox('s'.repeat(32)), 'one'), challenge, 'the same on every node')
  t.not(webauthnChallenge(secrets, 'two'), challenge)
  t.not(webauthnChallenge(createSecretBox('t'.repeat(32)), 'one'), challenge)
  t.equal(Buffer.from(challenge, 'base64url').length, 32)
  const known = [{ id: 'AQID', transports: ['usb'] }]
  const ceremony = { relyingParty: ORG, challenge }
  t.match(creationOptions(ceremony, PERSON, known), {
    challenge,
    rp: { id: 'example.org' },
    user: { id: text(USER.replaceAll('-', '')), name: 'ann@example.org' },
    excludeCredentials: [{ type: 'public-key', id: 'AQID', transports: ['usb'] }],
    authenticatorSelection: { userVerification: 'required' },
    attestation: 'none',
  })
  t.match(requestOptions(ceremony, known), {
    challenge,
    rpId: 'example.org',
    allowCredentials: [{ id: 'AQID' }],
    userVerification: 'required',
  })
})

t.test('the relying party is the host of the public address, or a domain above it', async (t) => {
  const of = (env: NodeJS.ProcessEnv, address = 'http://127.0.0.1:3000') => {
    const config = readConfig(env)
    return relyingPartyOf(config, config.publicUrl ?? address)
  }
  t.strictSame(of({}), { id: 'localhost', origins: ['http://localhost:3000'] })
  t.strictSame(of({}, 'http://[::1]:3000'), { id: 'localhost', origins: ['http://localhost:3000'] })
  t.strictSame(of({ PUBLIC_URL: 'https://api.example.com' }), {
    id: 'api.example.com',
    origins: ['https://api.example.com'],
  })
  const both = {
    PUBLIC_URL: 'https://api.example.com',
    CONSOLE_ORIGINS: 'https://console.example.com , http://evil.test',
  }
  t.strictSame(of(both), { id: 'api.example.com', origins: ['https://api.example.com'] })
  t.strictSame(of({ ...both, WEBAUTHN_RP_ID: 'example.com' }), {
    id: 'example.com',
    origins: ['https://api.example.com', 'https://console.example.com'],
  })
  for (const WEBAUTHN_RP_ID of ['ample.com', 'other.example', 'https://example.com', 'EXAMPLE.com'])
    t.throws(() => readConfig({ ...both, WEBAUTHN_RP_ID }), { message: /^WEBAUTHN_RP_ID is / }, WEBAUTHN_RP_ID)
  t.throws(() => readConfig({ WEBAUTHN_RP_ID: 'localhost' }), /^WEBAUTHN_RP_ID|ConfigError/)
})
