/** The Chromium of this machine, for tests in a browser. */
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** What a test says that finds no browser. */
export const NO_CHROMIUM = `No Chromium was found (${NAMES.join(', ')} on the PATH, or CHROMIUM); no page was opened in a browser.`

/** Returns the path of a Chromium; null where there is none. */
export async function findChromium(): Promise<string | null> {
  const { CHROMIUM, PATH = '' } = process.env
  const candidates = [
    ...(CHROMIUM === undefined ? [] : [CHROMIUM]),
    ...PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name))),
  ]
  for (const path of candidates) {
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path
  }
  return null
}
