#!/usr/bin/env node
/**
 * `npx vostro init --operator NAME --email ADDRESS --name PERSON [--json]`: makes the operator of an empty database and
 * prints the link of its first administrator, and nothing else, on standard output. With `--json` that is a JSON object
 * of `operatorId`, `link` and `expiresAt`.
 *
 * It has the settings of the service, brings an empty database to the schema of this version, and works beside running
 * nodes or without them. Where the service would run its own Postgres and is stopped, Postgres is started and stopped
 * again.
 *
 * Exits 0 when the operator was made, 2 when the arguments are wrong or there is an operator already, 1 when a setting is
 * wrong or the database does not answer. Unless it exits 0 nothing was made.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { systemClock, timestamp } from '../../lib/base/clock.ts'
import { StartError } from '../../lib/base/errors.ts'
import { createIdSource } from '../../lib/base/ids.ts'
import { readConfig, type Config } from '../../lib/config/config.ts'
import { listeningAddress } from '../../lib/config/listening-address.ts'
import { compileBody } from '../../lib/contract/validation.ts'
import { invitationPath } from '../../lib/identity/invitation.ts'
import { FirstEntry, INIT_COMMAND } from '../../lib/operators/first-entry.ts'
import { Database } from '../../storage/db/database.ts'
import { makePartitions } from '../../storage/db/partitions.ts'
import { startEmbeddedPostgres } from '../../storage/embedded/embedded.ts'
import { migrate } from '../../storage/schema/migrate.ts'
import { initOperator, type InitialOperator } from './init-operator.ts'

/** A refusal of the command: one sentence, and nothing was changed. */
class Refused extends Error {}

const USAGE = `use: ${INIT_COMMAND} [--json]`

try {
  const { entry, json } = readArguments(process.argv.slice(2))
  if (existsSync('.env')) process.loadEnvFile('.env')
  const config = readConfig(process.env)
  const made = await initIn(config, entry)
  if (made === null) throw new Refused('This database has an operator already; its staff invite whoever is to join.')
  const { operatorId, token } = made
  const link = `${config.publicUrl ?? listeningAddress(config)}${invitationPath(token)}`
  const printed = json ? JSON.stringify({ operatorId, link, expiresAt: timestamp(made.expiresAt) }) : link
  process.stdout.write(`${printed}\n`)
} catch (error) {
  const told = error instanceof Refused || error instanceof StartError
  process.stderr.write(`${told ? error.message : String((error as Error).stack ?? error)}\n`)
  process.exitCode = error instanceof Refused ? 2 : 1
}

/** Reads the arguments. @throws Refused for the first that is missing or wrong */
function readArguments(args: readonly string[]): { readonly entry: FirstEntry; readonly json: boolean } {
  const { values, positionals } = parse(args)
  if (positionals.length !== 1 || positionals[0] !== 'init') throw new Refused(`Unknown command; ${USAGE}`)
  const { json = false, ...given } = values
  for (const name of ['operator', 'email', 'name'] as const)
    if (given[name] === undefined) throw new Refused(`--${name} is missing; ${USAGE}`)
  const { value, errors } = compileBody(FirstEntry, undefined).validate(given, true)
  const [first] = errors
  if (first !== undefined) throw new Refused(`--${first.field.slice(1)} is wrong: ${first.message}`)
  return { entry: value as FirstEntry, json }
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { operator: text, email: text, name: text, json: { type: 'boolean' } },
    })
  } catch (error) {
    throw new Refused(`${(error as Error).message.split('\n')[0]}; ${USAGE}`)
  }
}

/** Makes the operator in the database of the settings, or in an embedded one; null when there is one. */
async function initIn({ databaseUrl, dataDir }: Config, entry: FirstEntry): Promise<InitialOperator | null> {
  if (databaseUrl !== null) return await initAt(databaseUrl, entry)
  const embedded = await startEmbeddedPostgres({ dataDir, log: () => undefined, claim: false })
  try {
    return await initAt(embedded.url, entry)
  } finally {
    await embedded.stop()
  }
}

async function initAt(url: string, entry: FirstEntry): Promise<InitialOperator | null> {
  await migrate(url)
  const database = new Database(url, 1)
  try {
    // The entries of the trail are to stand in the partition of their day.
    await makePartitions(database, systemClock.now())
    return await initOperator(
      { database, clock: systemClock, ids: createIdSource(systemClock), random: randomBytes },
      entry,
    )
  } finally {
    await database.close()
  }
}
