/** The ways out to files, as adapters are given them. */
import { isIP } from 'node:net'
import type { Clock } from '../../../lib/base/clock.ts'
import type { IdSource } from '../../../lib/base/ids.ts'
import { addressFilter, type ProviderTargets } from '../../../lib/providers/provider-targets.ts'
import type { Database } from '../../../storage/db/database.ts'
import type { BankFileReader } from '../../../workers/providers/bank-file-reader.ts'
import { PlaceUnreachable, type PartnerFiles } from '../adapters/partner-files.ts'
import { directoryPlace } from './directory-place.ts'
import { openFileBook } from './file-book.ts'
import { sftpPlace } from './sftp-place.ts'

export interface PartnerFilesOptions {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: Clock
  readonly readBankFile: BankFileReader['read']
  /** The directory of the connections that use one; null: none may. */
  readonly root: string | null
  readonly targets: TargetTerms
}

/** The addresses that servers of banks may have. */
export interface TargetTerms extends ProviderTargets {
  /** Resolves a name to its addresses. */
  readonly resolve: (host: string) => Promise<readonly string[]>
}

export function createPartnerFiles({ root, targets, readBankFile, ...options }: PartnerFilesOptions): PartnerFiles {
  const addressOf = addresses(targets)
  return {
    place(endpoint) {
      const { server } = endpoint
      if (server !== null) return sftpPlace({ ...endpoint, server }, addressOf)
      if (root === null)
        throw new Error('This service has no directory for files: PROVIDER_FILES_ROOT is not set. Use SFTP.')
      return directoryPlace(root, endpoint)
    },
    book: (connection) => openFileBook(options, connection),
    async read(pieces, take) {
      const { message, error } = await readBankFile(pieces, take)
      return { format: message, fault: error === null ? null : error.message }
    },
  }
}

/** Returns the resolver of hosts to addresses that are allowed: all addresses of a name have to be. */
function addresses({ resolve, ...targets }: TargetTerms): (host: string) => Promise<string> {
  const isAllowed = addressFilter(targets)
  return async (host) => {
    const found =
      isIP(host) === 0
        ? await resolve(host).catch((cause: unknown) => {
            throw new PlaceUnreachable(`The name ${host} could not be resolved.`, { cause })
          })
        : [host]
    const [first] = found
    if (first === undefined) throw new PlaceUnreachable(`The name ${host} has no address.`)
    if (!found.every(isAllowed)) throw new PlaceUnreachable(`The host ${host} is not at a public address.`)
    return first
  }
}
