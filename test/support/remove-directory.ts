import { rm } from 'node:fs/promises'

/** Removes a directory. A process that was killed a moment ago may still write into it, so that it is tried again. */
export const removeDirectory = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
