/** The messages that the runner (tap-files.ts) and the processes of test files (file-process.ts) send each other. */

/** From the runner: run this file next. Without a file, end. */
export interface RunFile {
  readonly file: string | null
  readonly timeoutMs: number
}

/** To the runner: a part of the file's TAP, whole lines. */
export interface FileText {
  readonly kind: 'text'
  readonly text: string
}

/** To the runner: the file has ended. */
export interface FileEnded {
  readonly kind: 'ended'
  readonly passed: boolean
  /** Milliseconds. */
  readonly time: number
  /** Failures outside of its tests, one sentence each; not empty when the file has failed for that. */
  readonly problems: readonly string[]
  /** False: something of the file still goes on, so the process ends and takes no other file. */
  readonly atRest: boolean
}

/** The messages of a process of test files; other messages are of no concern to the runner. */
export type FromFile = FileText | FileEnded | { readonly kind?: undefined }
