/**
 * Runs test files and writes their results to standard output as TAP, each file as one subtest.
 *
 *   node test/support/tap-files.ts <jobs> <timeout in seconds> <file>...
 *
 * Each file is a process of plain Node, as the product is. tap's own command line would load its TypeScript loader, its
 * mocks and its coverage into each of these processes, into each of their worker threads and into each service that a
 * test starts; that takes half a second of CPU time each, and its loader bypasses Node's compile cache.
 */
import t from 'tap'

const [jobs, timeoutSeconds, ...files] = process.argv.slice(2)

t.setTimeout(0)
t.jobs = Number(jobs)
for (const file of files) {
  void t.spawn(process.execPath, [file], {
    name: file,
    at: null,
    buffered: t.jobs > 1,
    timeout: Number(timeoutSeconds) * 1_000,
    // The limit of the whole file also holds for each test in it; the default of tap is 30 seconds.
    env: { ...process.env, TAP_TIMEOUT: timeoutSeconds },
  })
}
