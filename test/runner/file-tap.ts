/**
 * Takes the place of the package `tap` in a test file: `t` is the subtest of that file, not of the process, which runs
 * other files before and afterwards. The process loads this module anew for each file (test/runner/file-process.ts).
 */
import { runningFile } from './running-file.ts'

export default runningFile()
