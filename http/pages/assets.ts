/** The files that all pages share: one stylesheet, one script without which every page works, and the icon. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { FILE_CACHE, type StaticFile } from '../route/static-files.ts'

export const ASSETS = '/pages/'

const FILES = [
  ['style.css', 'text/css; charset=utf-8'],
  ['page.js', 'text/javascript; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
] as const
type Name = (typeof FILES)[number][0]

const contents = new Map(FILES.map(([name]) => [name, readFileSync(new URL(name, import.meta.url))]))

/** The address of a file. It changes with the file, so that a browser shows no page with the style of another release. */
const addressOf = (name: Name): string =>
  `${ASSETS}${name}?v=${hash('sha256', contents.get(name) as Uint8Array, 'hex').slice(0, 12)}`

export const STYLE_PATH = addressOf('style.css')
export const SCRIPT_PATH = addressOf('page.js')
export const ICON_PATH = addressOf('icon.svg')

/** The files by their paths. */
export const assets: ReadonlyMap<string, StaticFile> = new Map(
  FILES.map(([name, contentType]) => [
    `${ASSETS}${name}`,
    { contentType, cacheControl: FILE_CACHE, read: async () => contents.get(name) as Uint8Array },
  ]),
)
