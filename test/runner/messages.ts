/** The plan of the runner (tap-files.ts), and its messages to and from the processes of test files (file-process.ts). */

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

/** Which files a run of the runner has, and how many at once; a file takes at most so long. */
export interface Plan {
  readonly timeoutSeconds: number
  readonly groups: readonly { readonly jobs: number; readonly files: readonly string[] }[]
}
