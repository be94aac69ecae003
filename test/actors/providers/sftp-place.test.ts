/** The adapter of files over SFTP, with OpenSSH as the bank's server. */
import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createPartnerFiles, type TargetTerms } from '../../../actors/providers/files/partner-files.ts'
import type { FileEndpoint } from '../../../actors/providers/adapters/partner-files.ts'
import type { FilesConfig } from '../../../lib/providers/files/files-config.ts'
import { notification, statusReport } from '../../support/bank-answers.ts'
import { ACCOUNT, createFilesDatabase, DAY, openFilesConnection } from '../../support/files-connection.ts'
import { startSftpServer, type SftpServer } from '../../support/sftp-server.ts'

const config = ({ port, username, hostKey }: SftpServer): Partial<FilesConfig> => ({
  transport: 'sftp',
  host: 'sftp.bank.example',
  port,
  username,
  hostKeys: [hostKey],
  // No test waits for it; on a busy machine a handshake takes seconds.
  timeoutMs: 60_000,
  gatherSeconds: 0,
})

/** One database for all: each connection sees its own rows. */
const shared = await createFilesDatabase()
t.teardown(() => shared[Symbol.asyncDispose]())

t.test('orders go out, and the files of the bank come in', async (t) => {
  await using server = await startSftpServer()
  await using files = await openFilesConnection(shared, { config: config(server), server })
  const { connection, clock } = files
  t.match(await connection.probe(clock.now()), { ok: true, message: null })
  const references = Array.from({ length: 50 }, () => randomUUID())
  await connection.submit!(
    references.map((reference) => files.order(reference)),
    clock.now(),
  )
  await files.carryOut()
  const sent = [...(await files.sent()).values()].flat()
  t.same(sent.map(({ instructionId }) => instructionId).sort(), references.map((id) => id.replaceAll('-', '')).sort())
  t.same(await files.left(), [])
  const [order] = sent
  const { messageId, blockId } = order!
  await files.leave('status.xml', statusReport('S1', { messageId, group: 'ACSP' }))
  const batch = { blockId, count: 50 }
  const entry = { amount: '617.00', direction: 'DBIT' as const, bankRef: 'B1', day: DAY, batch }
  await files.leave('debit.xml', notification('N1', ACCOUNT, [entry]))
  const told = (await files.events()).flatMap((event) => connection.translate(event))
  t.equal(told.filter((message) => message.port === 'bank' && message.message.type === 'settled').length, 50)
  t.match((await readdir(join(server.directory, 'archive'))).sort(), [/^debit\.xml\./, /^status\.xml\./])
  t.same(await readdir(join(server.directory, 'in')), [])
})

t.test('a server that is gone, and comes back', async (t) => {
  await using server = await startSftpServer()
  await using files = await openFilesConnection(shared, { config: config(server), server })
  const { connection, clock } = files
  await server.stop()
  await connection.submit!([files.order(randomUUID())], clock.now())
  await t.rejects(files.carryOut(), /sftp\.bank\.example cannot be reached/)
  t.match(await connection.probe(clock.now()), { ok: false, message: /cannot be reached/ })
  t.match(await files.rows('status, error', 'provider_file'), [{ status: 'written', error: /cannot be reached/ }])
  await server.start()
  clock.advance(60_000)
  await files.carryOut()
  t.equal((await files.sent()).size, 1)
})

t.test('a server with another key gets no credentials; neither does one with a key that is not taken', async (t) => {
  await using server = await startSftpServer()
  await using other = await openFilesConnection(shared, {
    config: { ...config(server), hostKeys: [`SHA256:${'A'.repeat(43)}`] },
    server,
  })
  const { message } = await other.connection.probe(other.clock.now())
  t.equal(message, `sftp.bank.example showed the key ${server.hostKey}, which the connection does not name.`)
  await using refused = await openFilesConnection(shared, {
    config: config(server),
    server: { ...server, privateKey: (await startedKey()).privateKey },
  })
  t.match(await refused.connection.probe(refused.clock.now()), { ok: false, message: /refused the credentials/ })
  await using broken = await openFilesConnection(shared, {
    config: config(server),
    server: { ...server, privateKey: 'no key' },
  })
  const answer = await broken.connection.probe(broken.clock.now())
  t.match(answer, { ok: false, message: /private key of the connection cannot be used/ })
  t.notMatch(JSON.stringify(answer), /no key/)
})

t.test('the addresses of servers keep to the policy of targets', async (t) => {
  const endpoint: FileEndpoint = {
    connectionId: randomUUID(),
    paths: { outgoing: 'out', incoming: 'in', archive: null },
    timeoutMs: 1_000,
    server: {
      host: 'sftp.bank.example',
      port: 1,
      username: 'u',
      hostKeys: [],
      password: 'p',
      privateKey: null,
      passphrase: null,
    },
  }
  const probe = (targets: TargetTerms, host = 'sftp.bank.example') => {
    const none = () => {
      throw new Error('This test needs none of it.')
    }
    const files = createPartnerFiles({
      database: undefined as never,
      ids: { next: none },
      clock: { now: none },
      readBankFile: none,
      root: null,
      targets,
    })
    return files.place({ ...endpoint, server: { ...endpoint.server!, host } }).probe()
  }
  const terms = (addresses: readonly string[], networks: readonly string[] = []): TargetTerms => ({
    policy: 'public',
    networks,
    resolve: async () => addresses,
  })
  await t.rejects(probe(terms(['10.1.2.3'])), /not at a public address/)
  await t.rejects(
    probe(terms(['93.184.216.34', '127.0.0.1'])),
    /not at a public address/,
    'one inner address is enough',
  )
  await t.rejects(probe(terms([]), '127.0.0.1'), /not at a public address/, 'an address needs no name')
  await t.rejects(probe(terms([]), '169.254.169.254'), /not at a public address/)
  await t.rejects(probe(terms(['127.0.0.1'], ['127.0.0.0/8'])), /cannot be reached/, 'a network of the settings')
  await t.rejects(probe({ ...terms([]), resolve: () => Promise.reject(new Error('x')) }), /could not be resolved/)
})

/** A key that no server of these tests takes. */
async function startedKey() {
  await using server = await startSftpServer()
  return { privateKey: server.privateKey }
}
