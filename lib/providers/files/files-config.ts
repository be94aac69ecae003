/**
 * The configuration of a connection that exchanges ISO 20022 files with a bank, through a directory or an SFTP server.
 */
import Type, { type Static } from 'typebox'
import { CurrencyCode } from '../../contract/primitives.ts'
import { CreditorId } from '../provider.ts'

export const FILE_TRANSPORTS = ['directory', 'sftp'] as const
export type FileTransport = (typeof FILE_TRANSPORTS)[number]

/** The time for which orders are gathered where the configuration does not tell, seconds. */
export const GATHER_SECONDS = 60
/** The orders of one file where the configuration does not tell. */
export const ORDERS_MAX = 1_000
export const SFTP_PORT = 22

const SEGMENT = '[A-Za-z0-9_][A-Za-z0-9._-]{0,63}'
/** Segments begin with a letter, digit or underscore, so none is hidden and none leads upwards. */
const PATH = `^/?${SEGMENT}(/${SEGMENT}){0,7}$`

const path = (description: string) => Type.String({ pattern: PATH, maxLength: 300, description })
const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })

const SettlementAccount = Type.Object(
  {
    currency: CurrencyCode,
    accountRef: text(34, 'The IBAN, or the number by which the bank knows the account.'),
    bic: Type.Optional(
      Type.String({
        pattern: '^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$',
        description: 'The BIC of the bank that keeps the account.',
      }),
    ),
    creditorId: CreditorId,
  },
  { title: 'FilesSettlementAccount', additionalProperties: false },
)

export const FilesConfig = Type.Object(
  {
    transport: Type.Enum([...FILE_TRANSPORTS], {
      description:
        '`directory`: below the directory of this connection under PROVIDER_FILES_ROOT of the service. `sftp`: at a server.',
    }),
    paths: Type.Object(
      {
        outgoing: path('Files for the bank.'),
        incoming: path('Files of the bank.'),
        archive: Type.Optional(path('Files of the bank are moved to it once they are read; absent: they stay.')),
      },
      { title: 'FilesPaths', additionalProperties: false },
    ),
    host: Type.Optional(Type.String({ minLength: 1, maxLength: 253, description: 'Of the SFTP server.' })),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535, default: SFTP_PORT })),
    username: Type.Optional(text(100, 'At the SFTP server.')),
    hostKeys: Type.Optional(
      Type.Array(Type.String({ pattern: '^SHA256:[A-Za-z0-9+/]{43}$' }), {
        minItems: 1,
        maxItems: 5,
        description:
          'The fingerprints of the keys of the SFTP server, as OpenSSH prints them; the bank publishes them. A server with another key is not spoken to.',
      }),
    ),
    settlementAccounts: Type.Array(SettlementAccount, {
      minItems: 1,
      maxItems: 50,
      description: 'The accounts of the operator at the bank, one for each currency.',
    }),
    initiatingParty: Type.Object(
      {
        name: text(70, 'The operator, as the bank knows it.'),
        id: Type.Optional(text(35, 'The identifier that the bank has given to the operator.')),
      },
      { title: 'FilesInitiatingParty', additionalProperties: false },
    ),
    gatherSeconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3_600,
        default: GATHER_SECONDS,
        description:
          'Orders of one rail and currency are gathered for this time, never past the cut-off; instant ones are not.',
      }),
    ),
    ordersMax: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, default: ORDERS_MAX, description: 'The orders of one file.' }),
    ),
    batchBooking: Type.Optional(
      Type.Boolean({
        description: 'True asks for one booking for each block of orders, false for one booking for each order.',
      }),
    ),
    timeoutMs: Type.Optional(Type.Integer({ minimum: 100, maximum: 60_000 })),
    maxConcurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  },
  { title: 'FilesConfig', additionalProperties: false },
)
export type FilesConfig = Static<typeof FilesConfig>

export const FilesCredentials = Type.Object(
  {
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    privateKey: Type.Optional(
      Type.String({ minLength: 1, maxLength: 16_384, description: 'In PEM, or as OpenSSH writes it.' }),
    ),
    passphrase: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Of the private key.' })),
  },
  { title: 'FilesCredentials', additionalProperties: false, minProperties: 1 },
)
export type FilesCredentials = Static<typeof FilesCredentials>

/** Tells what is wrong with a configuration that its schema allows, in words for staff; null for nothing. */
export function filesConfigFault(config: FilesConfig): string | null {
  const { transport, paths, settlementAccounts } = config
  const named = Object.values(paths)
  if (new Set(named).size < named.length) return 'The paths must differ.'
  const currencies = settlementAccounts.map(({ currency }) => currency)
  if (new Set(currencies).size < currencies.length) return 'There must be one settlement account for each currency.'
  if (transport === 'sftp') {
    const missing = (['host', 'username', 'hostKeys'] as const).filter((name) => config[name] === undefined)
    return missing.length === 0 ? null : `An SFTP server needs ${missing.join(', ')}.`
  }
  const foreign = (['host', 'port', 'username', 'hostKeys'] as const).filter((name) => config[name] !== undefined)
  if (foreign.length > 0) return `A directory has no ${foreign.join(', ')}.`
  return named.some((each) => each.startsWith('/')) ? 'The paths of a directory must not begin with a slash.' : null
}
