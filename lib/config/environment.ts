/** Reads variables of the environment, one at a time. An empty variable counts as unset. */
import { resolve } from 'node:path'
import { StartError } from '../base/errors.ts'

/** An invalid setting. The message is one sentence that names the variable and a usable value. */
export class ConfigError extends StartError {
  override readonly name = 'ConfigError'
}

/** Reads a variable; null where it is unset or empty. */
export function read(env: NodeJS.ProcessEnv, name: string): string | null {
  const value = env[name]?.trim()
  return value === undefined || value === '' ? null : value
}

/** Reads the path of a file or directory, as an absolute one. */
export const readPath = (env: NodeJS.ProcessEnv, name: string): string | null =>
  read(env, name) === null ? null : resolve(read(env, name) as string)

/** Reads a list whose items are separated by commas. */
export const readList = (env: NodeJS.ProcessEnv, name: string): string[] =>
  (read(env, name) ?? '').split(/\s*,\s*/).filter((text) => text !== '')

/** Reads one of some words. @throws ConfigError */
export function readChoice<T extends string>(
  env: NodeJS.ProcessEnv,
  name: string,
  options: { readonly choices: readonly T[]; readonly fallback: T },
): T {
  const value = read(env, name)
  if (value === null) return options.fallback
  const choice = options.choices.find((candidate) => candidate === value)
  if (choice === undefined)
    throw new ConfigError(`${name} is "${value}"; set it to one of ${options.choices.join(', ')}.`)
  return choice
}

/** Reads a whole number. @throws ConfigError */
export function readInteger(
  env: NodeJS.ProcessEnv,
  name: string,
  options: { readonly min: number; readonly max: number; readonly fallback: number },
): number {
  const value = read(env, name)
  if (value === null) return options.fallback
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= options.min && number <= options.max)) {
    throw new ConfigError(`${name} is "${value}"; set it to a whole number from ${options.min} to ${options.max}.`)
  }
  return number
}

/** Reads a secret, whose value no error shows. @throws ConfigError for one that is too short */
export function readSecret(env: NodeJS.ProcessEnv, name: string, lengthMin: number): string | null {
  const value = read(env, name)
  if (value !== null && value.length < lengthMin) {
    throw new ConfigError(`${name} has ${value.length} characters; set it to at least ${lengthMin} random characters.`)
  }
  return value
}
